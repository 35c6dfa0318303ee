"""Words times hops: how far the words of each tensor travel in the arrays below the levels (docs/model.md, Network).

The array below a level is a mesh whose words come in at the left, half way up. A word that several places need goes
right along one row as far as the rightmost of them, and from there up and down the columns that have one. That is
Timeloop's network (its class Legacy); its figures for perfect nests are ours.
"""

from collections.abc import Iterator
from functools import lru_cache
from math import prod

import numpy as np

from ..arch import Architecture
from ..workloads import Tensor, Workload
from .counts import Counts, keeper_pairs
from .mapping import Floats, Ints, MappingBatch
from .traffic import Flow, Nest

Bounds = tuple[tuple[int, ...], ...]  # of each axis of one level, by dim
Axes = tuple[tuple[bool, int, int], ...]  # of each axis of one level: along X, size, instances of the axes inside it
Ranks = tuple[tuple[tuple[int, int], ...], ...]  # (dim, coefficient) pairs of each rank of a tensor


def word_hops(batch: MappingBatch, counts: Counts) -> Floats:
    """Words that enter the array below each level, times the hops of each there. # (mapping, level, tensor)

    Inputs go in, outputs come out; an output's words that go in again are not charged, as in Timeloop. A word passes
    the arrays of all levels from where it is kept to where it is kept next.
    """
    total = np.zeros_like(counts.reads)
    for v, tensor in enumerate(batch.workload.tensors):
        for level, where, words in _crossings(batch, counts, v):
            total[where, level, v] += words * hops(batch.take(where), level, tensor)
    return total


def _crossings(batch: MappingBatch, counts: Counts, v: int) -> Iterator[tuple[int, Ints, Floats]]:
    """(level, mappings, words) for each array that words of tensor `v` pass. words: (mapping of those,)"""
    tensor = batch.workload.tensors[v]
    moved = (counts.updates if tensor.output else counts.reads)[:, :, v]
    for parent, child, where in keeper_pairs(batch.keep[:, :, v]):
        for level in range(parent, child):
            if batch.arch.levels[level].instances_below == 1:
                continue
            if level == parent:
                # of an output all updates, also first ones: each is a word that comes out
                yield level, where, moved[where, level]
            else:
                yield level, where, Flow(Nest(batch.take(where)), tensor, child, parent=level).words()


def hops(batch: MappingBatch, level: int, tensor: Tensor) -> Floats:
    """Hops of a word of `tensor` in the array below `level`, the mean over its multicast groups. # (mapping,)

    Of the full bounds: in an imperfect last round fewer places are in use. Bounds that do not fit the array have no
    places there, and no hops.
    """
    slots = [s for s, slot in enumerate(batch.arch.slots) if slot.level == level and slot.spatial]
    bounds = np.stack([table.bounds[batch.rows[:, d]][:, slots] for d, table in enumerate(batch.tables)], axis=2)
    ranks = _ranks(batch.workload, tensor)
    scales = np.ones((len(batch), len(batch.tables)), np.int64)
    for rank in ranks:
        spread = sum((bounds[:, :, d] > 1).any(axis=1).astype(np.int64) for d, _ in rank)
        for d, _ in rank if len(rank) > 1 else ():
            steps = batch.tables[d].strides[batch.rows[:, d], slots[-1]]
            scales[:, d] = np.where(spread > 1, steps, scales[:, d])
    rows = np.concatenate([bounds.reshape(len(batch), -1), scales], axis=1)
    distinct, which = np.unique(rows, axis=0, return_inverse=True)
    cut, axes = len(slots) * len(batch.tables), _axes(batch.arch, level)
    found = []
    for row in distinct.tolist():
        each = tuple(tuple(row[i : i + len(batch.tables)]) for i in range(0, cut, len(batch.tables)))
        found.append(mean_hops(axes, each, tuple(row[cut:]), ranks))
    return np.array(found)[which.reshape(-1)]


def _ranks(workload: Workload, tensor: Tensor) -> Ranks:
    return tuple(tuple((workload.dims.index(term.dim), term.coef) for term in rank) for rank in tensor.ranks)


def _axes(arch: Architecture, level: int) -> Axes:
    fanout = arch.levels[level].fanout
    inside = [prod(axis.size for axis in fanout[i + 1 :] if axis.mesh == fanout[i].mesh) for i in range(len(fanout))]
    return tuple((axis.mesh == "X", axis.size, pitch) for axis, pitch in zip(fanout, inside, strict=True))


@lru_cache(maxsize=1 << 16)
def mean_hops(axes: Axes, bounds: Bounds, scales: tuple[int, ...], ranks: Ranks) -> float:
    """Hops of the groups of places that need the same words, on average.

    `scales`: how far the innermost loop of each dim here moves the tile along the dim. Along an axis the places of
    its first dim are neighbours, then those of the second...: the first is innermost, as mappings are written.
    """
    if any(prod(each) > size for each, (_, size, _) in zip(bounds, axes, strict=True)):
        return 0.0
    x, y, start = _places(axes, bounds, scales)
    height = prod(size for along_x, size, _ in axes if not along_x)
    needs = [sum((coef * start[d] for d, coef in rank), np.zeros_like(x)) for rank in ranks]
    group = np.unique(np.stack([*needs, 0 * x]), axis=1, return_inverse=True)[1].reshape(-1)
    right = np.zeros(group.max() + 1)
    np.maximum.at(right, group, x)
    column = np.unique(np.stack([group, x]), axis=1, return_inverse=True)[1].reshape(-1)
    low, high = np.full(column.max() + 1, np.inf), np.zeros(column.max() + 1)
    np.minimum.at(low, column, y)
    np.maximum.at(high, column, y)
    middle = (height - 1) / 2
    climbs = np.maximum(0, middle - low) + np.maximum(0, high - middle)
    return float((right.sum() + climbs.sum()) / len(right))


def _places(axes: Axes, bounds: Bounds, scales: tuple[int, ...]) -> tuple[Ints, Ints, list[Ints]]:
    """Column and row of every place, and where its tile begins along each dim. # (place,)"""
    rest = np.arange(prod(bound for axis in bounds for bound in axis))
    x, y = np.zeros((2, len(rest)), np.int64)
    start, step = [np.zeros_like(rest) for _ in scales], list(scales)
    for (along_x, _, pitch), axis in zip(reversed(axes), reversed(bounds), strict=True):
        where = x if along_x else y
        for d, bound in enumerate(axis):
            rest, digit = np.divmod(rest, bound)
            where += digit * pitch
            start[d] += digit * step[d]
            pitch, step[d] = pitch * bound, step[d] * bound
    return x, y, start
