"""Blocks that tiles touch along a rank, as bursts and rows of a DRAM: a block is so many neighbouring indices.

A tile touches a block if it has some index of it; a block that two tiles touch counts for each. docs/dram.md has the
argument. Along a plain rank a tile of extent e that starts at s touches one block, and one more for each multiple of
the block's length among s + 1, ..., s + e - 1. Along a window where a tile begins depends on the indices of all its
dims: there the tiles of each dim are listed, and all combinations of theirs looked at.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import mul

import numpy as np

from ...mapping import Bools, Ints
from .contexts import Prefixes
from .intervals import hidden, touches

LISTED = 1 << 20  # combinations of tiles that are looked at together


@dataclass(frozen=True, eq=False)
class BlockedRank:
    """A rank between two boundaries: combinations of chains, one row each. All children count for themselves."""

    coefs: tuple[int, ...]
    parts: tuple[Prefixes, ...]  # one per dim
    rows: tuple[Ints, ...]  # per dim: the chain of each combination
    block: int

    @property
    def _plain(self) -> bool:
        return self.coefs == (1,) and self.parts[0].lo == 0 and self.parts[0].hi == self.parts[0].c

    def sizes(self) -> Ints:
        """Blocks that all tiles touch. # (combination,)"""
        if self._plain:
            return _of_all(self.parts[0], self.block)[self.rows[0]]
        return self._summed([_Tiles.of(part) for part in self.parts], lambda of: touches(of.first, of.last, self.block))

    def held(self, cuts: Sequence[int], moving: int | None = None) -> Ints:
        """Blocks that a step leaves nothing to move of: where the tile before had all words of the tile in them.

        # (combination,) summed over the steps of a loop into first tiles of contexts at `cuts`. The loop is that of dim
        number `moving`, the innermost outside its cut, or (None) of a dim outside the rank.
        """
        if self._plain:
            return _of_single(self.parts[0], self.block, cuts[0])[self.rows[0]]
        return self._summed(
            self._steps(cuts, moving),
            lambda of: hidden(
                of.first, of.last, np.maximum(of.first, of.held_first), np.minimum(of.last, of.held_last), self.block
            ),
        )

    def kept(self, cuts: Sequence[int], moving: int | None = None) -> Ints:
        """Blocks of the tiles that have some word of the tile before, summed over the same steps. # (combination,)"""
        if self._plain:
            return self.held(cuts)

        def of_some(of: "_Combined") -> Ints:
            meets = np.maximum(of.first, of.held_first) <= np.minimum(of.last, of.held_last)
            return np.where(meets, touches(of.first, of.last, self.block), 0)

        return self._summed(self._steps(cuts, moving), of_some)

    def _steps(self, cuts: Sequence[int], moving: int | None) -> "list[_Tiles]":
        every = enumerate(zip(self.parts, cuts, strict=True))
        return [_Tiles.of(part).into_first(cut, moved=i == moving) for i, (part, cut) in every]

    def _summed(self, tiles: "Sequence[_Tiles]", figure: "Callable[[_Combined], Ints]") -> Ints:
        """Sum a figure over all combinations of the dims' tiles. # (combination,)"""
        counts = [own.number[rows] for own, rows in zip(tiles, self.rows, strict=True)]
        every = reduce(mul, counts)
        total = np.zeros(len(every), np.int64)
        for combinations in _lots(every):
            which = np.repeat(combinations, every[combinations])
            if not len(which):
                continue
            starts = np.cumsum(every[combinations]) - every[combinations]
            place = np.arange(len(which)) - np.repeat(starts, every[combinations])
            met = _Combined.none(len(which))
            for coef, own, rows, count in zip(self.coefs, tiles, self.rows, counts, strict=True):
                place, number = np.divmod(place, count[which])
                met = met.joined(coef, own, own.offset[rows[which]] + number)
            occurring = every[combinations] > 0
            total[combinations[occurring]] = np.add.reduceat(figure(met), starts[occurring])
        return total


def _lots(every: Ints) -> Iterator[Ints]:
    """Cut all combinations into lots with so many tiles together, or one combination."""
    lot = np.cumsum(every) // LISTED
    yield from np.split(np.arange(len(every)), np.flatnonzero(np.diff(lot)) + 1)


@dataclass(frozen=True, eq=False)
class _Tiles:
    """Tiles of one dim, one after another, chain by chain. # (tile,) each"""

    part: Prefixes
    chain: Ints
    start: Ints
    before: Ints  # start of the tile before, where there is one

    @classmethod
    def of(cls, part: Prefixes) -> "_Tiles":
        """All that count: of places outside those that do, the first."""
        number = _tiles(part)
        chain = np.repeat(np.arange(part.chains), number)
        start = (np.arange(len(chain)) - np.repeat(np.cumsum(number) - number, number)) * part.tile[chain]
        every = cls(part, chain, start, start)
        counted = np.ones(len(chain), bool)
        for level, slots in enumerate(part.slots[: part.c]):
            if slots.fanout is not None and not part.lo <= level < part.hi:
                counted &= every._digit(slots.fanout, slots.fanout_stride) == 0
        return every._where(counted)

    def into_first(self, cut: int, *, moved: bool) -> "_Tiles":
        """Those that are first in a context at `cut`, each with the last tile before the step of a loop leads into it:
        of the same context, or (`moved`) of that with an index less of the dim's own loop just outside the cut."""
        slots = self.part.slots
        first, before = np.ones(len(self.start), bool), self.start
        for own in slots[cut : self.part.c]:
            first &= self._digit(own.bound, own.stride) == 0
        if moved:
            own = slots[cut - 1]
            first &= self._digit(own.bound, own.stride) > 0
            before = before - own.stride[self.chain]
        left = np.broadcast_to(self.part.size, self.part.chains)[self.chain] - 1 - before
        for own in slots[cut : self.part.c]:  # as far as the inner loops come before the dim ends
            bound, stride = own.bound[self.chain], own.stride[self.chain]
            way = np.minimum(bound - 1, left // stride) * stride
            before, left = before + way, left - way
        return _Tiles(self.part, self.chain, self.start, before)._where(first)

    @property
    def number(self) -> Ints:
        """How many each chain has. # (chain,)"""
        return np.bincount(self.chain, minlength=self.part.chains)

    @property
    def offset(self) -> Ints:
        """Where those of each chain begin. # (chain,)"""
        return np.cumsum(self.number) - self.number

    def last(self, start: Ints, chain: Ints) -> Ints:
        """The last index of the tiles that start so, clipped at the dim's size."""
        size = np.broadcast_to(self.part.size, self.part.chains)[chain]
        last: Ints = np.minimum(start + self.part.tile[chain], size) - 1
        return last

    def _digit(self, bound: Ints, stride: Ints) -> Ints:
        return self.start // stride[self.chain] % bound[self.chain]

    def _where(self, which: Bools) -> "_Tiles":
        return _Tiles(self.part, self.chain[which], self.start[which], self.before[which])


@dataclass(frozen=True, eq=False)
class _Combined:
    """Tiles of a rank, as intervals of its index, each with the tile before. # (tile,) each"""

    first: Ints
    last: Ints
    held_first: Ints
    held_last: Ints

    @classmethod
    def none(cls, n: int) -> "_Combined":
        zero = np.zeros(n, np.int64)
        return cls(zero, zero, zero, zero)

    def joined(self, coef: int, tiles: _Tiles, which: Ints) -> "_Combined":
        """The same with another dim, of which `which` are the tiles."""
        chain, start, before = tiles.chain[which], tiles.start[which], tiles.before[which]
        return _Combined(
            self.first + coef * start,
            self.last + coef * tiles.last(start, chain),
            self.held_first + coef * before,
            self.held_last + coef * tiles.last(before, chain),
        )


def _of_all(dim: Prefixes, block: int) -> Ints:
    """Blocks that all tiles touch along a plain rank. # (chain,)"""
    return _of_tiles(dim, block, np.zeros(dim.chains, np.int64), _tiles(dim))


def _of_single(dim: Prefixes, block: int, cut: int) -> Ints:
    """Along a plain rank, blocks of the tiles that are the only one of their context at `cut`. # (chain,)

    Where an inner loop repeats, let s be the step of the innermost that does. A context has a single tile if its first
    one starts among the last s elements: it is one of the last few tiles, and these lie in two steps of that loop at
    most. Whether first tiles of contexts lie in a step is seen from its number: the digits of inner loops are 0.
    """
    inner = [slots for slots in dim.slots[cut : dim.c] if slots.repeats]
    every, repeats, step = _tiles(dim), np.zeros(dim.chains, bool), dim.tile
    for slots in reversed(inner):
        step = np.where(~repeats & (slots.bound > 1), slots.stride, step)
        repeats |= slots.bound > 1
    tiles_a_step = step // dim.tile
    last = (every - 1) // tiles_a_step
    total = np.zeros(dim.chains, np.int64)
    for number, first, after in (
        (last, last * tiles_a_step, every),
        (last - 1, np.maximum(every - tiles_a_step, 0), last * tiles_a_step),
    ):
        begins = number >= 0
        for slots in inner:
            begins &= (number * step // slots.stride) % slots.bound == 0
        total = total + np.where(begins, _of_tiles(dim, block, first, after), 0)
    return np.where(repeats, total, _of_all(dim, block))


def _tiles(dim: Prefixes) -> Ints:
    tiles: Ints = (dim.size - 1) // dim.tile + 1
    return tiles


def _of_tiles(dim: Prefixes, block: int, first: Ints, after: Ints) -> Ints:
    """Blocks that the tiles of the numbers first, ..., after - 1 touch. # (chain,)"""
    start, end = first * dim.tile, np.minimum(after * dim.tile, dim.size) - 1
    multiples = end // block - start // block
    apart = block // np.gcd(dim.tile, block)  # of so many tiles one starts with a block
    at_starts = (after - 1) // apart - first // apart
    return np.where(after > first, after - first + multiples - at_starts, 0)
