"""The cycles in which an array with double-buffered elements waits for its next tile (docs/model.md, section 10).

A fold is the steps with one tile of the stationary tensor. Its T steps hide as many cycles of the exchange that runs
beside it, so that max(0, cycles of the exchange - T) are left. Their sum has the formula of `systolic.changes`: the
folds would be all choices of indices outside the boundary, and loops of other dims join those between which the tile
stays. There each fold counts 1, here what it leaves.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import mul

import numpy as np

from ...arch import Architecture
from ...workloads import Tensor
from ..mapping import ChainTable, Ints, Numbers, take_rows
from .nests import LevelSlots, NestAnalysis, level_slots

LOOSE, TIGHT = 0, 1  # contexts at whose indices the loops inside run in full; the one on the path of the last index


@dataclass(frozen=True, eq=False)
class Contexts:
    """The contexts of one dim at the spatial origin for every cut: how many, and what the loops inside step through."""

    times: Ints  # (kind, cut, chain)
    steps: Ints  # (kind, cut, chain) of the MACs

    def end(self, last: bool) -> Ints:
        """Take the kind of the first context, or of the last. # (cut, chain)"""
        kind: Ints = (self.times[TIGHT] > 0 if last else self.times[LOOSE] == 0).astype(np.int64)
        return kind


def contexts(table: ChainTable, arch: Architecture) -> Contexts:
    """The (cached) contexts of a chain table."""
    key = ("contexts of the origin", arch.axes)
    if key not in table.cache:
        slots = level_slots(table, arch)
        table.cache[key] = Contexts(_times(slots), steps_inside(slots, len(slots)))
    return table.cache[key]  # type: ignore[return-value]


def _times(slots: Sequence[LevelSlots]) -> Ints:
    """How many contexts of each kind there are at cuts 0 to the number of levels. # (kind, cut, chain)"""
    loose, tight = np.zeros_like(slots[0].bound), np.ones_like(slots[0].bound)
    by_cut = [(loose, tight)]
    for level in slots:
        loose = loose * level.bound + tight * level.digit
        leaves = tight * (level.fanout_digit > 0)  # coordinate 0 is below the last path
        loose, tight = loose + leaves, tight - leaves
        by_cut.append((loose, tight))
    return np.stack([np.stack(kind) for kind in zip(*by_cut, strict=True)])


def steps_inside(slots: Sequence[LevelSlots], boundary: int) -> Ints:
    """How many steps the loops between each cut and `boundary` have in a context of each kind. # (kind, cut, chain)"""
    loose = tight = np.ones_like(slots[0].bound)
    by_cut = [(loose, tight)] * (len(slots) + 1 - boundary)
    for level in reversed(slots[:boundary]):
        tight = level.digit * loose + np.where(level.fanout_digit > 0, loose, tight)
        loose = loose * level.bound
        by_cut.append((loose, tight))
    return np.stack([np.stack(kind) for kind in zip(*by_cut[::-1], strict=True)])


@dataclass(frozen=True, eq=False)
class Folds:
    """The folds of a batch in which `tensor` is stationary, an element holding its tile of `boundary`."""

    nest: NestAnalysis
    tensor: Tensor
    boundary: int

    def waits(self, exchange: Numbers) -> Numbers:
        """Sum what `exchange` # (mapping,) cycles leave beyond the steps of the fold beside them: of weights and inputs
        all folds but the last, into which nothing is loaded, of sums all but the first. # (mapping,)"""
        total = self._excess(self._at(self.boundary, None), exchange)
        for level, d in self._joining():
            other_kinds = self._at(level, d)
            total = total + self._excess([*other_kinds, self._kinds(d, level, level, None)], exchange)
            total = total - self._excess([*other_kinds, self._kinds(d, level + 1, level + 1, None)], exchange)
        alone: Numbers = self.nest.xp.maximum(exchange - self.steps(last=not self.tensor.output), 0)
        return total - alone

    def steps(self, last: bool) -> Numbers:
        """The steps of the first or the last fold. # (mapping,)"""
        columns = {d: self._end(d, last) for d in self.nest.dims}
        total = self.nest.product(take_rows(steps[self.boundary], self.nest.row(d)) for d, steps in columns.items())
        for level, d in self._joining():
            own = take_rows(columns[d][level] - columns[d][level + 1], self.nest.row(d))
            other_steps = [self._chosen(columns[e], level, e, d) for e in columns if e != d]
            total = total + self.nest.product([own, *other_steps])
        return total

    def _joining(self) -> Iterator[tuple[int, int]]:
        """Yield the loops outside the boundary that may leave the tile as it is, by level and dim."""
        names = self.nest.batch.workload.dims
        for level in range(self.boundary):
            yield from ((level, d) for d in self.nest.loops(level) if names[d] not in self.tensor.dims)

    def _own(self, d: int) -> bool:
        return self.nest.batch.workload.dims[d] in self.tensor.dims

    def _single(self, d: int) -> Ints:
        """1 for the kinds of context in which an element has a single tile; all, of a dim that the tensor lacks.
        # (kind, cut, chain)"""
        slots = level_slots(self.nest.batch.tables[d], self.nest.batch.arch)
        steps = steps_inside(slots, self.boundary)
        single: Ints = np.ones_like(steps) if not self._own(d) else (steps == 1).astype(np.int64)
        return single

    def _end(self, d: int, last: bool) -> Numbers:
        """The steps inside the first or the last context of dim d; 0 where it has several tiles. # (cut, chain)"""
        dim_contexts = contexts(self.nest.batch.tables[d], self.nest.batch.arch)
        kind, steps = dim_contexts.end(last), dim_contexts.steps * self._single(d)
        inside: Numbers = np.where(kind == TIGHT, steps[TIGHT], steps[LOOSE]).astype(self.nest.numbers)
        return inside

    def _at(self, level: int, moving: int | None) -> list[list[tuple[Numbers, Numbers]]]:
        """The kinds of context of all dims but `moving`, inside the loops outside the loop of that dim at `level`."""
        inner = level if moving is None else level + 1
        return [self._kinds(e, level, inner, moving) for e in self.nest.dims if e != moving]

    def _kinds(self, e: int, level: int, inner: int, moving: int | None) -> list[tuple[Numbers, Numbers]]:
        """How many contexts dim e has at cut `level`, or at `inner` where its loop stands outside that of `moving`, and
        the steps inside each, kind by kind; kinds that no chain tells apart are one. # (mapping,) each"""
        dim_contexts = contexts(self.nest.batch.tables[e], self.nest.batch.arch)
        cuts = [level, inner]
        times, steps = (dim_contexts.times * self._single(e))[:, cuts], dim_contexts.steps[:, cuts]
        if ((steps[LOOSE] == steps[TIGHT]) | (times == 0).any(axis=0)).all():
            steps = np.where(times[LOOSE] > 0, steps[LOOSE], steps[TIGHT])[None]
            times = times.sum(axis=0, keepdims=True)
        every = ((column.astype(self.nest.numbers) for column in kind) for kind in zip(times, steps, strict=True))
        return [tuple(self._either(column, e, level, moving) for column in kind) for kind in every]  # type: ignore[misc]

    def _chosen(self, columns: Numbers, level: int, e: int, d: int) -> Numbers:
        """Take the row of `columns` # (cut, chain) that the loops of dim e outside that of dim d at `level` give."""
        return self._either(columns[level : level + 2], e, level, d)

    def _either(self, columns: Numbers, e: int, level: int, moving: int | None) -> Numbers:
        """columns[0], or columns[1] where the loop of dim e is outside that of dim `moving` at `level`. # (mapping,)"""
        inside: Numbers = take_rows(columns[0], self.nest.row(e))
        if moving is None or moving == e or not self.nest.repeats(level, e):
            return inside
        more: Numbers = take_rows(columns[1], self.nest.row(e)) - inside
        chosen: Numbers = inside + more * self.nest.positions.before(level, e, moving)
        return chosen

    def _excess(self, dims: Sequence[Sequence[tuple[Numbers, Numbers]]], exchange: Numbers) -> Numbers:
        """Sum over all choices of a context per dim what is left of `exchange` beyond the steps inside. # (mapping,)"""
        one = self.nest.zeros() + 1
        classes = reduce(_crossed, dims, [(one, one)])
        excess = (times * self.nest.xp.maximum(exchange - steps, 0) for times, steps in classes)
        return reduce(lambda total, more: total + more, excess, self.nest.zeros())


def _crossed(
    classes: Sequence[tuple[Numbers, Numbers]], kinds: Sequence[tuple[Numbers, Numbers]]
) -> list[tuple[Numbers, Numbers]]:
    return [(mul(times, more), mul(steps, inside)) for times, steps in classes for more, inside in kinds]
