"""Finds weights of weighted products for many sets of rows at once: a short ascent each, from weights near good ones.

Kingma and Ba's Adam (ICLR 2015) on a smooth least over the rows that matter, as in ascent.py, for sets side by side.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..mapping import Bools, Floats, Ints
from .innermost import InnermostLoops
from .weighted_terms import ABSENT, WeightedTerms

STEPS, CHECK = 40, 20  # steps of an ascent, and after how many all rows are looked at
RATE = (0.2, 0.02)  # at its beginning and its end
SHARP = (0.05, 0.003)  # how far above the least (in logarithms) rows still count
LEAST_ROWS, BEFORE, EVEN = 24, 16, 8  # rows of a group worked on: the least, of those before, at even distances
LEAST = 1e-3  # no weight begins below it: it may have been of no use to the set before
MARGIN = 1e-11  # subtracted for rounding in sums of logarithms
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Ascended:
    """A set's best weights, and what they say."""

    bound: float  # the logarithm of what no mapping of the set is below
    scores: tuple[Floats, ...]  # per group, the logarithm of each row's own factor # (row,)
    log_weights: Floats  # (term,) of all terms, used or not; for sets inside it

    def without(self, limit: float) -> list[Bools]:
        """The rows that stay below a limit with the best rows of the other groups. # (row,) per group"""
        return [score - score.min() < limit - self.bound for score in self.scores]


class SetAscent:
    """The ascents of some sets; those whose bound reaches the `limit` (a logarithm) end early."""

    def __init__(
        self,
        terms: WeightedTerms,
        rows: Sequence[Sequence[Ints]],
        loops: Ints,
        log_weights: Sequence[Floats],
        limit: float,
    ) -> None:
        """Begin; per set its rows per group, its innermost loops # (set, level), and weights to begin with."""
        self.limit, groups = limit, range(len(terms.logs))
        any_order = bool((loops == InnermostLoops.ANY).all())
        looked_at = [slice(terms.columns(g, any_order=any_order)) for g in groups]
        self.logs = [[terms.logs[g][:, looked_at[g]][own[g]] for g in groups] for own in rows]
        zero = [np.stack([own[g].min(axis=0) for own in self.logs]) == ABSENT for g in groups]
        least_again = sum(
            np.stack([terms.again[g][own[g]].min(axis=0, initial=np.inf) for own in rows]) for g in groups
        )
        costs = terms.costs(np.asarray(least_again))
        used = terms.usable(zero, costs, loops)
        self.worked_on = used.any(axis=0)  # the terms worked on: those that some set uses
        self.every = np.array(log_weights)  # of all terms
        self.terms = terms.taking(self.worked_on)
        self.members = [members[:, own] for members, own in zip(self.terms.members, looked_at, strict=True)]
        # the columns that these have: what stands for 0 and inf in them has no weight
        self.columns = [np.flatnonzero(members.any(axis=0)) for members in self.members]
        self.members_of_columns = [own[:, columns] for own, columns in zip(self.members, self.columns, strict=True)]
        self.used, costs = used[:, self.worked_on], costs[:, self.worked_on]
        self.constants = np.log(np.where(self.used, costs, 1.0))
        self.theta = np.maximum(self.every[:, self.worked_on], np.log(LEAST))
        self.first, self.second = np.zeros_like(self.theta), np.zeros_like(self.theta)
        self.active = [[np.zeros(0, np.int64)] * len(terms.logs) for _ in rows]  # per set and group, rows

    def run(self) -> list[Ascended]:
        """Return the best of each set."""
        best: dict[int, Ascended] = {}
        going = np.arange(len(self.theta))
        for step in range(STEPS + 1):
            if step % CHECK == 0:
                self._look(going, best)
                stay = np.array([best[int(i)].bound < self.limit for i in going], bool)
                if step == STEPS or not stay.any():
                    break
                if not stay.all():
                    going = going[stay]
                    self._drop(stay)
                self._gather()
            share = step / STEPS
            self._climb(
                SHARP[0] ** (1 - share) * SHARP[1] ** share, RATE[0] ** (1 - share) * RATE[1] ** share, step + 1
            )
        return [best[i] for i in range(len(best))]

    def _drop(self, stay: Bools) -> None:
        """Go on with some sets alone."""
        self.used, self.constants, self.theta = self.used[stay], self.constants[stay], self.theta[stay]
        self.first, self.second = self.first[stay], self.second[stay]
        self.logs = [own for own, kept in zip(self.logs, stay, strict=True) if kept]
        self.active = [own for own, kept in zip(self.active, stay, strict=True) if kept]

    def _weights(self) -> tuple[Floats, Floats]:
        """Weights # (set, term): those of energy and of cycles add up to their powers # (set, 2)."""
        terms = self.terms
        weights = np.exp(self.theta) * self.used
        powers = terms.base + weights @ terms.powers
        for i, part in ((0, terms.parts[0]), (1, terms.parts[2])):
            if not self.theta[:, part].size:
                continue
            own = np.where(self.used[:, part], self.theta[:, part], -np.inf)
            most = own.max(axis=1, keepdims=True)
            shares = np.exp(own - np.where(np.isfinite(most), most, 0.0))
            weights[:, part] = powers[:, i : i + 1] * shares / np.maximum(shares.sum(axis=1, keepdims=True), TINY)
        return weights, powers

    def _own(self, weights: Floats, powers: Floats) -> Floats:
        """The logarithm of the share of each weight's owner, as in ascent.py. # (set, term)"""
        terms, own = self.terms, np.zeros_like(weights)
        energy, limits, cycles = terms.parts
        share = _totals(weights[:, energy], terms.charges) / np.maximum(powers[:, :1], TINY)
        own[:, energy] = np.log(np.maximum(share, TINY))
        limit_weights = weights[:, limits]
        of_memory = _totals(limit_weights, terms.memories)
        shares = np.log(np.maximum(limit_weights, TINY) / np.maximum(of_memory, TINY))
        own[:, limits] = np.where(terms.alone | (limit_weights <= 0), 0.0, shares)
        flow_weights = weights[:, cycles]
        of_charge, of_flow = _totals(flow_weights, terms.charges_of_cycles), _totals(flow_weights, terms.flows)
        own[:, cycles] = np.log(np.maximum(of_charge, TINY) / np.maximum(of_flow, TINY))
        return own

    def _look(self, going: Ints, best: dict[int, Ascended]) -> None:
        """Bound each set by all its rows, keep the best, and choose the rows to work on."""
        weights, powers = self._weights()
        constants = (weights * (self.constants - self._own(weights, powers))).sum(axis=1)
        for i, part in ((0, self.terms.parts[0]), (1, self.terms.parts[2])):
            # where no term bounds the energy it may be next to nothing, and its power is no part of the product
            constants[(powers[:, i] > 0) & ~self.used[:, part].any(axis=1)] = -np.inf
        of_columns = [weights @ members for members in self.members]
        for k, i in enumerate(going.tolist()):
            scores = tuple(own @ of_columns[g][k] for g, own in enumerate(self.logs[k]))
            self.active[k] = [
                np.concatenate([_least(score), before[:BEFORE], np.arange(EVEN) * (len(score) - 1) // (EVEN - 1)])
                for score, before in zip(scores, self.active[k], strict=True)
            ]
            bound = float(constants[k] + sum(score.min() for score in scores)) - MARGIN
            if i not in best or bound > best[i].bound:
                log_weights = self.every[i].copy()
                log_weights[self.worked_on] = self.theta[k]
                best[i] = Ascended(bound, scores, log_weights)

    def _gather(self) -> None:
        """Take the logarithms of the rows worked on: per group # (set, row, column), the last again where fewer."""
        self.work = []
        for g in range(len(self.terms.logs)):
            most = max(len(active[g]) for active in self.active)
            every = np.arange(most)
            places = [active[g][np.minimum(every, len(active[g]) - 1)] for active in self.active]
            of_set = zip(self.logs, places, strict=True)
            self.work.append(np.stack([own[g][place][:, self.columns[g]] for own, place in of_set]))

    def _climb(self, sharp: float, rate: float, step: int) -> None:
        terms = self.terms
        weights, powers = self._weights()
        values = self.constants - self._own(weights, powers)
        for logs, members in zip(self.work, self.members_of_columns, strict=True):
            score = np.matmul(logs, (weights @ members)[:, :, None])[:, :, 0]
            near = np.exp((score.min(axis=1, keepdims=True) - score) / sharp)
            near /= near.sum(axis=1, keepdims=True)
            values = values + np.matmul(near[:, None, :], logs)[:, 0] @ members.T
        slope = weights * values
        parts = (terms.parts[0], terms.parts[2])
        means = np.stack(
            [slope[:, part].sum(axis=1) / np.maximum(powers[:, i], TINY) for i, part in enumerate(parts)], axis=1
        )
        slope = slope + weights * (means @ terms.powers.T)
        for i, part in enumerate(parts):
            slope[:, part] -= weights[:, part] * means[:, i : i + 1]
        self.first += 0.2 * (slope - self.first)
        self.second += 0.05 * (slope**2 - self.second)
        ahead = (self.first / (1 - 0.8**step)) / np.sqrt(self.second / (1 - 0.95**step) + 1e-12)
        self.theta = np.minimum(np.maximum(self.theta + rate * ahead, -60.0), 5.0)


def _least(score: Floats) -> Ints:
    if len(score) <= LEAST_ROWS:
        return np.arange(len(score))
    return np.argpartition(score, LEAST_ROWS)[:LEAST_ROWS]


def _totals(weights: Floats, members: Floats) -> Floats:
    """Add up the weights of each term's owner. # (set, term)"""
    totals: Floats = (weights @ members) @ members.T
    return totals
