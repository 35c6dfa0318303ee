"""Lower bounds that are one number per chain: weighted products in place of sums, after the means of the same name.

A sum of positive terms is at least the product of (term / weight)^weight for any weights that add up to 1, and what
fits does so by a factor of at least 1 to any power. So, for any weights, the objective is at least a constant times a
product of one factor per group of dims. Of such a product the least over any sets of chains is known exactly: there is
no mixing of the best entries of different chains, as where columns are minimised one by one. The weights are those for
which the least is largest, found by ascent; docs/optimal.md, section 3, has the argument.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

import numpy as np

from ..mapping import Floats, Ints
from ..runtime import Deadline
from .ascent import Ascent, AscentProblem, column_weights
from .charge_bounds import ChargeBound, Rewritten
from .limits import ObjectiveLimit
from .products import Product
from .relaxation import Relaxation

MARGIN = 1e-11  # subtracted for rounding in sums of logarithms
LARGEST = 709.0  # logarithm of what a float holds
ROWS_A_STEP = 100  # rows of a column that are a step of a proof


class Term(NamedTuple):
    """A product, and what it is multiplied by."""

    name: str
    times: float
    product: Product
    owner: int
    rewritten: Rewritten | None = None


@dataclass(frozen=True, eq=False)
class Factors:
    """The objective is at least `least` times the product of one factor per group, each at least 1."""

    least: float
    factors: tuple[Floats, ...]  # per group # (row looked at,)
    weights: dict[str, float] = field(default_factory=dict)  # of what, by the names of certificates
    columns: tuple[Floats, ...] = ()  # per group, the weights of all its columns # (column,)
    constant: float = -np.inf  # logarithm of the bound where all columns are 1
    rewritten: tuple[Rewritten, ...] = ()  # the terms that depend on the rows looked at not by their products alone

    def constant_with(self, again: Sequence[float]) -> float:
        """The constant for other rows: words per distinct word, at least, of each of `rewritten`."""
        costs = [(weight, term.cost(ratio), term.cost(term.again))
                 for term, ratio in zip(self.rewritten, again, strict=True)
                 if (weight := self.weights[term.name])]  # what counts nothing may cost nothing  # fmt: skip
        with np.errstate(divide="ignore"):
            return self.constant + float(sum(w * (np.log(new) - np.log(old)) for w, new, old in costs))


@dataclass(eq=False)
class Geometric:
    """The bounds of one choice of kept tensors, for the objective energy^powers[0] * cycles^powers[1].

    They hold for mappings `within` limits on other objectives: (objective / limit)^m is at most 1, for any m.
    """

    relaxed: Relaxation
    powers: tuple[int, int]
    within: tuple[ObjectiveLimit, ...] = ()
    known: dict[str, float] = field(default_factory=dict)  # weights found before, by name, to begin with
    again: dict[str, float] = field(default_factory=dict)  # by term: words per distinct word, no more are assumed

    def factors(self, rows: Sequence[Ints], enough: float = inf) -> Factors:
        """The best bound found for the mappings with chains from `rows` of each group; no better one than `enough`."""
        problem, rewritten = self._problem(rows)
        if self.powers[0] and not problem.terms:  # nothing is known to cost anything
            return Factors(0.0, tuple(np.ones(len(group_rows)) for group_rows in rows))
        with np.errstate(divide="ignore"):
            log_enough = float(np.log(enough)) + 2 * MARGIN
        weights, value = Ascent(problem, self.powers, self.known, self._check).run(log_enough)
        named = dict(zip(problem.names, weights.tolist(), strict=True))
        self.known |= named
        scores = [column_weights(problem, weights, g) @ logs for g, logs in enumerate(problem.logs)]
        factors = tuple(np.exp(np.minimum(score - score.min(), 600.0)) for score in scores)
        # what does not fit grows without end in the ascent: beyond all floats there is no mapping
        least = float(np.exp(value - MARGIN)) if value - MARGIN < LARGEST else np.inf
        constant = float(value - MARGIN - sum(score.min() for score in scores))
        return Factors(least, factors, named, self._columns(problem, weights), constant, rewritten)

    def _columns(self, problem: AscentProblem, weights: Floats) -> tuple[Floats, ...]:
        """Add up what each column of each group counts. # (column,) each"""
        pairs = [(product, weight) for product, weight in zip(problem.products, weights, strict=True) if product]
        numbers = np.array([product for product, _ in pairs]).T
        shares = [weight for _, weight in pairs]
        return tuple(
            np.bincount(group_numbers, shares, len(columns))
            for group_numbers, columns in zip(numbers, self.relaxed.columns, strict=True)
        )

    @property
    def _check(self) -> Deadline:
        return self.relaxed.groups[0].deadline

    def _problem(self, rows: Sequence[Ints]) -> tuple[AscentProblem, tuple[Rewritten, ...]]:
        """Return what the ascent works on, and the terms of an output among it."""
        relaxed = self.relaxed
        of_energy, of_cycles = map(
            any, zip(self.powers, *(limit.objective.powers for limit in self.within), strict=True)
        )
        terms = self._terms(rows) if of_energy else []
        limits: list[Term] = []
        for k, (capacity, tiles) in enumerate(relaxed.tiles):
            limits += [Term(name, bits / capacity, tile, k) for name, bits, tile in tiles if capacity]
        limits += [Term(name, 1.0 / size, spread, -1) for name, size, _, spread, _ in relaxed.axes]
        within = [limit for limit in self.within if limit.most > 0 and (terms or not limit.objective.powers[0])]
        limits += [Term(f"limit:{limit.objective.name}", 1.0 / limit.most, (), -1) for limit in within]
        spans, flows = self._spans(rows) if of_cycles else ([], [])
        cycles = self._steps(spans)
        names, times, products, owners, rewritten = zip(*terms, *limits, *spans, cycles, strict=True)
        logs, places = self._logs(rows, products)
        numbers = np.array([*flows, -1])
        padding = [(0, 0)] * (len(terms) + len(limits) - len(within)), [(0, 0)] * len(numbers)
        powers = np.array([*padding[0], *(limit.objective.powers for limit in within), *padding[1]], float)
        problem = AscentProblem(
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
        return problem, tuple(filter(None, rewritten))

    def _logs(self, rows: Sequence[Ints], products: Sequence[Product]) -> tuple[list[Floats], Ints]:
        """Take the logarithms of the columns in `products`: per group # (column used, row), and where each product has
        its column # (product, group)."""
        logs, places = list[Floats](), np.zeros((len(products), len(rows)), np.int64)
        for g, group_rows in enumerate(rows):
            used, places[:, g] = np.unique([product[g] if product else -1 for product in products], return_inverse=True)
            logs.append(np.zeros((len(used), len(group_rows))))
            for row, c in zip(logs[g], used.tolist(), strict=True):
                self._check(1 + len(group_rows) // ROWS_A_STEP)
                if c >= 0:
                    np.log(self.relaxed.columns[g][c][group_rows], out=row)
        return logs, places

    def _spans(self, rows: Sequence[Ints]) -> tuple[list[Term], list[int]]:
        """The cycles are at least those of each flow: a sum over charges, of each the largest of its terms, and over
        starts of tiles; and the steps of the loops with the starts, which are the flow -1.

        Returns the terms and the flow of each.
        """
        spans, flows, owner = list[Term](), list[int](), 0
        for number, (flow, charges) in enumerate(self.relaxed.flows):
            for bound in charges:
                terms = self._of_charge(bound, owner, rows, f"{flow}:")
                spans, owner = [*spans, *terms], owner + 1
                flows += [number] * len(terms)
        for number, prefix in self.relaxed.flows_with_starts:
            for name, cycles, tiles in self.relaxed.starts:
                spans, owner = [*spans, Term(prefix + name, float(cycles), tiles, owner)], owner + 1
                flows.append(number)
        return spans, flows

    def _steps(self, spans: Sequence[Term]) -> Term:
        """The steps of all loops; beside other terms of the cycles they are a charge of their own."""
        owner = spans[-1].owner + 1 if self.relaxed.starts and spans else len(spans)
        return Term("cycles", 1.0, self.relaxed.cycles, owner)

    def _terms(self, rows: Sequence[Ints]) -> list[Term]:
        """The energy is at least a sum over charges, of each the largest of its terms.

        Products that are 0 for some of the rows say nothing and are left out.
        """
        relaxed = self.relaxed
        terms = [Term("compute", relaxed.compute_pj, (), 0), Term("leak", relaxed.leak_pj, relaxed.cycles, 1)]
        terms = [term for term in terms if term.times > 0]
        terms += [
            term for owner, bound in enumerate(relaxed.charges, 2) for term in self._of_charge(bound, owner, rows)
        ]
        wires = enumerate(relaxed.charges, 2 + len(relaxed.charges))
        return terms + [term for owner, bound in wires for term in self._of_wires(bound, owner, rows)]

    def _of_charge(self, bound: ChargeBound, owner: int, rows: Sequence[Ints], prefix: str = "") -> list[Term]:
        """The terms of a charge that say anything."""
        named: dict[Product, str] = {}
        for name, product in bound.terms():
            named.setdefault(product, prefix + name)
        terms: list[Term] = []
        for product, name in named.items():
            pj, term = bound.charge.pj, None
            if bound.first is not None:  # of the words moved at least so many are not the first of their kind
                again = min(self._least(product, rows, bound.first), self.again.get(name, np.inf))
                term = Rewritten(name, bound.charge, product, bound.first, again)
                pj = term.cost(again)
            if pj > 0 and self._least(product, rows) > 0:
                terms.append(Term(name, pj, product, owner, term))
        return terms

    def _of_wires(self, bound: ChargeBound, owner: int, rows: Sequence[Ints]) -> list[Term]:
        """The terms of the wires that a charge's words pass: words times hops."""
        return [
            Term(name, bound.charge.hop_pj * figure, product, owner)
            for name, figure, product in bound.crossing
            if self._least(product, rows) > 0
        ]

    def _least(self, product: Product, rows: Sequence[Ints], other: Product | None = None) -> float:
        """The least of a product, or of it and another together."""
        self._check(4 + sum(map(len, rows)) // ROWS_A_STEP)
        least = 1.0
        for g, group_rows in enumerate(rows):
            column = self.relaxed.columns[g][product[g]][group_rows] if product else np.ones(len(group_rows))
            if other is not None:
                column = column * self.relaxed.columns[g][other[g]][group_rows]
            least *= float(column.min())
        return least
