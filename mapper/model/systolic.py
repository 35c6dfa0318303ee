"""The cycles in which a systolic array fills and drains (docs/model.md, section 10).

In such an array words pass from element to element. One tensor is stationary: its tile stays in the elements, while the
others flow through them. Each change of that tile costs the cycles of its exchange and of the skew, or what the steps
beside it do not hide (fold_waits.py). How often it changes depends on the loop orders: it stays where only loops of
other dims step.
"""

from collections.abc import Iterator, Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from ...workloads import Tensor
from ..mapping import Bools, Mappings, Numbers, take_rows
from .fold_waits import Folds
from .nests import NestAnalysis, TileSizes


def fill_drain(nest: NestAnalysis) -> Numbers:
    """Count the cycles beyond those of the steps; 0 without systolic axes. # (mapping,)"""
    batch, array = nest.batch, nest.batch.arch.systolic
    if array is None:
        return nest.zeros()
    # each step changes all, where no tensor can be stationary
    cycles = nest.steps(nest.levels) * (array.rows + array.skew)
    for v, tensor in enumerate(batch.workload.tensors):
        own = nest.zeros()
        for boundary, holds in _boundaries(batch, v, array.level):
            words = TileSizes(nest).words(boundary, tensor) if boundary < nest.levels else 1
            own = own + holds * _exchanges(nest, tensor, boundary, array.rows * words)
        other_tensors = [other for other in batch.workload.tensors if other is not tensor]
        possible = _all_flow(nest, other_tensors) & _may_stay(batch, v, array.level)
        cycles = nest.xp.where(possible, nest.xp.minimum(cycles, own), cycles)
    return cycles


def _exchanges(nest: NestAnalysis, tensor: Tensor, boundary: int, exchange: Numbers | int) -> Numbers:
    """Count the cycles of fill and drain with `tensor` stationary, whose tile at `boundary` takes `exchange` cycles to
    move in or out. # (mapping,)"""
    array = nest.batch.arch.systolic
    assert array is not None
    if not array.double_buffered:
        return changes(nest, tensor, boundary) * (exchange + array.skew)
    exchange = nest.zeros() + exchange
    return exchange + array.skew + Folds(nest, tensor, boundary).waits(exchange)


def changes(nest: NestAnalysis, tensor: Tensor, boundary: int) -> Numbers:
    """Count the tiles of `tensor` that an instance of `boundary` has one after the other. # (mapping,)

    A tile is told by the indices of the tensor's dims. It stays at a step of the loop of another dim, unless a loop of
    the tensor inside it has come further than its first index.
    """
    names = nest.batch.workload.dims
    views = {d: nest.view(d, boundary, 0, 0) for d in nest.dims}
    total = nest.product(take_rows(view.times[boundary], nest.row(d)) for d, view in views.items())
    for level in range(boundary):
        for d in nest.loops(level):
            if names[d] in tensor.dims:
                continue
            columns = {e: view.single if names[e] in tensor.dims else view.times for e, view in views.items()}
            total = total - nest.product(_at_cut(nest, columns[e], level, e, d) for e in views)
    return total


def _at_cut(nest: NestAnalysis, columns: Numbers, level: int, e: int, d: int) -> Numbers:
    """Take the row of `columns` # (cut, chain) that the loops of dim e outside the loop of dim d at `level` give; of d
    itself what one more loop adds. # (mapping,)"""
    inside: Numbers = take_rows(columns[level], nest.row(e))
    more: Numbers = take_rows(columns[level + 1], nest.row(e)) - inside
    if e != d:
        more = inside + more * nest.positions.before(level, e, d)
    return more


def _boundaries(batch: Mappings, v: int, level: int) -> Iterator[tuple[int, Numbers]]:
    """Yield each boundary inside the array, and 1 where it is the outermost that holds tensor `v`. # (mapping,)

    It is a level that keeps the tensor, or the MACs, which hold one word.
    """
    levels = len(batch.arch.levels)
    free = np.ones(len(batch), bool)
    for boundary in range(level + 1, levels + 1):
        outermost = free & batch.keep[:, boundary, v] if boundary < levels else free
        if outermost.any():
            yield boundary, outermost.astype(batch.numbers)
        free = free & ~outermost


def _may_stay(batch: Mappings, v: int, level: int) -> Bools:
    """Mark the mappings under which tensor `v` may be stationary: levels inside keep it, or nothing. # (mapping,)"""
    inside = batch.keep[:, level + 1 :]
    kept: Bools = inside[:, :, v].any(axis=1) | ~inside.any(axis=(1, 2))
    return kept


def _all_flow(nest: NestAnalysis, tensors: Sequence[Tensor]) -> Bools:
    """Mark the mappings under which all `tensors` can flow, at most one along each direction. # (mapping,)"""
    array, possible = nest.batch.arch.systolic, nest.no()
    assert array is not None
    directions = (array.row_slots, array.column_slots)
    for chosen in permutations(directions, len(tensors)):  # none for more tensors than directions
        together = ~nest.no()
        for tensor, slots in zip(tensors, chosen, strict=True):
            together = together & _flows(nest, tensor, slots)
        possible = possible | together
    return possible


def _flows(nest: NestAnalysis, tensor: Tensor, slots: Sequence[int]) -> Bools:
    """Mark the mappings under which elements along some axes need the same words of `tensor`. # (mapping,)"""
    names, same = nest.batch.workload.dims, ~nest.no()
    for d in nest.dims:
        if names[d] in tensor.dims:
            bounds: NDArray[np.int64] = nest.batch.tables[d].bounds[:, list(slots)]
            same = same & take_rows((bounds == 1).all(axis=1), nest.row(d))
    return same
