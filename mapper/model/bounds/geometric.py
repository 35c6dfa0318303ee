"""Lower bounds that are one number per chain: weighted products in place of sums, after the means of the same name.

A sum of positive terms is at least the product of (term / weight)^weight for any weights that add up to 1, and what
fits does so by a factor of at least 1 to any power. So, for any weights, the objective is at least a constant times a
product of one factor per group of dims. Of such a product the least over any sets of chains is known exactly: there is
no mixing of the best entries of different chains, as where columns are minimised one by one. The weights are those for
which the least is largest, found by ascent; docs/optimal.md, section 3, has the argument.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...mapping import Floats, Ints
from ...runtime import Deadline
from .charge_bounds import ChargeBound
from .limits import Limit
from .products import Product
from .relaxation import Relaxation

STEPS, CHECK = 240, 20  # steps of the ascent, and after how many all rows are looked at
RATE = 0.25  # of the ascent, at its beginning
SHARP = (0.1, 0.002)  # how far above the least (in logarithms) rows still count, at the beginning and at the end
ADDED = 8  # rows of each group that each look at all adds to those the ascent works on
START = 0.05  # a limit's power at the beginning
MARGIN = 1e-11  # subtracted for rounding in sums of logarithms
LARGEST = 709.0  # logarithm of what a float holds

Term = tuple[str, float, Product, int]  # its name, what the product is multiplied by, the product, its owner


@dataclass(frozen=True, eq=False)
class Factors:
    """The objective is at least `least` times the product of one factor per group, each at least 1."""

    least: float
    factors: tuple[Floats, ...]  # per group # (row looked at,)
    weights: dict[str, float] = field(default_factory=dict)  # of what, by the names of certificates
    columns: tuple[Floats, ...] = ()  # per group, the weights of all its columns # (column,)


@dataclass(frozen=True, eq=False)
class _Problem:
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


@dataclass(eq=False)
class Geometric:
    """The bounds of one choice of kept tensors, for the objective energy^powers[0] * cycles^powers[1].

    They hold for mappings `within` limits on other objectives: (objective / limit)^m is at most 1, for any m.
    """

    relaxed: Relaxation
    powers: tuple[int, int]
    within: tuple[Limit, ...] = ()
    known: dict[str, float] = field(default_factory=dict)  # weights found before, by name, to begin with

    def factors(self, rows: Sequence[Ints]) -> Factors:
        """The best bound found for the mappings with chains from `rows` of each group."""
        problem = self._problem(rows)
        if self.powers[0] and not problem.terms:  # nothing is known to cost anything
            return Factors(0.0, tuple(np.ones(len(mine)) for mine in rows))
        weights, value = _Ascent(problem, self.powers, self.known, self._check).run()
        named = dict(zip(problem.names, weights.tolist(), strict=True))
        self.known |= named
        scores = [_column_weights(problem, weights, g) @ logs for g, logs in enumerate(problem.logs)]
        factors = tuple(np.exp(np.minimum(score - score.min(), 600.0)) for score in scores)
        # what does not fit grows without end in the ascent: beyond all floats there is no mapping
        least = float(np.exp(value - MARGIN)) if value - MARGIN < LARGEST else np.inf
        return Factors(least, factors, named, self._columns(problem, weights))

    def _columns(self, problem: _Problem, weights: Floats) -> tuple[Floats, ...]:
        """Add up what each column of each group counts. # (column,) each"""
        pairs = [(product, weight) for product, weight in zip(problem.products, weights, strict=True) if product]
        numbers = np.array([product for product, _ in pairs]).T
        shares = [weight for _, weight in pairs]
        return tuple(
            np.bincount(mine, shares, len(columns)) for mine, columns in zip(numbers, self.relaxed.columns, strict=True)
        )

    @property
    def _check(self) -> Deadline:
        return self.relaxed.groups[0].deadline

    def _problem(self, rows: Sequence[Ints]) -> _Problem:
        relaxed = self.relaxed
        of_energy, of_cycles = map(
            any, zip(self.powers, *(limit.objective.powers for limit in self.within), strict=True)
        )
        terms = self._terms(rows) if of_energy else []
        limits: list[Term] = []
        for k, (capacity, tiles) in enumerate(relaxed.tiles):
            limits += [(name, bits / capacity, tile, k) for name, bits, tile in tiles if capacity]
        limits += [(name, 1.0 / size, spread, -1) for name, size, _, spread, _ in relaxed.axes]
        within = [limit for limit in self.within if limit.most > 0 and (terms or not limit.objective.powers[0])]
        limits += [(f"limit:{limit.objective.name}", 1.0 / limit.most, (), -1) for limit in within]
        spans, flows = self._spans(rows) if of_cycles else ([], [])
        cycles: Term = ("cycles", 1.0, relaxed.cycles, len(spans))
        names, times, products, owners = zip(*terms, *limits, *spans, cycles, strict=True)
        logs, places = [], np.zeros((len(products), len(rows)), np.int64)
        for g, mine in enumerate(rows):
            used, places[:, g] = np.unique([product[g] if product else -1 for product in products], return_inverse=True)
            logs.append(np.zeros((len(used), len(mine))))
            for row, c in zip(logs[g], used.tolist(), strict=True):
                self._check()
                if c >= 0:
                    np.log(relaxed.columns[g][c][mine], out=row)
        numbers = np.array([*flows, -1])
        others = [(0, 0)] * (len(terms) + len(limits) - len(within)), [(0, 0)] * len(numbers)
        powers = np.array([*others[0], *(limit.objective.powers for limit in within), *others[1]], float)
        return _Problem(
            list(names),
            list(products),
            np.log(times),
            len(terms),
            len(numbers),
            np.array(owners),
            powers,
            numbers,
            logs,
            places,
        )

    def _spans(self, rows: Sequence[Ints]) -> tuple[list[Term], list[int]]:
        """The cycles are at least those of each flow: a sum over charges, of each the largest of its terms.

        Returns the terms and the flow of each.
        """
        spans, flows, owner = list[Term](), list[int](), 0
        for number, (flow, charges) in enumerate(self.relaxed.flows):
            for bound in charges:
                found = self._of_charge(bound, owner, rows, f"{flow}:")
                spans, owner = [*spans, *found], owner + 1
                flows += [number] * len(found)
        return spans, flows

    def _terms(self, rows: Sequence[Ints]) -> list[Term]:
        """The energy is at least a sum over charges, of each the largest of its terms.

        Products that are 0 for some of the rows say nothing and are left out.
        """
        relaxed = self.relaxed
        found: list[Term] = [("compute", relaxed.compute_pj, (), 0), ("leak", relaxed.leak_pj, relaxed.cycles, 1)]
        found = [term for term in found if term[1] > 0]
        found += [
            term for owner, bound in enumerate(relaxed.charges, 2) for term in self._of_charge(bound, owner, rows)
        ]
        wires = enumerate(relaxed.charges, 2 + len(relaxed.charges))
        return found + [term for owner, bound in wires for term in self._of_wires(bound, owner, rows)]

    def _of_charge(self, bound: ChargeBound, owner: int, rows: Sequence[Ints], prefix: str = "") -> list[Term]:
        """The terms of a charge that say anything."""
        named: dict[Product, str] = {}
        for name, product in bound.terms():
            named.setdefault(product, prefix + name)
        found: list[Term] = []
        for product, name in named.items():
            pj = bound.charge.pj
            if bound.first is not None:  # of the words moved at least so many are not the first of their kind
                again = self._least(product, rows, bound.first)
                pj -= bound.charge.first_pj / max(again, 1.0)
            if pj > 0 and self._least(product, rows) > 0:
                found.append((name, pj, product, owner))
        return found

    def _of_wires(self, bound: ChargeBound, owner: int, rows: Sequence[Ints]) -> list[Term]:
        """The terms of the wires that a charge's words pass: words times hops."""
        return [
            (name, bound.charge.hop_pj * figure, product, owner)
            for name, figure, product in bound.crossing
            if self._least(product, rows) > 0
        ]

    def _least(self, product: Product, rows: Sequence[Ints], other: Product | None = None) -> float:
        """The least of a product, or of it and another together."""
        self._check()
        least = 1.0
        for g, mine in enumerate(rows):
            column = self.relaxed.columns[g][product[g]][mine] if product else np.ones(len(mine))
            if other is not None:
                column = column * self.relaxed.columns[g][other[g]][mine]
            least *= float(column.min())
        return least


class _Ascent:
    """Weights for which the least of the bound is large. Any weights are right; these decide how good it is."""

    def __init__(self, problem: _Problem, powers: tuple[int, int], known: dict[str, float], deadline: Deadline) -> None:
        self.problem, self.powers, self.deadline = problem, np.array(powers, float), deadline
        n, terms, self.limits = len(problem.products), problem.terms, len(problem.products) - problem.times
        start = np.array([max(known.get(name, 0.0), 1e-3) for name in problem.names])
        if not known:
            start[:terms], start[terms : self.limits], start[self.limits :] = 1.0, START, 1.0
        self.theta = np.log(start)
        self.level = problem.owners[terms : self.limits]
        self.first, self.second = np.zeros(n), np.zeros(n)
        self.active = [np.unique(np.linspace(0, logs.shape[1] - 1, 4 * ADDED).astype(int)) for logs in problem.logs]

    def run(self) -> tuple[Floats, float]:
        """Weights, and the logarithm of the bound of all rows."""
        best, value = self._weights(), -np.inf
        for step in range(STEPS + 1):
            if step % CHECK == 0:
                weights = self._weights()
                here = self._value(weights, self._look(weights))
                if here > value:
                    best, value = weights, here
                self._gather()
            share = step / STEPS
            sharp = SHARP[0] ** (1 - share) * SHARP[1] ** share
            self._climb(sharp, RATE * (1 - 0.9 * share), step + 1)
        return best, value

    def _weights(self) -> Floats:
        """Those of the terms of energy and of cycles add up to the powers of these."""
        weights = np.exp(np.clip(self.theta, -60.0, 5.0))
        for part, power in zip(self._parts, self._powers(weights), strict=True):
            total = np.exp(self.theta[part] - self.theta[part].max(initial=0.0))
            weights[part] = power * total / max(total.sum(), 1e-300)
        return weights

    @property
    def _parts(self) -> tuple[slice, slice]:
        """The terms of the energy, and those of the cycles."""
        return slice(self.problem.terms), slice(self.limits, None)

    def _powers(self, weights: Floats) -> Floats:
        """The powers of energy and cycles: in the objective, and in the limits on others to the powers of these."""
        powers: Floats = self.powers + weights @ self.problem.powers
        return powers

    def _look(self, weights: Floats) -> float:
        """The least sum of scores of all rows; the least rows join those worked on."""
        total = 0.0
        for g, logs in enumerate(self.problem.logs):
            self.deadline()
            score = _column_weights(self.problem, weights, g) @ logs
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
        entropy = weights * (self.problem.constants - self._own(weights))
        return float(scores + entropy.sum())

    def _own(self, weights: Floats) -> Floats:
        """The logarithm of the share of each weight's owner: of a charge in the energy; of a tile in its level's."""
        terms, tiny = self.problem.terms, 1e-300
        own = np.zeros(len(weights))
        charges = self.problem.owners[:terms]
        if terms:
            share = np.bincount(charges, weights[:terms])[charges] / max(self._powers(weights)[0], tiny)
            own[:terms] = np.log(np.maximum(share, tiny))
        limits = weights[terms : self.limits]
        sums = np.bincount(self.level + 1, limits)[self.level + 1]
        own[terms : self.limits] = np.where(self.level < 0, 0.0, np.log(limits / sums))
        own[self.limits :] = self._share_of_flow(weights[self.limits :])
        return own

    def _share_of_flow(self, weights: Floats) -> Floats:
        """The logarithm of the share of each charge in its flow: the words of a flow add up; flows do not."""
        charges, flows = self.problem.owners[self.limits :], self.problem.flows
        of_charge, of_flow = np.bincount(charges, weights)[charges], np.bincount(flows + 1, weights)[flows + 1]
        share: Floats = np.log(np.maximum(of_charge, 1e-300) / np.maximum(of_flow, 1e-300))
        return share

    def _climb(self, sharp: float, rate: float, step: int) -> None:
        weights = self._weights()
        values = self.problem.constants - self._own(weights)
        for logs in self.logs:
            score = weights @ logs
            near = np.exp((score.min() - score) / sharp)
            values = values + logs @ (near / near.sum())
        slope = weights * values
        powers = self._powers(weights)
        means = [slope[part].sum() / max(power, 1e-300) for part, power in zip(self._parts, powers, strict=True)]
        slope += weights * (self.problem.powers @ means)
        for part, mean in zip(self._parts, means, strict=True):
            slope[part] -= weights[part] * mean
        self.first += 0.2 * (slope - self.first)
        self.second += 0.05 * (slope**2 - self.second)
        ahead = (self.first / (1 - 0.8**step)) / np.sqrt(self.second / (1 - 0.95**step) + 1e-12)
        self.theta = np.clip(self.theta + rate * ahead, -60.0, 5.0)


def _column_weights(problem: _Problem, weights: Floats, g: int) -> Floats:
    """What each column of group g counts in all products together."""
    found: Floats = np.bincount(problem.places[:, g], weights, len(problem.logs[g]))
    return found
