"""Finds the least cost of single combinations of chains over all loop orders, for the verdict EVALUATED.

The model (mapper/model/counts.py), which tests compare with the executor, counts each order; words that its closed form
may count too high are counted by executing what a level sends (sent.py). The energy that a level's order saves does not
depend on the orders of other levels (docs/optimal.md, section 2), so the orders of each level are tried alone. Where
that does not settle a combination under bandwidths, each order of each level is counted with the words of the busiest
instances, which are such sums, too.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations
from math import factorial

import numpy as np

from ...mapping import (
    Bools,
    ChainTable,
    Floats,
    Ints,
    MappingBatch,
    keeper_pairs,
    uncovered_by_earlier,
    unique_rows,
)
from ...mapspace import Order
from ...model import Costs, Counts, WordsByLoop, count, evaluate, rate, recount, validity
from ...model.nests import Crossings, DataMovement, NestAnalysis
from .problem import Problem, Refused
from .sent import sent

MOST = 50_000  # orders tried for one level of a combination
MOST_PAIRS = 5_000_000  # of orders of several levels, combined at once
TOGETHER = 4096  # mappings evaluated at once
ROUNDED = 1e-9  # relative, taken from cycles before they are rounded up

Settled = Callable[[Floats, Floats], Bools]  # (energies, cycles): whether mappings with at least these are no better


@dataclass(frozen=True, eq=False)
class _Flagged:
    """The words of combinations, all of which keep the same tensors, that the closed form may count too high."""

    combinations: MappingBatch
    wires: bool  # whether words that cross arrays count

    def counted(self, batch: MappingBatch, counts: Counts, combinations: Ints) -> Counts:
        """Count the flagged words of `batch` anew: combinations `combinations` in its orders, `counts` those in closed
        form."""
        reads, crossed, exact = counts.reads.copy(), np.zeros(counts.reads.shape), counts.exact
        bursts, rows = counts.burst_reads.copy(), counts.activations.copy()
        if self.wires:
            closed = counts.crossings()
            crossed, exact = closed.words.copy(), closed.exact
        for i, combination in [(i, int(combinations[i])) for i in np.flatnonzero(~exact).tolist()]:
            for v, level, child in self._flows(combination):
                words = self._sent(combination, v, level, child, batch.order[i].tolist())
                if batch.keep[i, level, v]:
                    reads[i, level, v] = words
                    if batch.arch.levels[level].dram is not None:
                        blocks = batch.arch.levels[level].blocks(batch.workload, batch.workload.tensors[v])
                        bursts[i, v] = self._sent(combination, v, level, child, batch.order[i].tolist(), blocks.burst)
                        if blocks.row is not None:
                            rows[i, v] = self._sent(combination, v, level, child, batch.order[i].tolist(), blocks.row)
                if batch.arch.levels[level].instances_below > 1:
                    crossed[i, level, v] = words
        every = np.ones(len(batch), bool)
        inexact = np.zeros_like(counts.inexact)
        return replace(
            counts,
            reads=reads,
            burst_reads=bursts,
            activations=rows,
            inexact=inexact,
            crossings=lambda _=None: Crossings(crossed, every),
        )

    @cache  # noqa: B019 - gone with the few combinations that this object is about
    def _flows(self, i: int) -> list[tuple[int, int, int]]:
        """List (tensor, level, child) of combination i: words that the level sends to the next keeper inside, or that
        only cross the array below it."""
        single, flagged = self.combinations.take([i]), []
        nest = NestAnalysis(single)
        for v, tensor in enumerate(single.workload.tensors):
            for parent, child, _ in keeper_pairs(single.keep[:, :, v]):
                for level in (parent, *range(parent + 1, child if self.wires else 0)):
                    boxes: list[tuple[int, ...]] = [()]
                    if level == parent and single.arch.levels[level].dram is not None:
                        blocks = single.arch.levels[level].blocks(single.workload, tensor)
                        boxes += [blocks.burst, blocks.row or ()]
                    if not all(DataMovement(nest, tensor, child, level, box=box).exact()[0] for box in boxes):
                        flagged.append((v, level, child))
        return flagged

    @cache  # noqa: B019
    def _steps(self, i: int, v: int, level: int, child: int, box: tuple[int, ...]) -> WordsByLoop:
        return WordsByLoop(self.combinations.take([i]), self.combinations.workload.tensors[v], level, child, box=box)

    def _sent(self, i: int, v: int, level: int, child: int, order: list[list[int]], box: tuple[int, ...] = ()) -> int:
        """Count the words that a level sends in a loop order: execute it where that is quick, else list them by the
        model."""
        executed = sent(self.combinations, i, order, self.combinations.workload.tensors[v], (level, child), box)
        if executed is not None:
            return executed
        steps = self._steps(i, v, level, child, box)
        total = steps.first()
        for outer in range(child if child < len(order) else 0):  # MACs keep no word: each step is like the first
            total += sum(steps.at(outer, d, order[outer][:place]) for place, d in enumerate(order[outer]))
        return total


class Orders:
    """The loop orders of combinations `chains` # (combination, dim) that keep the tensors `keep` # (level, tensor)."""

    def __init__(self, problem: Problem, keep: Bools, chains: Ints) -> None:
        self.problem, self.keep = problem, keep
        levels = tuple(storage.with_rates(lambda _: None) for storage in problem.arch.levels)
        plain = replace(problem.arch, levels=levels)  # without bandwidths
        tables, rows = [], np.empty(chains.shape, np.int64)
        for d, dim in enumerate(problem.chains):
            used, rows[:, d] = np.unique(chains[:, d], return_inverse=True)
            tables.append(ChainTable(dim.size, dim.bounds[used]))
        nothing = np.zeros((len(problem.arch.levels), len(problem.workload.dims)), bool)
        first = np.array([next(self._every(level, moving)) for level, moving in enumerate(nothing)], np.int8)
        order, keeps = np.repeat(first[None], len(chains), axis=0), np.repeat(keep[None], len(chains), axis=0)
        self._batch = MappingBatch(plain, problem.workload, tuple(tables), rows, order, keeps)
        self._flagged = _Flagged(self._batch, problem.costs.has_interconnect)
        loops = [dim.time[chains[:, d]] > 1 for d, dim in enumerate(problem.chains)]
        self._moving = np.stack(loops, axis=2)  # (combination, level, dim) whether it has a loop there

    def settled(self, settled: Settled, cycles: Floats) -> Bools:
        """Mark the combinations that are invalid, or settled in every loop order, where each has at least so many
        `cycles` in any. # (combination,)"""
        done: Bools = validity(self._batch) != 0
        remaining = np.flatnonzero(~done)
        for part in np.array_split(remaining, -(-len(remaining) // TOGETHER)) if len(remaining) else ():
            energy, steps = self._least(part)
            done[part] = settled(energy, np.maximum(steps, cycles[part]))
        if any(level.bandwidths for level in self.problem.arch.levels):
            for i in np.flatnonzero(~done).tolist():
                done[i] = self._all_settled(i, settled, float(cycles[i]))
        return done

    def _every(self, level: int, moving: Bools) -> Iterator[list[int]]:
        """Yield the orders that a level allows and that differ in loops of more than one step.

        Raises Refused where they are too many.
        """
        storage, dims = self.problem.arch.levels[level], self.problem.workload.dims
        front = [dims.index(dim) for dim in storage.temporal.outermost if dim in dims]
        back = [dims.index(dim) for dim in storage.temporal.innermost if dim in dims]
        rest = [d for d in range(len(dims)) if d not in (*front, *back)]
        free = [d for d in rest if moving[d]]
        if factorial(len(free)) > MOST:
            raise Refused(f"{len(free)} loops at {storage.name} have too many orders to be tried")
        idle = [d for d in rest if not moving[d]]
        yield from ([*front, *idle, *middle, *back] for middle in permutations(free))

    # Level by level

    def _least(self, part: Ints) -> tuple[Floats, Floats]:
        """Compute the least energy over all orders, and the compute cycles. # (part,) each"""
        base = self._costs(part, self._batch.order[part])
        energy = base.energy_pj.copy()
        for level in range(len(self.problem.arch.levels)):
            least = np.full(len(part), np.inf)  # where it has several orders
            for places, every in self._tried(level, self._moving[part, level]):
                orders = self._batch.order[part[places]].copy()
                orders[:, level] = every
                np.minimum.at(least, places, self._costs(part[places], orders).energy_pj)
            energy += np.where(np.isfinite(least), least - base.energy_pj, 0.0)
        return energy, base.cycles

    def _tried(self, level: int, moving: Bools) -> Iterator[tuple[Ints, Order]]:
        """Yield the orders of a level that combinations with loops at `moving` # (combination, dim) have, where there
        are several: places of combinations, and an order for each, about TOGETHER at once."""
        waiting: list[tuple[Ints, Order]] = []
        for kind, copies in _distinct_rows(moving):
            every = np.array(list(self._every(level, kind)), np.int8)
            number = -(-len(copies) * len(every) // TOGETHER) if len(every) > 1 else 0
            for lot in np.array_split(copies, min(len(copies), number)) if number else ():
                waiting.append((np.repeat(lot, len(every)), np.tile(every, (len(lot), 1))))
                if sum(len(places) for places, _ in waiting) >= TOGETHER:
                    yield _joined(waiting)
                    waiting = []
        if waiting:
            yield _joined(waiting)

    def _costs(self, combinations: Ints, orders: Order) -> Costs:
        """Count and cost some combinations in these orders exactly, without bandwidths."""
        batch = replace(self._batch.take(combinations), order=orders)
        counts = count(batch)
        counts = self._flagged.counted(batch, counts, combinations)
        return evaluate(batch, self.problem.table, self.problem.costs, counts)

    # Energy and the words of the busiest instances together

    def _all_settled(self, i: int, settled: Settled, least_cycles: float) -> bool:
        """Test whether every order of a combination is settled, by its exact costs with bandwidths.

        Energy and words are sums over levels. Orders that are settled with the least that the other levels can add are
        dropped, and so are those that another order of the same levels is as good as.
        """
        own, starts = self._counted(i, self._batch.order[i][None]), float(count(self._batch.take([i])).starts[0])
        tried = [self._counted(i, self._with(i, level)) - own for level in range(len(self._moving[i]))]
        least, points = sum(np.min(changes, axis=0) for changes in tried), own
        for changes in map(_uncovered, tried):
            least = least - np.min(changes, axis=0)
            if len(points) * len(changes) > MOST_PAIRS:
                return False
            points = (points[:, None] + changes[None]).reshape(-1, points.shape[1])
            unsettled = ~settled(*_with_bandwidths(self.problem, points + least, least_cycles, starts))
            points = _uncovered(points[unsettled])
        return not len(points)

    def _with(self, i: int, level: int) -> Order:
        """Return the orders of combination i with every order of one level. # (order, level, position)"""
        every = np.array(list(self._every(level, self._moving[i, level])), np.int8)
        orders = np.repeat(self._batch.order[i][None], len(every), axis=0)
        orders[:, level] = every
        return orders

    def _counted(self, i: int, orders: Order) -> Floats:
        """Count energy without leakage, and the words that pass each bandwidth, of combination i in these orders.

        # (order, 1 + bandwidth)
        """
        points = []
        for start in range(0, len(orders), TOGETHER):
            block = orders[start : start + TOGETHER]
            copies = self._batch.take(np.full(len(block), i))
            batch = replace(copies, arch=self.problem.arch, order=block)
            counts, plain = count(batch), replace(self.problem.costs, leakage=False)
            parts = [(batch, counts)]
            if not counts.exact.all():
                singles = [batch.take([j]) for j in range(len(batch))]
                parts = [(single, recount(single)) for single in singles]
            for part, part_counts in parts:
                # the counts of `costs` have drained words, if they count
                costs = evaluate(part, self.problem.table, plain, part_counts)
                energy = costs.energy_pj - costs.leak_energy_pj  # a DRAM is refreshed whatever is charged
                points.append(np.column_stack([energy, *_limited_words(self.problem, costs.counts)]))
        return np.concatenate(points)


def _limited_words(problem: Problem, counts: Counts) -> Iterator[Floats]:
    """Add up what the levels of each memory move at its busiest instance, for each bandwidth. # (order,) each"""
    for memory in problem.memories:
        for limit in memory.storage.bandwidths:
            yield counts.limited(limit)[:, list(memory.levels)].astype(float).sum(axis=1)


def _with_bandwidths(problem: Problem, points: Floats, least_cycles: float, starts: float) -> tuple[Floats, Floats]:
    """Compute energy and cycles, at least `least_cycles`, from energies without leakage, words and the cycles in which
    tiles begin. # (point,) each"""
    cycles = np.full(len(points), least_cycles)
    limits = [limit for memory in problem.memories for limit in memory.storage.bandwidths]
    for column, limit in enumerate(limits, 1):
        words, in_cycles = rate(limit.rate)
        cycles = np.maximum(cycles, np.ceil(points[:, column] * in_cycles / words * (1 - ROUNDED)) + starts)
    return points[:, 0] + problem.costs.leak_pj_per_cycle(problem.arch, problem.table) * cycles, cycles


def _uncovered(points: Floats) -> Floats:
    """Select the points that no other is as good as. # (point, axis)"""
    points = points[np.lexsort(points.T[::-1])]
    return points[uncovered_by_earlier(points, points)]


def _joined(lots: Sequence[tuple[Ints, Order]]) -> tuple[Ints, Order]:
    return np.concatenate([places for places, _ in lots]), np.concatenate([orders for _, orders in lots])


def _distinct_rows(rows: Bools) -> Iterator[tuple[Bools, Ints]]:
    """Yield each distinct row, with the indices of its copies."""
    different, which = unique_rows(rows)
    for i, row in enumerate(different):
        yield row, np.flatnonzero(which == i)
