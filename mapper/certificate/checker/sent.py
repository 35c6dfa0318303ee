"""Counts the words that one level sends towards the next keeper, by executing the nest: all steps and children at once.

They are those that it hands out, or that only cross the array below it. Children of one of its instances that need the
identical set of new words in one step are sent it once (docs/model.md, sections 1 and 8).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ....arch import Architecture
from ....workloads import Tensor
from ...mapping import Bools, Ints, MappingBatch, unique_rows
from .blocks import left_over, touched

MOST = 20_000  # (step, child) pairs that are executed


@dataclass(frozen=True)
class _Loop:
    """A loop of more than one step, or of places."""

    level: int
    dim: int
    bound: int
    stride: int


def sent(
    batch: MappingBatch,
    i: int,
    orders: Sequence[Sequence[int]],
    tensor: Tensor,
    way: tuple[int, int],
    box: Sequence[int] = (),
) -> int | None:
    """Count the words of `tensor` that all instances of a level send to a child, the number of levels being the MACs:
    level and child of `way`.

    That is in mapping i of `batch`, with other `orders` of the dims at each level, outermost first. With a `box`, of so
    many indices per rank, they are the blocks that these words touch. None where there are more than MOST pairs of a
    step and a child.
    """
    arch, workload, (level, child) = batch.arch, batch.workload, way
    bounds = np.stack([table.bounds[row] for table, row in zip(batch.tables, batch.rows[i], strict=True)], axis=1)
    steps, places, tile = _nest(arch, bounds, orders, child)
    if prod(loop.bound for loop in (*steps, *places)) > MOST:
        return None
    start = [np.add.outer(_starts(steps, d), _starts(places, d)) for d in range(len(workload.dims))]
    active = np.logical_and.reduce([starts < size for starts, size in zip(start, workload.sizes, strict=True)])
    where = {dim: d for d, dim in enumerate(workload.dims)}
    first, last = (
        np.stack([sum(t.coef * edge[where[t.dim]] for t in rank) for rank in tensor.ranks], axis=2)
        for edge in (start, [np.minimum(s + t, n) - 1 for s, t, n in zip(start, tile, workload.sizes, strict=True)])
    )  # (step, child, rank)
    low, high, held = _held(first, last, active & (child < len(arch.levels)))
    owner = np.zeros(active.shape[1], np.int64)
    for number, loop in zip(_digits(places), places, strict=True):
        if loop.level < level:
            owner = owner * loop.bound + number
    group = np.add.outer(np.arange(len(active)) * (owner.max() + 1), owner)
    blocks = np.array(box or [1] * len(tensor.ranks))
    return _distinct(group[active], (first[active], last[active]), (low[active], high[active]), held[active], blocks)


def _nest(
    arch: Architecture, bounds: Ints, orders: Sequence[Sequence[int]], child: int
) -> tuple[list[_Loop], list[_Loop], list[int]]:
    """List the temporal and the spatial loops outside a child, outermost first, and the extents of its tile."""
    steps, places, tile = list[_Loop](), list[_Loop](), [1] * bounds.shape[1]
    for s, slot in enumerate(arch.slots):
        inside = bounds[s + 1 :].prod(axis=0)
        if slot.level >= child:
            tile = [int(extent) for extent in bounds[s:].prod(axis=0)]
            break
        every = range(bounds.shape[1]) if slot.spatial else orders[slot.level]
        loops = [_Loop(slot.level, d, int(bounds[s, d]), int(inside[d])) for d in every if bounds[s, d] > 1]
        (places if slot.spatial else steps).extend(loops)
    return steps, places, tile


def _digits(loops: list[_Loop]) -> Ints:
    """The index of each loop in every iteration of them all. # (loop, iteration)"""
    bounds = [loop.bound for loop in loops]
    return np.indices(bounds).reshape(len(loops), prod(bounds))


def _starts(loops: list[_Loop], d: int) -> Ints:
    """How far the loops of dim d are in every iteration of them all. # (iteration,)"""
    digits = _digits(loops)
    zero = np.zeros(digits.shape[1], np.int64)
    return sum((row * loop.stride for row, loop in zip(digits, loops, strict=True) if loop.dim == d), zero)


def _held(first: Ints, last: Ints, holds: Bools) -> tuple[Ints, Ints, Bools]:
    """Find what children still hold of their tiles: its ends # (step, child, rank), and whether it is anything at all.

    A child holds the tile of the last step in which it had one.
    """
    number = np.where(holds, np.arange(len(holds))[:, None], -1)
    before = np.full(holds.shape, -1)
    before[1:] = np.maximum.accumulate(number, axis=0)[:-1]
    child = np.arange(holds.shape[1])
    low = np.maximum(first, first[before, child])
    high = np.minimum(last, last[before, child])
    return low, high, (before >= 0) & (low <= high).all(axis=2)


def _distinct(group: Ints, tile: tuple[Ints, Ints], part: tuple[Ints, Ints], held: Bools, blocks: Ints) -> int:
    """Count the words in the different sets of new words of each group, or the blocks that they touch.

    Each set is a box less a box that is held. Where a part is new along one rank alone, the set is a product: of whole
    tiles and, along that rank, of an interval less a hole. Else both boxes can be read off it.
    """
    (first, last), (low, high) = tile, part
    changed = ((first != low) | (last != high)) & held[:, None]  # (child, rank)
    several = changed.sum(axis=1) > 1
    cut = changed & ~several[:, None]  # the rank along which a part of the tile is new
    begin = np.where(cut & (low == first), high + 1, first)
    end = np.where(cut & (high == last), low - 1, last)
    hole = several[:, None] | cut & (low > first) & (high < last)
    parts = np.stack([begin, end, np.where(hole, low, 0), np.where(hole, high, -1)], axis=2)
    keys = np.column_stack([group, several, parts.reshape(len(group), -1)])[~held | changed.any(axis=1)]
    sets, _ = unique_rows(keys)
    begin, end, low, high = np.moveaxis(sets[:, 2:].reshape(len(sets), -1, 4), 2, 0)
    tiles, new = touched(begin, end, blocks), left_over(begin, end, low, high, blocks)
    joint = tiles.prod(axis=1) - (tiles - new).prod(axis=1)
    words = np.where(sets[:, 1] == 1, joint, new.prod(axis=1))
    return int(words.sum())
