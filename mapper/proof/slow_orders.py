"""Finds the best loop orders of given chains where a bandwidth binds: exactly, and without trying all permutations.

Energy and the words of each flow are sums over temporal loops, and a loop's term depends only on which loops of its own
level are outside it (best_orders.py). So an order is a point: its energy and the words of each flow. Of two orders of
the same loops, the same ones outside, one that is no worse in any of these stays no worse whatever the other loops do;
so of each set of loops only the points that no other covers are kept, then of all levels together. A point is dropped,
too, if its energy and cycles with the least that the remaining loops can add do not improve on the incumbents.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import override

import numpy as np

from ..bounds import MovementCost, flows, word_pj
from ..mapping import Bools, Floats, Ints, MappingBatch, uncovered_by_earlier
from ..mapspace import LevelOrder, Order
from ..model import Costs, WordsByLoop, rate
from ..model.nests import DataMovement, LoopPositions, NestAnalysis

MOST_LOOPS = 12  # of one level whose orders are searched
MOST_POINTS = 4_000  # of one set of loops, or of levels together
MOST_PAIRS = 2_000_000  # of points that are combined at once
SAFE = 1e-12  # relative, taken from cycles before they are rounded up

Useful = Callable[[Floats, Floats], Bools]  # (energies, cycles): whether mappings with at least these may be of use


class TooManyOrders(Exception):
    """The orders of these chains cannot be searched within the limits."""


class _Sets(LoopPositions):
    """Positions of one level's loops: for row i, those of `free` whose bit is set in i are outside all others."""

    free: tuple[int, ...] = ()
    front: frozenset[int] = frozenset()

    @override
    def before(self, level: int, e: int, d: int) -> Floats:
        rows = np.arange(len(self.batch))
        if e in self.free:
            return (rows >> self.free.index(e) & 1).astype(float)
        return np.full(len(rows), float(e in self.front))

    @override
    def which(self, level: int, dims: tuple[int, ...], d: int) -> Ints:
        number = np.zeros(len(self.batch), np.int64)
        for e in dims:
            number = 2 * number + self.before(level, e, d).astype(np.int64)
        return number


class _Nest(NestAnalysis):
    """A nest whose rows have every set of loops outside."""

    @cached_property
    @override
    def positions(self) -> _Sets:
        """The positions of loops, as set by the search."""
        return _Sets(self.batch)


@dataclass(frozen=True, eq=False)
class _Moved:
    """Words of a charge in one coordinate of the points."""

    coordinate: int
    figure: float  # of each word
    charge: MovementCost
    origin: bool
    steps: WordsByLoop | None  # where they are listed, as the closed form may count too many


@dataclass(frozen=True, eq=False)
class _Level:
    """The loops of a level whose order is free: what each adds to the points, by the set of those outside it."""

    free: tuple[int, ...]
    added: Floats  # (loop, set, coordinate)
    least: Floats  # (set, coordinate) what the loops not in the set add at least, inside it
    most: Floats  # (set, coordinate)

    @classmethod
    def of(cls, free: tuple[int, ...], added: Floats) -> "_Level":
        """Add up the least and the most of each coordinate, alone."""
        sets = added.shape[1]
        least, most = np.zeros((2, sets, added.shape[2]))
        for chosen in range(sets - 2, -1, -1):
            inner = [(i, chosen | 1 << i) for i in range(len(free)) if not chosen >> i & 1]
            least[chosen] = np.min([added[i, chosen] + least[more] for i, more in inner], axis=0)
            most[chosen] = np.max([added[i, chosen] + most[more] for i, more in inner], axis=0)
        return cls(free, added, least, most)

    def of_order(self, order: Sequence[int]) -> Floats:
        """Add up the point of an order. # (coordinate,)"""
        total, chosen = np.zeros(self.added.shape[2]), 0
        for d in (d for d in order if d in self.free):
            i = self.free.index(d)
            total, chosen = total + self.added[i, chosen], chosen | 1 << i
        return total


@dataclass(frozen=True, eq=False)
class Points:
    """Orders that may be of use, with their energies and cycles. # (order,) each"""

    orders: Order  # (order, level, position)
    energy_pj: Floats
    cycles: Floats


class SlowOrders:
    """The loop orders of one mapping, whose exact costs in its own order are `costs`."""

    def __init__(
        self,
        mapping: MappingBatch,
        costs: Costs,
        charges: Sequence[MovementCost],
        allowed: Sequence[LevelOrder],
        leak: float,
    ) -> None:
        self.mapping, self.costs, self.allowed, self.leak = mapping, costs, allowed, leak
        self.flows = flows(mapping.arch, mapping.workload, mapping.keep[0], costs.options)
        self.moved = list(self._moved(charges))
        self.levels = [self._level(level) for level in range(len(allowed))]
        own = sum(level.of_order(self.mapping.order[0, i].tolist()) for i, level in enumerate(self.levels))
        self.constant = self._own_point() - own

    def useful(self, useful: Useful, least_cycles: float, late: Callable[[], bool]) -> Points:
        """Find the orders that may be of use: for each other order one of them is as good, or it is of no use.

        Each takes `least_cycles` at least. Raises TooManyOrders, also where time is up.
        """
        starts = float(self.costs.counts.starts[0])
        least = max(least_cycles, float(self.costs.counts.cycles[0])) - starts
        search = _Search(self, useful, least, starts, late)
        points, orders = search.run()
        return Points(self._arranged(orders), *search.costs(points))

    def _moved(self, charges: Sequence[MovementCost]) -> Iterator[_Moved]:
        """List the words that the order of loops decides about."""
        nest, levels = NestAnalysis(self.mapping), len(self.allowed)
        listed: dict[tuple[str, int, int | None, bool, tuple[int, ...]], WordsByLoop | None] = {}

        def steps(charge: MovementCost, origin: bool) -> WordsByLoop | None:
            key = charge.tensor.name, charge.child, charge.parent, origin, charge.unit.box
            if key not in listed:
                box = charge.unit.box
                exact = DataMovement(nest, charge.tensor, charge.child, charge.parent, box=box).exact()[0]
                parent = charge.parent or 0  # what is received is never flagged
                listed[key] = (
                    None if exact else WordsByLoop(self.mapping, charge.tensor, parent, charge.child, origin, box)
                )
            return listed[key]

        for charge in charges:
            if charge.child < levels:
                pj = float(np.broadcast_to(word_pj(self.mapping, charge), 1)[0])
                yield _Moved(0, pj, charge, False, steps(charge, False))
        for i, flow in enumerate(self.flows, 1):
            for charge, words in zip(flow.charges, flow.words, strict=True):
                if charge.child < levels:
                    yield _Moved(i, float(words), charge, True, steps(charge, True))

    def _own_point(self) -> Floats:
        """The point of the mapping's own order. # (coordinate,)"""
        counts, cycles = self.costs.counts, float(self.costs.cycles[0])
        words = [counts.limited(flow.bandwidth)[0, list(flow.levels)].sum() for flow in self.flows]
        return np.array([float(self.costs.energy_pj[0]) - self.leak * cycles, *map(float, words)])

    def _level(self, level: int) -> _Level:
        """Compute what the loops of a level add to the points. Raises TooManyOrders."""
        batch, allowed = self.mapping, self.allowed[level]
        slot = [s for s, arch_slot in enumerate(batch.arch.slots) if not arch_slot.spatial][level]
        moving = {d for d, table in enumerate(batch.tables) if table.bounds[batch.rows[0, d], slot] > 1}
        free, front = tuple(d for d in allowed.free if d in moving), frozenset(allowed.outermost) & moving
        if len(free) > MOST_LOOPS:
            raise TooManyOrders
        sets = 1 << len(free)
        nest = _Nest(batch.take(np.zeros(sets, np.int64)))
        nest.positions.free, nest.positions.front = free, front
        added = np.zeros((len(free), sets, 1 + len(self.flows)))
        for moved in (moved for moved in self.moved if moved.charge.child > level):
            charge = moved.charge
            movement = DataMovement(nest, charge.tensor, charge.child, charge.parent, moved.origin, box=charge.unit.box)
            for i, d in enumerate(free):
                if moved.steps is None:
                    added[i, :, moved.coordinate] -= moved.figure * movement.stays(level, d)
                    continue
                for chosen, outside in _chosen(free, front, i):
                    added[i, chosen, moved.coordinate] += moved.figure * moved.steps.at(level, d, outside)
        return _Level.of(free, added)

    def _arranged(self, orders: Sequence[Ints]) -> Order:
        """Make whole loop orders of those of the free loops, per level. # (order, level, position)"""
        whole_orders = np.repeat(self.mapping.order, len(orders[0]), axis=0)
        for i, (level, allowed) in enumerate(zip(self.levels, self.allowed, strict=True)):
            still = [d for d in (*allowed.idle, *allowed.free) if d not in level.free]
            front = [*allowed.outermost, *still]
            end = len(front) + len(level.free)
            whole_orders[:, i, : len(front)], whole_orders[:, i, end:] = front, allowed.innermost
            whole_orders[:, i, len(front) : end] = orders[i]
        return whole_orders


@dataclass(eq=False)
class _Search:
    """The search for the points of one combination of chains."""

    of: SlowOrders
    useful: Useful
    least_cycles: float  # beside the starts
    starts: float  # cycles in which tiles begin, the same in every order
    late: Callable[[], bool]

    def run(self) -> tuple[Floats, list[Ints]]:
        """Find the points that may be of use # (point, coordinate), and per level their orders. # (point, loop)"""
        levels = self.of.levels
        least, most = sum(level.least[0] for level in levels), sum(level.most[0] for level in levels)
        points, orders = self.of.constant[None], list[Ints]()
        for level in levels:
            least, most = least - level.least[0], most - level.most[0]  # of the levels not yet combined
            start, end = points.min(axis=0), points.max(axis=0)
            level_points, own = self._of_level(level, start + least, self._floor(most) - end)
            if len(points) * len(level_points) > MOST_PAIRS:
                raise TooManyOrders
            one, other = np.divmod(np.arange(len(points) * len(level_points)), max(len(level_points), 1))
            points = points[one] + level_points[other]
            stay = self._kept(points, least, self._floor(most))
            points, orders = points[stay], [*(level_orders[one[stay]] for level_orders in orders), own[other[stay]]]
            if not len(points):
                return points, [np.zeros((0, len(level.free)), np.int64) for level in levels]
        return points, orders

    def costs(self, points: Floats) -> tuple[Floats, Floats]:
        """Compute energy and cycles of points. # (point,) each"""
        cycles = np.full(len(points), self.least_cycles)
        for i, flow in enumerate(self.of.flows, 1):
            words, of_cycles = rate(flow.bandwidth.rate)
            cycles = np.maximum(cycles, np.ceil(points[:, i] * of_cycles / words * (1 - SAFE)))
        cycles = cycles + self.starts
        return points[:, 0] + self.of.leak * cycles, cycles

    def _floor(self, most: Floats) -> Floats:
        """Return the words up to which a flow does not bind if `most` are added; none of the energy. # (coordinate,)"""
        free = [rate(flow.bandwidth.rate) for flow in self.of.flows]
        return np.array([-np.inf, *(self.least_cycles * words / cycles for words, cycles in free)]) - most

    def _of_level(self, level: _Level, start: Floats, floor: Floats) -> tuple[Floats, Ints]:
        """Find the points of the orders of a level, where what is outside adds `start` at least. # (point, ...) each"""
        loops = len(level.free)
        by_set = {0: (np.zeros((1, len(start))), np.zeros((1, 0), np.int64))}
        for chosen in sorted(range(1, 1 << loops), key=int.bit_count):
            points, orders = [], []
            for i in (i for i in range(loops) if chosen >> i & 1):
                outer, order = by_set[chosen & ~(1 << i)]
                points.append(outer + level.added[i, chosen & ~(1 << i)])
                orders.append(np.column_stack([order, np.full(len(order), level.free[i])]))
            every = np.concatenate(points)
            stay = self._kept(every, start + level.least[chosen], floor - level.most[chosen])
            by_set[chosen] = every[stay], np.concatenate(orders)[stay]
        return by_set[(1 << loops) - 1]

    def _kept(self, points: Floats, least: Floats, floor: Floats) -> Ints:
        """Select the points that may be of use and that no other covers; at least `least` is added to each.

        Below `floor` words do not matter. Raises TooManyOrders.
        """
        if self.late():
            raise TooManyOrders
        useful = np.flatnonzero(self.useful(*self.costs(points + least)))
        compared = np.maximum(points[useful], floor)
        order = np.lexsort(compared.T[::-1])
        stay = useful[order[uncovered_by_earlier(compared[order], compared[order])]]
        if len(stay) > MOST_POINTS:
            raise TooManyOrders
        return stay


def _chosen(free: Sequence[int], front: Collection[int], i: int) -> Iterator[tuple[int, list[int]]]:
    """Yield the sets of free loops without the loop i, and all dims outside it: those of `front` and of the set."""
    for chosen in range(1 << len(free)):
        if not chosen >> i & 1:
            yield chosen, [*front, *(d for j, d in enumerate(free) if chosen >> j & 1)]
