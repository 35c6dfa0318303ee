"""Finds the best loop orders of given chains: exactly, and without trying all permutations.

Words moved are sums over temporal loops, and a loop's term depends only on which loops of its own level are outside it
(counts.py). So levels are independent. Within a level, the best order of a set of loops whose innermost loop is d is
the best order of the other loops, followed by d: a dynamic programme over subsets. The hops of a word do not depend on
orders, so the energy of wires is words times constants, too. Cycles do not depend on orders unless a bandwidth binds.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations
from typing import override

import numpy as np

from ..bounds import MovementCost, word_pj
from ..mapping import Floats, Ints, MappingBatch
from ..mapspace import LevelOrder, Order
from ..model import WordsByLoop
from ..model.nests import DataMovement, LoopPositions, NestAnalysis


class _Outside(LoopPositions):
    """Positions of loops at the current level: the dims in `outside` have their loops outside the current loop."""

    outside: frozenset[int] = frozenset()

    @cached_property
    def _always(self) -> Floats:
        return np.ones(len(self.batch))

    @cached_property
    def _never(self) -> Floats:
        return np.zeros(len(self.batch))

    @override
    def before(self, level: int, e: int, d: int) -> Floats:
        return self._always if e in self.outside else self._never

    @override
    def which(self, level: int, dims: tuple[int, ...], d: int) -> Ints:
        number = 0
        for e in dims:
            number = 2 * number + (e in self.outside)
        return np.full(len(self.batch), number)


class _Nest(NestAnalysis):
    """A nest whose loop order at the current level is still open."""

    @cached_property
    @override
    def positions(self) -> _Outside:
        """The positions of loops, as set by the search."""
        return _Outside(self.batch)


class _Recounted:
    """A flow whose words are listed in some mappings, as the closed form may count too many there (recount.py)."""

    def __init__(self, nest: _Nest, plain: DataMovement, charge: MovementCost, flagged: Ints) -> None:
        assert charge.parent is not None, "what is received is never flagged"
        self.nest, self.plain, self.flagged, batch = nest, plain, flagged, nest.batch
        self.steps = [
            WordsByLoop(batch.take([i]), charge.tensor, charge.parent, charge.child, box=charge.unit.box)
            for i in flagged
        ]

    def stays(self, level: int, d: int) -> Floats:
        """Return the words that stay, up to a constant of each mapping: of those flagged minus the words that move."""
        words = np.zeros(len(self.nest.batch)) + self.plain.stays(level, d)
        words[self.flagged] = [-float(steps.at(level, d, self.nest.positions.outside)) for steps in self.steps]
        return words


def best_orders(
    batch: MappingBatch, charges: Sequence[MovementCost], orders: Sequence[LevelOrder], recounted: bool = False
) -> Order:
    """Find the loop orders with the least energy for the mappings of `batch`, which keep the same tensors.

    `orders` has the orders that each level allows. Flagged words count by the closed form, or exactly if `recounted`.
    # (mapping, level, position)
    """
    nest = _Nest(batch)

    def flow(charge: MovementCost) -> DataMovement | _Recounted:
        plain = DataMovement(nest, charge.tensor, charge.child, charge.parent, box=charge.unit.box)
        flagged = np.flatnonzero(~plain.exact() & recounted)
        return _Recounted(nest, plain, charge, flagged) if len(flagged) else plain

    flows = [(flow(c), c, word_pj(batch, c)) for c in charges if c.child < nest.levels]
    best = np.empty((len(batch), nest.levels, len(batch.workload.dims)), np.int8)
    for level, allowed in enumerate(orders):
        level_flows = [(flow, pj) for flow, charge, pj in flows if charge.child > level]
        best[:, level] = _LevelSearch(nest, level_flows, level).best(allowed)
    return best


class _LevelSearch:
    """The search for the best order at one level."""

    def __init__(self, nest: _Nest, flows: list[tuple[DataMovement | _Recounted, Floats]], level: int) -> None:
        self.nest, self.flows, self.level = nest, flows, level
        self.loops = set(nest.loops(level)) if flows else set()
        self._saved: dict[tuple[int, frozenset[int]], Floats] = {}

    def saved(self, d: int, outside: frozenset[int]) -> Floats:
        """Compute the energy saved by words that stay at steps of the loop of `d`, with the loops of `outside` outside
        it. # (mapping,)"""
        if (d, outside) not in self._saved:
            self.nest.positions.outside = outside
            total = np.zeros(len(self.nest.batch))
            for flow, pj in self.flows:
                total = total + pj * flow.stays(self.level, d)
            self._saved[d, outside] = total
        return self._saved[d, outside]

    def best(self, allowed: LevelOrder) -> Order:
        """Find the best order # (mapping, position); loops of bound 1 in every mapping are outside the free loops."""
        n = len(self.nest.batch)
        fixed = [d for d in allowed.outermost if d in self.loops]
        free = [d for d in allowed.free if d in self.loops]
        rest = [d for d in (*allowed.idle, *allowed.free) if d not in free]
        end = len(allowed.outermost) + len(rest) + len(free)
        order = np.empty((n, allowed.dims), np.int8)
        order[:, : end - len(free)] = [*allowed.outermost, *rest]
        order[:, end:] = allowed.innermost
        order[:, end - len(free) : end] = self._permuted(free, frozenset(fixed))
        return order

    def _permuted(self, free: list[int], front: frozenset[int]) -> Order:
        """Find the best order of the loops `free`, with those of `front` outside. # (mapping, position)"""
        n = len(self.nest.batch)
        best: dict[frozenset[int], Floats] = {frozenset(): np.zeros(n)}
        last: dict[frozenset[int], Ints] = {}  # the innermost loop of the best order of a set
        for size in range(1, len(free) + 1):
            for chosen in map(frozenset, combinations(free, size)):
                inner = sorted(chosen)
                savings = np.stack([best[chosen - {d}] + self.saved(d, front | (chosen - {d})) for d in inner])
                which = savings.argmax(axis=0)
                best[chosen], last[chosen] = savings.max(axis=0), np.array(inner)[which]
        order = np.empty((n, len(free)), np.int8)
        remaining = np.array([frozenset(free)] * n, dtype=object)
        for place in range(len(free) - 1, -1, -1):
            for chosen in set(remaining.tolist()):
                rows = np.flatnonzero(remaining == chosen)
                order[rows, place] = last[chosen][rows]
                for d in np.unique(order[rows, place]).tolist():
                    remaining[rows[order[rows, place] == d]] = chosen - {d}
        return order
