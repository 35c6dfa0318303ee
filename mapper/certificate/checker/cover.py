"""Checks, for given kept tensors, that the sets of chains cover all chains and that none holds a better mapping.

The check follows every divided set to its parts, so the sets cover all chains by construction; it compares the numbers
of combinations all the same, in exact integers.

Three verdicts rule out a set of chains, each checked for many sets at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from ...mapping import Bools, Floats, Ints
from ..format import BOUNDED, EVALUATED, WEIGHED, Choice, Tree
from .bounds import LeastCosts
from .claim import Claim
from .columns import Columns, Product
from .orders import Orders
from .problem import Problem, ProblemOfRows, Refused
from .sets import ChainSets, ChainTree, listed_rows
from .weighted import Powers, Weighted, log_of, weighted

# sets bounded at once, with an array for each of some hundred products: 2^16 take three times the memory
AT_ONCE = 1 << 13
MANY = 1 << 14  # chains of a group: with more, coarse columns come first
SHRUNK = 0.5  # of the chains are left, or fewer: it was worth it, also where columns are made anew for each choice


class Verdicts:
    """Checks of the sets of chains for given kept tensors; each takes `boxes` # (set, group) and answers per set."""

    def __init__(self, columns: Columns, sets: ChainSets, claim: Claim, weighted: Sequence[Weighted]) -> None:
        self.columns, self.sets, self.claim, self.weighted = columns, sets, claim, weighted
        self._lows: dict[int, list[Floats]] = {}

    def bounded(self, boxes: Ints) -> Bools:
        """Test whether the least entries of the columns rule out each set. # (set,)"""
        return self._costs(boxes).settled(self.claim.settled)

    def _costs(self, boxes: Ints) -> LeastCosts:
        """Bound energy and cycles of each set by the least entries of the columns."""
        known: dict[Product, Floats] = {(): np.ones(len(boxes))}

        def value(product: Product) -> Floats:
            if product not in known:
                g = len(product) - 1
                known[product] = value(product[:-1]) * self._low(g)[product[g]][boxes[:, g]]
            return known[product]

        return LeastCosts(self.columns, value, len(boxes))

    def _low(self, g: int) -> list[Floats]:
        """Return the least entries of each column of group g. # (node,) each"""
        if g not in self._lows:
            rows = self.sets.rows[g]
            self._lows[g] = [self.sets.least(g, column[rows]) for column in self.columns.columns[g]]
        return self._lows[g]

    def weighed(self, boxes: Ints) -> Bools:
        """Test whether some weighted product rules out each set. # (set,)"""
        settled, log_least = np.full(len(boxes), self.claim.empty), log_of(self.claim.least)
        for least, constant in self._weighted_lows:
            settled |= constant + sum(least[g][boxes[:, g]] for g in range(len(least))) >= log_least
        return settled

    @cached_property
    def _weighted_lows(self) -> list[tuple[list[Floats], float]]:
        """The least scores of every node, per group, and the constant, of each weighted product."""
        return [
            ([self.sets.least(g, score) for g, score in enumerate(product.scores)], product.constant)
            for product in self.weighted
        ]

    def evaluated(self, boxes: Ints) -> Bools:
        """Test whether no loop order of each set, a single combination, is better. # (set,)

        Raises Refused where a set has several combinations.
        """
        rows = self.sets.single(boxes)
        costs = self._costs(boxes)
        settled = costs.settled(self.claim.settled)
        unsettled = np.flatnonzero(~settled)
        chains = np.zeros((len(unsettled), len(self.columns.workload.dims)), np.int64)
        for group, group_rows in zip(self.columns.groups, rows, strict=True):
            for d in group.dims:
                chains[:, d] = group.rows[d][group_rows[unsettled]]
        if len(unsettled):
            settled[unsettled] = Orders(self.columns.problem, self.columns.keep, chains).settled(
                self.claim.settled, costs.cycles[unsettled]
            )
        return settled


@dataclass
class Tally:
    """Counts of the sets and combinations checked."""

    sets: int = 0
    evaluated: int = 0
    ruled_out: int = 0

    @property
    def combinations(self) -> int:
        """The combinations that are accounted for."""
        return self.evaluated + self.ruled_out


class Cover:
    """The sets of chains for given kept tensors, followed from the whole down."""

    def __init__(self, problem: Problem, keep: Bools, choice: Choice, claim: Claim, tally: Tally) -> None:
        """Read the trees of `choice`. Raises Refused where they leave out chains that nothing rules out."""
        self.choice, self.claim, self.tally, self.groups = choice, claim, tally, problem.groups
        trees = choice.trees or [Tree(chains=list(range(len(group))), parts=[]) for group in self.groups]
        if len(trees) != len(self.groups):
            raise Refused(f"{len(trees)} trees of chains, where the dims are in {len(self.groups)} groups")
        listed = [listed_rows(tree.chains, len(group)) for tree, group in zip(trees, self.groups, strict=True)]
        tally.ruled_out += prod(map(len, self.groups)) - prod(map(len, listed))
        columns, places = self._columns(problem, keep, listed)
        products = self._narrow(columns, places)
        divided = choice.trees and all(map(len, listed))
        names = ["+".join(problem.workload.dims[d] for d in group.dims) for group in self.groups]
        self.sets = ChainSets(names, places, [ChainTree(tree) if divided else None for tree in trees])
        self.verdicts = Verdicts(columns, self.sets, claim, products)

    def _columns(self, problem: Problem, keep: Bools, listed: list[Ints]) -> tuple[Columns, list[Ints]]:
        """Make the columns, and say where in them the chains of `listed` are.

        Of very many chains most are ruled out by coarse columns before all are made for the others.
        """
        if max(map(len, self.groups)) > MANY and self.choice.weights:
            remaining = self._coarsely_left(Columns(problem, keep, coarse=True))
            rows = [np.union1d(near, own) for near, own in zip(remaining, listed, strict=True)]
            if all(map(len, rows)) and sum(map(len, rows)) < SHRUNK * sum(map(len, self.groups)):
                places = [np.searchsorted(near, own) for near, own in zip(rows, listed, strict=True)]
                return Columns(ProblemOfRows.of(problem, rows), keep), places
        return Columns(problem, keep), listed

    def _coarsely_left(self, columns: Columns) -> list[Ints]:
        """Return the chains of each group that the first weighted products leave, with coarse columns alone."""
        rows = [np.arange(len(group)) for group in self.groups]
        for weights in self.choice.weights:
            if not all(map(len, rows)):
                break
            try:
                fewer = self._left(columns, weights, rows)
            except Refused:  # these are weights of other columns, and are judged with all
                break
            if sum(map(len, fewer)) > SHRUNK * sum(map(len, rows)):
                break
            rows = fewer
        return rows

    def _narrow(self, columns: Columns, listed: list[Ints]) -> list[Weighted]:
        """Check that the weighted products, in turn, rule out all chains not in `listed`; return them over `listed`."""
        rows = [np.arange(len(group)) for group in columns.groups]
        for weights in self.choice.weights:
            if not all(map(len, rows)):
                break
            rows = self._left(columns, weights, rows)
        for g, (remaining, given_rows) in enumerate(() if self.claim.empty else zip(rows, listed, strict=True)):
            if missing := len(np.setdiff1d(remaining, given_rows)):
                dims = " and ".join(columns.workload.dims[d] for d in self.groups[g].dims)
                raise Refused(f"{missing:,} chains of {dims} are left out, which no weighted product rules out")
        if not all(map(len, listed)):
            return []
        return [self._weigh(columns, weights, listed) for weights in self.choice.weights]

    def _left(self, columns: Columns, weights: Mapping[str, float], rows: list[Ints]) -> list[Ints]:
        """Return those of the chains `rows` of each group that a weighted product does not rule out."""
        product, log_least = self._weigh(columns, weights, rows), log_of(self.claim.least)
        stay = [~(product.of_rows(g) >= log_least) for g in range(len(rows))]  # NaN stays
        return [group_rows[kept] for group_rows, kept in zip(rows, stay, strict=True)]

    def _weigh(self, columns: Columns, weights: Mapping[str, float], rows: Sequence[Ints]) -> Weighted:
        if self.claim.powers is None:
            raise Refused("a front has no weighted products")
        try:
            return weighted(columns, weights, Powers.of(self.claim.powers, self.claim.limits, weights), rows)
        except ValueError as error:
            raise Refused(str(error)) from None

    def check(self) -> None:
        """Check every set, down to those that are not divided. Raises Refused at the first unsettled set."""
        letters = np.frombuffer(self.choice.verdicts.encode("latin-1", "replace"), np.uint8).astype(np.int64)
        boxes = self.sets.whole
        above: list[tuple[Ints, Ints]] = []  # per level above: its sets, and for each set of the next level its owner
        place = 0
        while len(boxes):
            level_letters = letters[place : place + len(boxes)]
            if len(level_letters) < len(boxes):
                raise Refused("sets of chains are left without a verdict")
            place += len(boxes)
            self._settle(boxes, level_letters, above)
            owner, parts = self._divide(boxes, level_letters)
            above.append((boxes, owner))
            boxes = parts
        if place < len(letters):
            raise Refused("there are more verdicts than sets of chains")

    def _settle(self, boxes: Ints, letters: Ints, above: list[tuple[Ints, Ints]]) -> None:
        """Check the verdicts of the sets that are not divided. Raises Refused where one does not hold."""
        self.tally.sets += len(boxes)
        numbers = self.sets.numbers(boxes)
        checks = {BOUNDED: self.verdicts.bounded, WEIGHED: self.verdicts.weighed, EVALUATED: self.verdicts.evaluated}
        for letter, check in checks.items():
            matches = np.flatnonzero(letters == ord(letter))
            for part in np.array_split(matches, -(-len(matches) // AT_ONCE)) if len(matches) else ():
                settled = check(boxes[part])
                if not settled.all() and letter == BOUNDED:
                    settled[~settled] = self._bounded_above(part[~settled], above)
                if not settled.all():
                    raise Refused(self._unsettled(boxes[part[settled.argmin()]], letter))
            number = int(numbers[matches].sum())
            self.tally.evaluated += number if letter == EVALUATED else 0
            self.tally.ruled_out += 0 if letter == EVALUATED else number

    def _divide(self, boxes: Ints, letters: Ints) -> tuple[Ints, Ints]:
        """Divide the sets whose verdict says so: return for each part the index of its set, and the part."""
        along = letters - ord("a")
        divided = (along >= 0) & (along < len(self.groups))
        if not (divided | np.isin(letters, [ord(letter) for letter in (BOUNDED, WEIGHED, EVALUATED)])).all():
            raise Refused("a verdict is none of those that there are")
        return self.sets.divide(boxes, np.where(divided, along, -1))

    def _bounded_above(self, numbers: Ints, above: list[tuple[Ints, Ints]]) -> Bools:
        """Test whether columns rule out a set above each of the sets number `numbers` of this level. # (some,)"""
        settled, owner = np.zeros(len(numbers), bool), numbers
        for boxes, owners in reversed(above):
            owner = owners[owner]
            settled |= self.verdicts.bounded(boxes[owner])
        return settled

    def _unsettled(self, box: Ints, letter: str) -> str:
        """Write the message that the verdict of a set does not hold."""
        what = {BOUNDED: "the columns", WEIGHED: "the weighted products", EVALUATED: "its loop orders"}[letter]
        return f"{what} of the set {self.sets.text(box)} leave room for something better"
