"""Finds good weights for weighted products by ascent: the logarithm of the bound is concave in them.

Kingma and Ba's Adam (ICLR 2015) on a smooth least over the rows that matter; docs/optimal.md, section 3.
"""

from dataclasses import dataclass
from math import inf

import numpy as np

from ..mapping import Floats, Ints
from ..runtime import Deadline
from .products import Product

STEPS, CHECK = 240, 20  # steps of the ascent, and after how many all rows are looked at
RATE = 0.25  # of the ascent, at its beginning
SHARP = (0.1, 0.002)  # how far above the least (in logarithms) rows still count, at the beginning and at the end
ADDED = 8  # rows of each group that each look at all adds to those the ascent works on
START = 0.05  # a limit's power at the beginning
LOOK_STEPS, FIGURES_A_STEP = 1_000, 500  # steps of a look at all rows of a group, with the climbs up to the next


@dataclass(frozen=True, eq=False)
class AscentProblem:
    """Logarithms of all products, with what they are multiplied by, for some rows of each group.

    First the terms of the energy, then the limits, those on objectives last, then what the cycles are no less than; the
    compute cycles last.
    """

    names: list[str]
    products: list[Product]
    constants: Floats  # (product,) logarithms of what each is multiplied by
    terms: int  # of the energy
    times: int  # of the cycles
    owners: Ints  # (product,) the charge of a term, the capacity of a tile; of another limit: -1
    powers: Floats  # (product, 2) of a limit on an objective: those of energy and cycles in it; else 0
    flows: Ints  # (time,) of a term of the cycles: the flow, whose charges add up
    logs: list[Floats]  # per group # (column, row)
    places: Ints  # (product, group) its column among them


class Ascent:
    """Weights for which the least of the bound is large. Any weights are right; these decide how good it is."""

    def __init__(
        self, problem: AscentProblem, powers: tuple[int, int], known: dict[str, float], deadline: Deadline
    ) -> None:
        self.problem, self.powers, self.deadline = problem, np.array(powers, float), deadline
        n, terms, self.limits = len(problem.products), problem.terms, len(problem.products) - problem.times
        start = np.array([max(known.get(name, 0.0), 1e-3) for name in problem.names])
        if not known:
            start[:terms], start[terms : self.limits], start[self.limits :] = 1.0, START, 1.0
        self.theta = np.minimum(np.maximum(np.log(start), -60.0), 5.0)  # as after each step
        self.parts = slice(terms), slice(self.limits, None)  # the terms of the energy, and those of the cycles
        # owners and flows as places of sums, and which limits have no owner
        self.charges, self.charges_of_times = problem.owners[:terms], problem.owners[self.limits :]
        self.levels, self.flows = problem.owners[terms : self.limits] + 1, problem.flows + 1
        self.alone = self.levels == 0
        self.first, self.second = np.zeros(n), np.zeros(n)
        self.active = [np.unique(np.linspace(0, logs.shape[1] - 1, 4 * ADDED).astype(int)) for logs in problem.logs]

    def run(self, enough: float = inf) -> tuple[Floats, float]:
        """Weights, and the logarithm of the bound of all rows; it ends where that is `enough`."""
        best, value = self._weights(), -np.inf
        for step in range(STEPS + 1):
            if step % CHECK == 0:
                weights = self._weights()
                bound = self._value(weights, self._look(weights))
                if bound > value:
                    best, value = weights, bound
                if value >= enough:
                    break
                self._gather()
            share = step / STEPS
            sharp = SHARP[0] ** (1 - share) * SHARP[1] ** share
            self._climb(sharp, RATE * (1 - 0.9 * share), step + 1)
        return best, value

    def _weights(self) -> Floats:
        """Those of the terms of energy and of cycles add up to the powers of these."""
        weights = np.exp(self.theta)
        for part, power in zip(self.parts, self._powers(weights), strict=True):
            total = np.exp(self.theta[part] - self.theta[part].max(initial=0.0))
            weights[part] = power * total / max(total.sum(), 1e-300)
        return weights

    def _powers(self, weights: Floats) -> Floats:
        """The powers of energy and cycles: in the objective, and in the limits on others to the powers of these."""
        powers: Floats = self.powers + weights @ self.problem.powers
        return powers

    def _look(self, weights: Floats) -> float:
        """The least sum of scores of all rows; the least rows join those worked on."""
        total = 0.0
        for g, logs in enumerate(self.problem.logs):
            self.deadline(LOOK_STEPS + logs.size // FIGURES_A_STEP)
            score = column_weights(self.problem, weights, g) @ logs
            few = np.argpartition(score, ADDED)[:ADDED] if len(score) > ADDED else np.arange(len(score))
            self.active[g] = np.union1d(self.active[g], few)
            total += float(score.min())
        return total

    def _gather(self) -> None:
        places = self.problem.places
        self.logs = [
            logs[:, active][places[:, g]]
            for g, (logs, active) in enumerate(zip(self.problem.logs, self.active, strict=True))
        ]

    def _value(self, weights: Floats, scores: float) -> float:
        entropy = weights * (self.problem.constants - self._own(weights, self._powers(weights)))
        return float(scores + entropy.sum())

    def _own(self, weights: Floats, powers: Floats) -> Floats:
        """The logarithm of the share of each weight's owner: of a charge in the energy; of a tile in its level's."""
        terms, tiny = self.problem.terms, 1e-300
        own = np.zeros(len(weights))
        if terms:
            share = np.bincount(self.charges, weights[:terms])[self.charges] / max(powers[0], tiny)
            own[:terms] = np.log(np.maximum(share, tiny))
        if len(self.levels):
            limits = weights[terms : self.limits]
            sums = np.bincount(self.levels, limits)[self.levels]
            own[terms : self.limits] = np.where(self.alone, 0.0, np.log(limits / sums))
        own[self.limits :] = self._share_of_flow(weights[self.limits :])
        return own

    def _share_of_flow(self, weights: Floats) -> Floats:
        """The logarithm of the share of each charge in its flow: the words of a flow add up; flows do not."""
        charges, flows = self.charges_of_times, self.flows
        of_charge, of_flow = np.bincount(charges, weights)[charges], np.bincount(flows, weights)[flows]
        share: Floats = np.log(np.maximum(of_charge, 1e-300) / np.maximum(of_flow, 1e-300))
        return share

    def _climb(self, sharp: float, rate: float, step: int) -> None:
        weights = self._weights()
        powers = self._powers(weights)
        values = self.problem.constants - self._own(weights, powers)
        for logs in self.logs:
            score = weights @ logs
            near = np.exp((score.min() - score) / sharp)
            values = values + logs @ (near / near.sum())
        slope = weights * values
        means = [slope[part].sum() / max(power, 1e-300) for part, power in zip(self.parts, powers, strict=True)]
        slope += weights * (self.problem.powers @ means)
        for part, mean in zip(self.parts, means, strict=True):
            slope[part] -= weights[part] * mean
        self.first += 0.2 * (slope - self.first)
        self.second += 0.05 * (slope**2 - self.second)
        ahead = (self.first / (1 - 0.8**step)) / np.sqrt(self.second / (1 - 0.95**step) + 1e-12)
        self.theta = np.minimum(np.maximum(self.theta + rate * ahead, -60.0), 5.0)


def column_weights(problem: AscentProblem, weights: Floats, g: int) -> Floats:
    """What each column of group g counts in all products together."""
    totals: Floats = np.bincount(problem.places[:, g], weights, len(problem.logs[g]))
    return totals
