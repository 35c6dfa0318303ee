"""The sets of chains of one choice of what is kept: that they cover all, and that each holds nothing better.

Every set that is divided is followed to its parts, so what is looked at covers all chains by construction; that the
numbers of combinations add up is compared all the same, in exact integers.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from math import prod
from operator import mul

import numpy as np

from ..mapping import Bools, Floats, Ints
from .bounds import SLACK, energy_and_cycles
from .columns import Columns, Product
from .format import BOUNDED, EVALUATED, TOLERANCE, WEIGHED, Choice, Tree
from .orders import Orders
from .problem import Refused
from .weighted import Weighted, weighted

AT_ONCE = 1 << 16  # sets bounded at once


@dataclass(frozen=True, eq=False)
class Claim:
    """What is claimed: no mapping has a lower objective, or lies below the front."""

    powers: tuple[int, int] | None  # of energy and cycles; None: a front
    lower_bound: float
    points: tuple[tuple[float, float], ...] = ()  # of a front: (cycles, pJ) on it, and below what is open

    @property
    def least(self) -> float:
        """What a bound has to reach."""
        return self.lower_bound * (1 - TOLERANCE) * (1 - SLACK)

    @property
    def empty(self) -> bool:
        """Whether nothing is claimed: no energy and no number of cycles is below 0."""
        return self.powers is not None and self.lower_bound <= 0

    def settled(self, energy_pj: Floats, cycles: Floats) -> Bools:
        """Whether mappings that cost at least so much are no better than claimed."""
        found: Bools = np.isinf(energy_pj)
        if self.powers is not None:
            by_energy, by_cycles = self.powers
            value = energy_pj**by_energy * cycles**by_cycles
            return found | (value >= self.least)
        slack = (1 - TOLERANCE) * (1 - SLACK)
        for most_cycles, most_pj in self.points:
            found = found | (cycles >= most_cycles * slack) & (energy_pj >= most_pj * slack)
        return found


@dataclass
class Tally:
    """How many sets and combinations were looked at."""

    sets: int = 0
    evaluated: int = 0
    ruled_out: int = 0

    @property
    def combinations(self) -> int:
        return self.evaluated + self.ruled_out


@dataclass(eq=False)
class Nodes:
    """The tree over the chains of one group: nodes numbered level by level, each an interval of its parent's."""

    tree: Tree
    rows: Ints = field(init=False)  # (leaf,) the chains, from left to right
    parts: Ints = field(init=False)  # (node,)
    first: Ints = field(init=False)  # (node,) the first part
    size: Ints = field(init=False)  # (node,) how many chains
    start: Ints = field(init=False)  # (node,) where its interval begins
    levels: list[tuple[int, int]] = field(init=False)  # the first node of each level, and the end

    def __post_init__(self) -> None:
        if not all(0 <= part < max(len(self.tree.parts), 2) for part in self.tree.parts) or 1 in self.tree.parts:
            raise Refused("a tree of chains is no tree")
        self.rows, self.parts = np.array(self.tree.chains, np.int64), np.array(self.tree.parts, np.int64)
        self.first = np.cumsum(self.parts) - self.parts + 1
        if len(self.parts) != self.parts.sum() + 1:
            raise Refused("a tree of chains is no tree")
        self.levels = [(0, 1)]
        while (end := self.levels[-1][1]) < len(self.parts):
            self.levels.append((end, end + int(self.parts[slice(*self.levels[-1])].sum())))
            if self.levels[-1][1] == end:
                raise Refused("a tree of chains is no tree")
        self.size = (self.parts == 0).astype(np.int64)
        for start, stop, inner in self._inner():
            self.size[inner] = np.add.reduceat(self.size[start:stop], self.first[inner] - start)
        self.start = np.zeros(len(self.parts), np.int64)
        for start, stop, inner in reversed(list(self._inner())):
            before = np.cumsum(self.size[start:stop]) - self.size[start:stop]
            owner = np.repeat(inner, self.parts[inner])
            self.start[start:stop] = self.start[owner] + before - before[self.first[owner] - start]
        if self.size[0] != len(self.rows):
            raise Refused("a tree of chains has more or fewer ends than there are chains")

    def _inner(self) -> Iterator[tuple[int, int, Ints]]:
        """From the lowest level up: first and end of a level, and the nodes above that have their parts there."""
        for (start, stop), (above, _) in zip(self.levels[:0:-1], self.levels[-2::-1], strict=True):
            yield start, stop, above + np.flatnonzero(self.parts[above:start])

    def least(self, column: Floats) -> Floats:
        """The least entry of a column # (leaf,) over each node. # (node,)"""
        found = np.empty(len(self.parts))
        ends = self.parts == 0
        found[ends] = column[self.start[ends]]
        for start, stop, inner in self._inner():
            found[inner] = np.minimum.reduceat(found[start:stop], self.first[inner] - start)
        return found


class Cover:
    """The sets of one choice of what is kept, followed from the whole down."""

    def __init__(self, columns: Columns, choice: Choice, claim: Claim, tally: Tally) -> None:
        self.columns, self.choice, self.claim, self.tally = columns, choice, claim, tally
        self.groups = columns.groups
        trees = choice.trees or [Tree(chains=list(range(len(group))), parts=[]) for group in self.groups]
        if len(trees) != len(self.groups):
            raise Refused(f"{len(trees)} trees of chains, where the dims are in {len(self.groups)} groups")
        every = prod(map(len, self.groups))
        rows = [self._listed(tree.chains, len(group)) for tree, group in zip(trees, self.groups, strict=True)]
        self.weighted = self._narrow(rows)
        tally.ruled_out += every - prod(map(len, rows))
        self.rows = rows
        self.nodes = [Nodes(tree) if choice.trees and all(map(len, rows)) else None for tree in trees]

    @staticmethod
    def _listed(chains: Sequence[int], number: int) -> Ints:
        rows = np.array(chains, np.int64) if all(0 <= chain < number for chain in chains) else None
        if rows is None or len(np.unique(rows)) != len(rows):
            raise Refused("a tree names a chain twice, or one that there is not")
        return rows

    def _narrow(self, listed: list[Ints]) -> list[Weighted]:
        """The weighted products over the chains listed, which rule out, one after the other, all that are not."""
        rows = [np.arange(len(group)) for group in self.groups]
        for weights in self.choice.weights:
            if not all(map(len, rows)):
                break
            found = self._weigh(weights, rows)
            stay = [~(found.of_rows(g) >= self._log_least) for g in range(len(rows))]  # also where it is no number
            rows = [mine[these] for mine, these in zip(rows, stay, strict=True)]
        for g, (left, mine) in enumerate(() if self.claim.empty else zip(rows, listed, strict=True)):
            if missing := len(np.setdiff1d(left, mine)):
                dims = " and ".join(self.columns.workload.dims[d] for d in self.groups[g].dims)
                raise Refused(f"{missing:,} chains of {dims} are left out, which no weighted product rules out")
        return [self._weigh(weights, listed) for weights in self.choice.weights] if all(map(len, listed)) else []

    @property
    def _log_least(self) -> float:
        with np.errstate(divide="ignore"):
            return float(np.log(self.claim.least))

    def _weigh(self, weights: Mapping[str, float], rows: Sequence[Ints]) -> Weighted:
        if self.claim.powers is None:
            raise Refused("a front has no weighted products")
        try:
            return weighted(self.columns, weights, self.claim.powers, rows)
        except ValueError as error:
            raise Refused(str(error)) from None

    def check(self) -> None:
        """Follow every set down to those that are not divided. Raises Refused at the first that is not settled."""
        verdicts = np.frombuffer(self.choice.verdicts.encode("latin-1", "replace"), np.uint8).astype(np.int64)
        boxes = np.zeros((int(all(map(len, self.rows))), len(self.rows)), np.int64)  # the whole, if something is left
        above: list[tuple[Ints, Ints]] = []  # the sets of the levels before, and whose parts those of the next are
        place = 0
        while len(boxes):
            told = verdicts[place : place + len(boxes)]
            if len(told) < len(boxes):
                raise Refused("sets of chains are left without a verdict")
            place += len(boxes)
            self._settle(boxes, told, above)
            owner, parts = self._divide(boxes, told)
            above.append((boxes, owner))
            boxes = parts
        if place < len(verdicts):
            raise Refused("there are more verdicts than sets of chains")

    def _settle(self, boxes: Ints, told: Ints, above: list[tuple[Ints, Ints]]) -> None:
        """Check what is said of the sets that are not divided."""
        self.tally.sets += len(boxes)
        numbers = reduce(mul, (self._sizes(g)[boxes[:, g]] for g in range(len(self.rows))))
        checks = {BOUNDED: self._bounded, WEIGHED: self._weighed, EVALUATED: self._evaluated}
        for letter, check in checks.items():
            mine = np.flatnonzero(told == ord(letter))
            for part in np.array_split(mine, -(-len(mine) // AT_ONCE)) if len(mine) else ():
                settled = check(boxes[part])
                if not settled.all() and letter == BOUNDED:
                    settled[~settled] = self._bounded_above(part[~settled], above)
                if not settled.all():
                    raise Refused(self._told(boxes[part[settled.argmin()]], letter))
            number = int(numbers[mine].sum())
            self.tally.evaluated += number if letter == EVALUATED else 0
            self.tally.ruled_out += 0 if letter == EVALUATED else number

    def _sizes(self, g: int) -> Ints:
        """How many chains each node has, as Python integers."""
        nodes = self.nodes[g]
        return np.array([len(self.rows[g])], object) if nodes is None else nodes.size.astype(object)

    def _divide(self, boxes: Ints, told: Ints) -> tuple[Ints, Ints]:
        """The parts of the sets that are divided: whose they are, and themselves."""
        along = told - ord("a")
        divided = (along >= 0) & (along < len(self.rows))
        if not (divided | np.isin(told, [ord(letter) for letter in (BOUNDED, WEIGHED, EVALUATED)])).all():
            raise Refused("a verdict is none of those that there are")
        number = np.zeros(len(boxes), np.int64)
        for g, nodes in enumerate(self.nodes):
            mine = np.flatnonzero(divided & (along == g))
            if len(mine):
                number[mine] = 0 if nodes is None else nodes.parts[boxes[mine, g]]
        if not number[divided].all():
            raise Refused("a single chain cannot be divided")
        owner = np.repeat(np.arange(len(boxes)), number)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(number) - number, number)
        parts = boxes[owner]
        for g, nodes in enumerate(self.nodes):
            if nodes is not None:
                mine = along[owner] == g
                parts[mine, g] = nodes.first[parts[mine, g]] + place[mine]
        return owner, parts

    # What is said of a set

    def _bounded(self, boxes: Ints) -> Bools:
        """Whether the least entries of the columns rule out each set."""
        known: dict[Product, Floats] = {(): np.ones(len(boxes))}

        def value(product: Product) -> Floats:
            if product not in known:
                g = len(product) - 1
                known[product] = value(product[:-1]) * self._low(g)[product[g]][boxes[:, g]]
            return known[product]

        return self.claim.settled(*energy_and_cycles(self.columns, value, len(boxes)))

    def _low(self, g: int) -> list[Floats]:
        """Of each column of group g the least entry of every node."""
        if g not in self._lows:
            nodes, rows = self.nodes[g], self.rows[g]
            columns = (column[rows] for column in self.columns.columns[g])
            self._lows[g] = [c.min(keepdims=True) if nodes is None else nodes.least(c) for c in columns]
        return self._lows[g]

    @cached_property
    def _lows(self) -> dict[int, list[Floats]]:
        return {}

    def _bounded_above(self, some: Ints, above: list[tuple[Ints, Ints]]) -> Bools:
        """Whether a set that holds the set number `some` of this level is ruled out by columns."""
        settled, owner = np.zeros(len(some), bool), some
        for boxes, owners in reversed(above):
            owner = owners[owner]
            settled |= self._bounded(boxes[owner])
        return settled

    def _weighed(self, boxes: Ints) -> Bools:
        """Whether some weighted product rules out each set."""
        settled = np.full(len(boxes), self.claim.empty)
        for least, constant in self._weighted_lows:
            settled |= constant + sum(least[g][boxes[:, g]] for g in range(len(least))) >= self._log_least
        return settled

    @cached_property
    def _weighted_lows(self) -> list[tuple[list[Floats], float]]:
        """Of each weighted product the least scores of every node, and its constant."""
        return [
            (
                [score.min(keepdims=True) if nodes is None else nodes.least(score)
                 for nodes, score in zip(self.nodes, each.scores, strict=True)],
                each.constant,
            )
            for each in self.weighted
        ]  # fmt: skip

    def _evaluated(self, boxes: Ints) -> Bools:
        """Whether each set is one combination, and no loop order of it is better."""
        rows = self._single(boxes)
        settled = self._bounded(boxes)
        left = np.flatnonzero(~settled)
        chains = np.zeros((len(left), len(self.columns.workload.dims)), np.int64)
        for group, mine in zip(self.groups, rows, strict=True):
            for d in group.dims:
                chains[:, d] = group.rows[d][mine[left]]
        if len(left):
            settled[left] = Orders(self.columns.problem, self.columns.keep, chains).settled(self.claim.settled)
        return settled

    def _single(self, boxes: Ints) -> list[Ints]:
        """The chain of each group in each set. # (set,) each"""
        rows = []
        for g, nodes in enumerate(self.nodes):
            mine = boxes[:, g]
            if nodes is None or (nodes.parts[mine] > 0).any():
                raise Refused("a set of several combinations is said to be evaluated")
            rows.append(self.rows[g][nodes.start[mine]])
        return rows

    def _told(self, box: Ints, letter: str) -> str:
        """What is wrong with what is said of a set."""
        what = {BOUNDED: "the columns", WEIGHED: "the weighted products", EVALUATED: "its loop orders"}[letter]
        names = []
        for g, (group, nodes) in enumerate(zip(self.groups, self.nodes, strict=True)):
            start, size = (0, len(self.rows[g])) if nodes is None else (nodes.start[box[g]], nodes.size[box[g]])
            dims = "+".join(self.columns.workload.dims[d] for d in group.dims)
            names.append(f"{dims} {start}..{start + size - 1}")
        return f"{what} of the set {', '.join(names)} leave room for something better"
