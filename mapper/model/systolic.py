"""Cycles that a systolic array takes to fill and drain, for each new tile that stays in it (docs/systolic.md)."""

from functools import reduce

import numpy as np

from ..mapping import Bools, ChainTable, Ints, MappingBatch, Numbers, take_rows
from .exactness import exactly
from .level_slots import level_slots
from .nest_analysis import NestAnalysis


def fold_cycles(nest: NestAnalysis) -> Numbers:
    """The cycles of filling and draining: so many for each fold; 0 without a systolic array. # (mapping,)"""
    found = nest.batch.arch.systolic
    return nest.zeros() if found is None else folds(nest) * found[1]


def folds(nest: NestAnalysis) -> Numbers:
    """How many tiles stay in the array, one after the other. # (mapping,)

    Of the tensors that levels inside the array keep, that which changes least often is the one that stays; where none
    is kept there, of all tensors at the MACs. A tile changes with each turn of the innermost loop over a dim of its
    tensor, and of those outside it: it is loaded again where a remainder leaves that loop a single turn.
    """
    found = nest.batch.arch.systolic
    assert found is not None
    tensors = range(len(nest.batch.workload.tensors))
    least, kept = nest.zeros() + np.inf, nest.no()
    for v in tensors:
        left = ~nest.no()
        for child in range(found[0] + 1, nest.levels):
            here = left & nest.batch.keep[:, child, v]
            least = nest.xp.where(here, nest.xp.minimum(least, _turns(nest, v, child)), least)
            left, kept = left & ~here, kept | here
    bare = reduce(nest.xp.minimum, [_turns(nest, v, nest.levels) for v in tensors])
    return nest.xp.where(kept, least, bare).astype(nest.numbers)  # type: ignore[no-any-return]


def filling(batch: MappingBatch) -> tuple[int, int]:
    """The folds of one mapping, and the cycles in which its systolic array fills and drains; 0 without one."""
    whole = exactly(batch)
    if whole.arch.systolic is None:
        return 0, 0
    number = int(folds(NestAnalysis(whole))[0])
    return number, number * whole.arch.systolic[1]


def _turns(nest: NestAnalysis, v: int, child: int) -> Numbers:
    """How many tiles of a tensor a place of boundary `child` holds, one after the other. # (mapping,)"""
    workload, xp = nest.batch.workload, nest.xp
    relevant = [d for d in nest.dims if workload.dims[d] in workload.tensors[v].dims]
    turns, found = nest.zeros() + 1, nest.no()
    for level in range(child - 1, -1, -1):
        innermost = xp.full(len(nest.batch), -1, dtype=np.int8)
        for d in relevant:
            if nest.repeats(level, d):
                own = xp.where(_moves(nest, level, d), nest.positions.position(level, d), -1)
                innermost = xp.maximum(innermost, own)
        last = ~found & (innermost >= 0)
        every = nest.product(_until(nest, level, d, innermost) for d in nest.dims)
        turns, found = xp.where(last, every, turns), found | last
    return turns


def _moves(nest: NestAnalysis, level: int, d: int) -> Bools:
    """Whether the temporal loop of dim d at `level` has a bound over 1. # (mapping,)"""
    return take_rows(level_slots(nest.batch.tables[d], nest.batch.arch)[level].bound > 1, nest.row(d))


def _until(nest: NestAnalysis, level: int, d: int, innermost: Ints) -> Numbers:
    """Turns of the loops of dim d outside `level`, and of that at `level` unless it is inside the `innermost` loop."""
    outside, through = (take_rows(_steps(nest, d, end), nest.row(d)) for end in (level, level + 1))
    return nest.xp.where(nest.positions.position(level, d) <= innermost, through, outside)  # type: ignore[no-any-return]


def _steps(nest: NestAnalysis, d: int, end: int) -> Ints:
    """Combinations of the temporal loops of dim d at levels before `end` in which the spatial origin has work.
    # (chain,)

    Slots from the outermost in: `last` marks the chains whose path is still the last one, `inside` counts the others.
    """
    table: ChainTable = nest.batch.tables[d]
    key = "folds", end, nest.batch.arch.axes
    if key not in table.cache:
        inside, last = np.zeros(len(table.bounds), np.int64), np.ones(len(table.bounds), np.int64)
        for s, slot in enumerate(nest.batch.arch.slots):
            digits = table.digits[:, s]
            if slot.spatial or slot.level >= end:  # at the origin, and at the first step
                inside, last = inside + last * (digits > 0), last * (digits == 0)
            else:
                inside = inside * table.bounds[:, s] + last * digits
        table.cache[key] = inside + last
    steps = table.cache[key]
    assert isinstance(steps, np.ndarray)
    return steps
