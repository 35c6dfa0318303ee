"""Blocks of a DRAM that tiles touch along a rank, bursts or rows: listed tile by tile (docs/dram.md).

A block is so many neighbouring indices. Where a step moves a tile, what is new of it are one or two intervals: those
before and after what the tile before has of it. The blocks that they touch move.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from ...mapping import Floats, Ints, unique_rows
from .chains import Chains

Listed = tuple[Ints, ...]  # first and last index of tiles, and of the tiles before; how many are alike # (tile,) each


def touched(first: Ints, last: Ints, block: int | Ints) -> Ints:
    """Count the blocks that intervals touch; none where they are empty."""
    return np.where(first > last, 0, last // block - first // block + 1)


def left_over(first: Ints, last: Ints, low: Ints, high: Ints, block: int | Ints) -> Ints:
    """Count the blocks that intervals touch with what lies outside their parts from `low` to `high`."""
    empty = low > high
    end, begin = np.where(empty, last, low - 1), np.where(empty, last + 1, high + 1)
    both = (first <= end) & (begin <= last) & (end // block == begin // block)
    left: Ints = touched(first, end, block) + touched(begin, last, block) - both
    return left


@dataclass(eq=False)
class BlockView:
    """As View (words.py), but sums of blocks; the children of a parent count for themselves."""

    dims: tuple[Chains, ...]
    coefs: tuple[int, ...]
    rows: tuple[Ints, ...]  # per dim, the chain of each combination
    boundary: int
    below: tuple[int, ...]
    block: int
    _listed: dict[tuple[int, int, int, bool], Listed] = field(default_factory=dict)
    _known: dict[object, Floats] = field(default_factory=dict)

    @cached_property
    def sizes(self) -> Floats:
        """The blocks of all tiles of all steps. # (combination,)"""
        every = tuple((self.boundary, False) for _ in self.dims)
        return self._sum(every, lambda first, last, *_: touched(first, last, self.block))

    def wrap(self, cuts: Sequence[int]) -> Floats:
        """Count the blocks of which a pass that follows an equal pass has nothing to move. # (combination,)"""
        return self._stay(tuple((cut, False) for cut in cuts))

    def shift(self, moving: int, level: int, cuts: Sequence[int]) -> Floats:
        """Count the blocks of which nothing moves when the temporal loop of dim `moving` at `level` advances."""
        return self._stay(tuple((level + 1, True) if i == moving else (cut, False) for i, cut in enumerate(cuts)))

    def _stay(self, cuts: tuple[tuple[int, bool], ...]) -> Floats:
        def stays(first: Ints, last: Ints, before: Ints, end: Ints) -> Ints:
            moves = left_over(first, last, np.maximum(first, before), np.minimum(last, end), self.block)
            return touched(first, last, self.block) - moves

        if cuts not in self._known:
            self._known[cuts] = self._sum(cuts, stays)
        return self._known[cuts]

    def _sum(self, cuts: tuple[tuple[int, bool], ...], figure: Callable[[Ints, Ints, Ints, Ints], Ints]) -> Floats:
        total = np.zeros(len(self.rows[0]))
        for place, chains in enumerate(zip(*(rows.tolist() for rows in self.rows), strict=True)):
            ends: Listed = (np.zeros(1, np.int64),) * 4
            times = np.ones(1, np.int64)
            for i, chain in enumerate(chains):
                *more, number = self._tiles(i, chain, *cuts[i])
                ends = tuple(np.add.outer(own, other).ravel() for own, other in zip(ends, more, strict=True))
                times = np.multiply.outer(times, number).ravel()
            total[place] = (times * figure(*ends)).sum()
        return total

    def _tiles(self, i: int, chain: int, cut: int, moved: bool) -> Listed:
        """List the tiles of dim number i that are first where loops inside the cut start, and those before, along the
        rank: those that lie alike in their blocks once, and how many they are."""
        if (i, chain, cut, moved) not in self._listed:
            tiles = self._of_chain(self.dims[i].take(np.array([chain])), self.below[i], cut, moved)
            ends = np.stack([self.coefs[i] * edge for edge in tiles])
            kinds, which = unique_rows((ends - ends[0] // self.block * self.block).T)
            self._listed[i, chain, cut, moved] = (*kinds.T, np.bincount(which, minlength=len(kinds)))
        return self._listed[i, chain, cut, moved]

    def _of_chain(self, dim: Chains, below: int, cut: int, moved: bool) -> Listed:
        size, tile = int(np.ravel(dim.size)[0]), int(dim.tile(self.boundary)[0])
        outer, inner = np.zeros(1, np.int64), np.zeros(1, np.int64)
        for level in range(self.boundary):
            step, loop = int(dim.time_step[0, level]), np.arange(int(dim.time[0, level]))
            if level >= cut:
                inner = np.add.outer(inner, loop * step).ravel()
            else:
                outer = np.add.outer(outer, loop[1 if moved and level == cut - 1 else 0 :] * step).ravel()
            if level < below:
                outer = np.add.outer(outer, np.arange(int(dim.space[0, level])) * int(dim.space_step[0, level])).ravel()
        first, inner = outer[outer < size], np.sort(inner)
        start = first - (int(dim.time_step[0, cut - 1]) if moved else 0)
        before = start + inner[np.searchsorted(inner, size - start) - 1]
        last = partial(np.minimum, size - 1)
        return first, last(first + tile - 1), before, last(before + tile - 1)
