"""Hops: how far the words of each tensor travel in the arrays below the levels (docs/model.md, Network).

The array below a level is a mesh whose words come in at the left, half way up. A word that several places need goes
right along one row as far as the rightmost of them, and from there up and down the columns that have one. That is
Timeloop's network (its class Legacy); its figures for perfect nests are ours.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import prod

import numpy as np

from ...arch import Architecture
from ...workloads import Tensor
from ..mapping import Floats, Ints, Mappings, Numbers, floats, unique_rows

Axes = tuple[tuple[bool, int, int], ...]  # of each axis of one level: along X, size, instances of the axes inside it
# How the words differ from one iteration of a loop to the next: not at all, wholly, or by a move along each rank.
Moves = tuple[int, ...] | None
SAME: Moves = ()
OTHER: Moves = None
Loops = tuple[tuple[tuple[int, Moves], ...], ...]  # bound and moves of the loops on each axis, innermost first


def word_hops(batch: Mappings, crossings: Numbers) -> Floats:
    """Words that cross the array below each level, times the hops of each there. # (mapping, level, tensor)

    `crossings` are these words # (mapping, level, tensor). Inputs go in, outputs come out; an output's words that go in
    again are not charged, as in Timeloop. A word passes the arrays of all levels from where it is kept to where it is
    kept next.
    """
    total = np.zeros(crossings.shape)
    for level in range(len(batch.arch.levels)):
        for v, tensor in enumerate(batch.workload.tensors):
            where = np.flatnonzero(crossings[:, level, v])
            if len(where):
                total[where, level, v] = floats(crossings[where, level, v]) * hops(batch.take(where), level, tensor)
    return total


def hops(batch: Mappings, level: int, tensor: Tensor) -> Floats:
    """Hops of a word of `tensor` in the array below `level`, the mean over its multicast groups. # (mapping,)

    Of the full bounds: in an imperfect last round fewer places are in use. Bounds that do not fit the array have no
    places there, and no hops.
    """
    slots = [s for s, slot in enumerate(batch.arch.slots) if slot.level == level and slot.spatial]
    bounds = np.stack([table.bounds[batch.rows[:, d]][:, slots] for d, table in enumerate(batch.tables)], axis=2)
    ranks = [{batch.workload.dims.index(term.dim): term.coef for term in rank} for rank in tensor.ranks]
    steps = np.zeros((len(batch), len(batch.tables)), np.int64)  # of the innermost loop of each dim here
    for rank in ranks:
        together = np.sum([(bounds[:, :, d] > 1).any(axis=1) for d in rank], axis=0) > 1
        for d in rank if len(rank) > 1 else ():
            stride = batch.tables[d].strides[batch.rows[:, d], slots[-1]]
            steps[:, d] = np.where(together, stride, steps[:, d])
    rows = np.concatenate([bounds.reshape(len(batch), -1), steps], axis=1)
    distinct, which = unique_rows(rows)
    axes = _axes(batch.arch, level)
    relevant = [dim in tensor.dims for dim in batch.workload.dims]
    means = [mean_hops(axes, _loops(row, len(slots), relevant, ranks)) for row in distinct.tolist()]
    return np.array(means)[which]


def _axes(arch: Architecture, level: int) -> Axes:
    fanout = arch.levels[level].fanout
    inside = [prod(axis.size for axis in fanout[i + 1 :] if axis.mesh == fanout[i].mesh) for i in range(len(fanout))]
    return tuple((axis.mesh == "X", axis.size, pitch) for axis, pitch in zip(fanout, inside, strict=True))


def _loops(row: list[int], axes: int, relevant: list[bool], ranks: list[dict[int, int]]) -> Loops:
    """The loops of one mapping, as few as make the same groups: `row` has the bounds by axis and dim, then the steps.

    A dim with a step of 0 shares no rank with another one here. `ranks`: coefficients by dim.
    """
    dims = len(relevant)
    steps, by_axis = row[axes * dims :], []
    for axis in reversed(range(axes)):
        loops: list[tuple[int, Moves]] = []
        for d, bound in enumerate(row[axis * dims : (axis + 1) * dims]):
            if bound == 1:
                continue
            moves = OTHER if relevant[d] else SAME
            if steps[d]:
                moves = tuple(rank.get(d, 0) * steps[d] for rank in ranks)
            steps[d] *= bound
            if loops and not steps[d] and loops[-1][1] == moves:
                loops[-1] = (loops[-1][0] * bound, moves)
            else:
                loops.append((bound, moves))
        by_axis.append(tuple(loops))
    return tuple(reversed(by_axis))


@lru_cache(maxsize=1 << 16)
def mean_hops(axes: Axes, loops: Loops) -> float:
    """Hops of the groups of places that need the same words, on average.

    Along an axis the iterations of the innermost loop are neighbours. The dims of an axis stand in the workload's
    order, the first innermost, as mappings are written.
    """
    if any(prod(bound for bound, _ in axis_loops) > size for axis_loops, (_, size, _) in zip(loops, axes, strict=True)):
        return 0.0
    height = prod(size for along_x, size, _ in axes if not along_x)
    middle = (height - 1) / 2
    every = _steps(axes, loops)
    x, y, group = _places([loop for loop in every if loop[2]])
    # places that need the same words or wholly others lie alike around those: they need no list
    (wide, copies), (high_up, _) = _reach(every, True), _reach(every, False)
    right, up = _offsets(every, True), _offsets(every, False)
    columns, column = np.unique(group * (x.max() + 1) + x, return_inverse=True)
    low, high = np.full(len(columns), np.inf), np.zeros(len(columns))
    np.minimum.at(low, column, y)
    np.maximum.at(high, column, y)
    climbs = np.maximum(0, middle - np.add.outer(up, low)) + np.maximum(0, np.add.outer(up, high + high_up) - middle)
    owner, at = np.divmod(columns, x.max() + 1)
    last = at[np.append(owner[1:] != owner[:-1], True)] + wide  # the rightmost column of each group
    groups = len(last) * len(right) * len(up)
    across = len(up) * (len(right) * last.sum() + len(last) * right.sum())
    return float((across + len(right) * copies * climbs.sum()) / groups)


Step = tuple[bool, int, Moves, int]  # of a loop: along X, bound, moves, places from one iteration to the next


def _steps(axes: Axes, loops: Loops) -> list[Step]:
    steps = []
    for (along_x, _, pitch), axis in zip(axes, loops, strict=True):
        for bound, moves in axis:
            steps.append((along_x, bound, moves, pitch))
            pitch *= bound
    return steps


def _reach(every: Sequence[Step], along_x: bool) -> tuple[int, int]:
    """How far the places lie apart that need the same words, and their number, along one side."""
    same = [(bound, pitch) for side, bound, moves, pitch in every if side is along_x and moves == SAME]
    return sum((bound - 1) * pitch for bound, pitch in same), prod(bound for bound, _ in same)


def _offsets(every: Sequence[Step], along_x: bool) -> Ints:
    """Where the places lie that need wholly other words, along one side. # (iteration,)"""
    offsets = np.zeros(1, np.int64)
    for side, bound, moves, pitch in every:
        if side is along_x and moves is OTHER:
            offsets = np.add.outer(np.arange(bound) * pitch, offsets).ravel()
    return offsets


def _places(moving: Sequence[Step]) -> tuple[Ints, Ints, Ints]:
    """Column, row and group of the places of loops whose words move along ranks. # (place,)"""
    rest = np.arange(prod(bound for _, bound, _, _ in moving))
    x, y, group = np.zeros((3, len(rest)), np.int64)
    starts: dict[int, Ints] = {}  # of the tile along each rank
    for along_x, bound, moves, pitch in moving:
        where = x if along_x else y
        rest, digit = np.divmod(rest, bound)
        where += digit * pitch
        for rank, move in enumerate(moves or ()):
            starts[rank] = starts.get(rank, 0) + digit * move
    for start in starts.values():
        start = start - start.min()
        group = group * (start.max() + 1) + start
    return x, y, group
