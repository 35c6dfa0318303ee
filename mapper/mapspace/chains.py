"""The chains of bounds of one dim: counted, grouped, and reached by number, without listing them.

A chain is built from the innermost slot outwards: N = size at first, each slot takes a bound P <= N and leaves
ceil(N/P) tiles, and the outermost slot takes what is left. The number of ways to go on depends on the slot and on N
alone, and N takes few values (those of ceil(size/x), about 2 * sqrt(size)), so a dynamic programme over (slot, N)
counts all chains. docs/mapspace.md has the equations.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..mapping import Ints
from .chain_steps import SlotRule, Steps, every_step, label_of
from .integers import BigInts, divide, fitting
from .quotients import MOST_EDGES, different, within

MOST_COUNTS = 2**25  # of one slot, twice as many of a dim: a gigabyte
WIDE = 4  # times as much memory do Python integers take


@dataclass(frozen=True, slots=True)
class ProductRule:
    """What the product of the bounds of one dim over several slots may be. Each of the slots has to tell its bound."""

    slots: tuple[int, ...]
    lo: int
    hi: int


@dataclass(frozen=True, slots=True)
class _Node:
    """The steps possible at one slot. An edge is a range of bounds that lead from N to the same ceil(N/P).

    Edges are sorted by (label, N, P); a run is the edges of one label and N. A tail is the labels of this slot and of
    all slots outside it.
    """

    values: Ints  # (state,) the N that reach this slot
    labels: Ints  # (label,)
    run_start: Ints  # (label, state) first edge of the run
    run_end: Ints  # (label, state)
    outer: Ints  # (edge,) index of ceil(N/P) among the values of the next slot outwards
    first: Ints  # (edge,) the smallest P
    ways: Ints  # (edge,) how many P
    outer_count: BigInts  # (outer state, outer tail) ways to go on from there
    tail_label: Ints  # (tail,) index into labels
    tail_outer: Ints  # (tail,) the tail without this slot
    tail_of: Ints  # (label, outer tail) the tail, or -1
    count: BigInts  # (state, tail)


def _column(steps: list[Steps], column: int) -> Ints:
    """One column of all steps, which may be none where the rules contradict each other. # (edge,)"""
    return np.concatenate([np.zeros(0, np.int64), *(step[column] for step in steps)])


class ChainSpace:
    """All canonical chains of a dim of `size` under one rule per slot (outermost first), grouped by signature.

    The signature of a chain is what its slots tell (SlotRule.tell): the bound, or 1 for a bound over 1 and 0 for
    none. Within a group chains are numbered from 0; `unrank` and `rank` are inverse to each other.
    Raises TooLargeError.

    >>> any_bound = SlotRule(1, 100, remainders=True)
    >>> space = ChainSpace(100, (any_bound, SlotRule(1, 9, remainders=True, tell="bound"), any_bound))
    >>> space.total  # the chains of three slots with at most 9 in the middle
    366
    """

    def __init__(
        self,
        size: int,
        rules: tuple[SlotRule, ...],
        products: tuple[ProductRule, ...] = (),
        most_counts: int = MOST_COUNTS,
    ):
        self.size, self.rules, self._products = size, rules, products
        steps: list[tuple[Ints, list[Steps]]] = []
        values, edges = np.array([size], np.int64), 0
        for slot in range(len(rules) - 1, -1, -1):
            slot_steps = every_step(values, rules[slot], slot == 0)
            steps.append((values, slot_steps))
            values = different(_column(slot_steps, 3))
            edges += sum(len(step[0]) for step in slot_steps)
            within("steps", edges, MOST_EDGES)
        self._nodes: list[_Node] = []  # outermost first
        outer_values, count, counts = np.array([1], np.int64), np.ones((1, 1), np.int64), 0
        for values, slot_steps in reversed(steps):
            self._nodes.append(_node(values, slot_steps, outer_values, count, most_counts))
            counts += len(self._nodes[-1].first) * count.shape[1]
            within("counts", counts, 2 * most_counts)
            outer_values, count = values, self._nodes[-1].count

    @cached_property
    def counts(self) -> BigInts:
        """The number of chains of each group. # (group,)"""
        counts: BigInts = self._nodes[-1].count[0]
        return counts if self._tails is None else counts[self._tails]

    @property
    def total(self) -> int:
        return sum(map(int, self.counts))

    @cached_property
    def signature(self) -> Ints:
        """What each group tells of each slot. # (group, slot)"""
        return self._signature if self._tails is None else self._signature[self._tails]

    @property
    def over_one(self) -> NDArray[np.bool_]:
        """Whether each group has a bound over 1 at each slot that tells. # (group, slot)"""
        return self.signature > np.array([rule.tell == "bound" for rule in self.rules])

    @cached_property
    def _signature(self) -> Ints:
        """The same of each tail of the innermost slot. # (tail, slot)"""
        tails = len(self._nodes[-1].tail_label)
        signature = np.zeros((tails, len(self.rules)), np.int64)
        tail = np.arange(tails)
        for slot in range(len(self.rules) - 1, -1, -1):
            node = self._nodes[slot]
            signature[:, slot] = node.labels[node.tail_label[tail]]
            tail = node.tail_outer[tail]
        return signature

    @cached_property
    def _tails(self) -> Ints | None:
        """The tail of each group: those whose products are within their rules; None: all. # (group,)"""
        if not self._products:
            return None
        within = np.ones(len(self._signature), bool)
        for rule in self._products:
            product = self._signature[:, rule.slots].prod(axis=1)
            within &= (rule.lo <= product) & (product <= rule.hi)
        return np.flatnonzero(within)

    @cached_property
    def _before(self) -> list[BigInts]:
        """Per slot: the ways of all edges before each edge, edges listed tail by tail. # (outer tail * edge + 1,)"""
        tables = []
        for node in self._nodes:
            counts = _edge_counts(node).T.reshape(-1)
            counts = fitting(counts, counts.astype(float).sum())
            tables.append(np.concatenate([counts[:1] * 0, np.cumsum(counts)]))
        return tables

    def unrank(self, group: Ints, rank: BigInts) -> Ints:
        """The bounds of chain number `rank` of `group`. # (chain, slot)"""
        bounds = np.empty((len(group), len(self.rules)), np.int64)
        tail, state = group if self._tails is None else self._tails[group], np.zeros(len(group), np.int64)
        for slot in range(len(self.rules) - 1, -1, -1):
            node, before = self._nodes[slot], self._before[slot]
            label, outer_tail = node.tail_label[tail], node.tail_outer[tail]
            row = outer_tail * len(node.first)
            sought = before[row + node.run_start[label, state]] + rank
            place = np.searchsorted(before, sought, side="right") - 1
            edge = place - row
            state, tail = node.outer[edge], outer_tail
            step, rank = divide(sought - before[place], node.outer_count[state, tail])
            bounds[:, slot] = node.first[edge] + step
        return bounds

    def rank(self, bounds: Ints) -> tuple[Ints, BigInts]:
        """The group and the number in it of each chain # (chain, slot); ValueError if one is not in the space."""
        remaining, states = np.full(len(bounds), self.size, np.int64), np.empty_like(bounds)
        for slot in range(bounds.shape[1] - 1, -1, -1):
            values = self._nodes[slot].values
            states[:, slot] = np.minimum(np.searchsorted(values, remaining), len(values) - 1)
            known = (values[states[:, slot]] == remaining) & (bounds[:, slot] >= 1)
            self._require(known, bounds)
            remaining = -(-remaining // bounds[:, slot])
        tail, rank = np.zeros(len(bounds), np.int64), np.zeros(len(bounds), np.int64)
        for slot, node in enumerate(self._nodes):
            label, edge = self._edge(slot, states[:, slot], bounds)
            row, step = tail * len(node.first), bounds[:, slot] - node.first[edge]
            before = self._before[slot]
            rank = rank + step * node.outer_count[node.outer[edge], tail]
            rank = rank + before[row + edge] - before[row + node.run_start[label, states[:, slot]]]
            tail = node.tail_of[label, tail]
            self._require(tail >= 0, bounds)
        if self._tails is None:
            return tail, rank
        group = np.minimum(np.searchsorted(self._tails, tail), len(self._tails) - 1)
        self._require(self._tails[group] == tail, bounds)
        return group, rank

    def _edge(self, slot: int, state: Ints, bounds: Ints) -> tuple[Ints, Ints]:
        """The label and the edge of each chain at `slot`."""
        node, bound = self._nodes[slot], bounds[:, slot]
        value = label_of(bound, self.rules[slot])
        label = np.minimum(np.searchsorted(node.labels, value), len(node.labels) - 1)
        self._require(node.labels[label] == value, bounds)
        runs = node.run_end - node.run_start
        run = np.repeat(np.arange(runs.size), runs.reshape(-1))
        far = self.size + 1
        edge = np.searchsorted(run * far + node.first, (label * runs.shape[1] + state) * far + bound, "right") - 1
        last = node.first[edge] + node.ways[edge] - 1
        self._require((edge >= node.run_start[label, state]) & (bound <= last), bounds)
        return label, edge

    def _require(self, known: NDArray[np.bool_], bounds: Ints) -> None:
        if not known.all():
            raise ValueError(f"chain {bounds[known.argmin()].tolist()} of size {self.size} is not in the mapspace")


def _edge_counts(node: _Node) -> BigInts:
    """The chains through each edge. # (edge, outer tail)"""
    return node.ways[:, None] * node.outer_count[node.outer]


def _node(values: Ints, steps: list[Steps], outer_values: Ints, outer_count: BigInts, most: int) -> _Node:
    """One step of the dynamic programme: count[N, tail] = sum over the edges from N of ways * outer_count."""
    state = np.repeat(np.arange(len(values)), np.array([len(step[0]) for step in steps], np.int64))
    label, first, ways, outer = (_column(steps, i) for i in range(4))
    labels, label = np.unique(label, return_inverse=True)
    sort = np.lexsort((first, state, label))
    run = (label * len(values) + state)[sort]
    first, ways, outer = first[sort], ways[sort], np.searchsorted(outer_values, outer[sort])
    within("counts", len(labels) * len(values), most)
    grid = np.arange(len(labels) * len(values)).reshape(len(labels), len(values))
    start, end = np.searchsorted(run, grid), np.searchsorted(run, grid, side="right")
    largest = float(outer_count.max()) if outer_count.size else 0.0
    outer_count = fitting(outer_count, largest * float(ways.sum()))
    wide = WIDE if outer_count.dtype == object else 1
    within("counts", max(len(first), grid.size) * outer_count.shape[1] * wide, most)
    edge_counts = ways[:, None] * outer_count[outer]
    total = (
        np.concatenate([edge_counts[:1] * 0, np.cumsum(edge_counts, axis=0)])
        if len(edge_counts)
        else np.zeros((1, edge_counts.shape[1]), int)
    )
    count = (total[end] - total[start]).transpose(1, 0, 2)  # (state, label, outer tail)
    used = np.argwhere((count != 0).any(axis=0))  # (tail, 2)
    tail_of = np.full(count.shape[1:], -1, np.int64)
    tail_of[used[:, 0], used[:, 1]] = np.arange(len(used))
    return _Node(
        values, labels, start, end, outer, first, ways, outer_count, used[:, 0], used[:, 1], tail_of,
        count[:, used[:, 0], used[:, 1]],
    )  # fmt: skip
