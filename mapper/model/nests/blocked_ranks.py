"""Blocks that tiles touch along a rank, as bursts and rows of a DRAM: a block is so many neighbouring indices.

A tile touches a block if it has some index of it; a block that two tiles touch counts for each. docs/dram.md has the
argument. Along a plain rank a tile of extent e that starts at s touches one block, and one more for each multiple of
the block's length among s + 1, ..., s + e - 1. Along a window where a tile begins depends on the indices of all its
dims: there the tiles of each dim are listed, those that lie alike in their blocks once, and all combinations looked at.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import mul

import numpy as np

from ...mapping import Bools, Ints, unique_rows
from .contexts import Prefixes
from .intervals import hidden, touches

LISTED = 1 << 20  # combinations of tiles that are looked at together


@dataclass(eq=False)
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
        return self._summed(
            [_Tiles.of(part, used) for part, used in zip(self.parts, self._used, strict=True)],
            lambda of: touches(of.first, of.last, self.block),
        )

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

        def of_some(of: "_Kinds") -> Ints:
            meets = np.maximum(of.first, of.held_first) <= np.minimum(of.last, of.held_last)
            return np.where(meets, touches(of.first, of.last, self.block), 0)

        return self._summed(self._steps(cuts, moving), of_some)

    def _steps(self, cuts: Sequence[int], moving: int | None) -> "list[_Tiles]":
        every = enumerate(zip(self.parts, self._used, cuts, strict=True))
        return [_Tiles.of(part, used).into_first(cut, moved=i == moving) for i, (part, used, cut) in every]

    @cached_property
    def _used(self) -> list[Ints]:
        """The chains of each dim that some combination has. # (used,) each"""
        return [np.unique(rows) for rows in self.rows]

    def _summed(self, tiles: "Sequence[_Tiles]", figure: "Callable[[_Kinds], Ints]") -> Ints:
        """Sum a figure over all combinations of the dims' tiles. # (combination,)"""
        kinds = [_Kinds.of(own, coef, self.block) for own, coef in zip(tiles, self.coefs, strict=True)]
        places = [np.searchsorted(used, rows) for used, rows in zip(self._used, self.rows, strict=True)]
        counts = [own.number[rows] for own, rows in zip(kinds, places, strict=True)]
        every = reduce(mul, counts)
        total = np.zeros(len(every), np.int64)
        for combinations in _lots(every):
            which = np.repeat(combinations, every[combinations])
            if not len(which):
                continue
            starts = np.cumsum(every[combinations]) - every[combinations]
            place = np.arange(len(which)) - np.repeat(starts, every[combinations])
            met = _Kinds.none(len(which))
            for own, rows, count in zip(kinds, places, counts, strict=True):
                place, number = np.divmod(place, count[which])
                met = met.joined(own, own.offset[rows[which]] + number)
            occurring = every[combinations] > 0
            total[combinations[occurring]] = np.add.reduceat(met.times * figure(met), starts[occurring])
        return total


def _lots(every: Ints) -> Iterator[Ints]:
    """Cut all combinations into lots with so many tiles together, or one combination."""
    lot = np.cumsum(every) // LISTED
    yield from np.split(np.arange(len(every)), np.flatnonzero(np.diff(lot)) + 1)


@dataclass(frozen=True, eq=False)
class _Tiles:
    """Tiles of one dim, one after another, chain by chain. # (tile,) each"""

    part: Prefixes
    used: Ints  # the chains that are looked at # (used,)
    chain: Ints
    start: Ints
    before: Ints  # start of the tile before, where there is one

    @classmethod
    def of(cls, part: Prefixes, used: Ints) -> "_Tiles":
        """All that count of some chains: of places outside those that do, the first."""
        number = _tiles(part)[used]
        chain = np.repeat(used, number)
        start = (np.arange(len(chain)) - np.repeat(np.cumsum(number) - number, number)) * part.tile[chain]
        every = cls(part, used, chain, start, start)
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
        return _Tiles(self.part, self.used, self.chain, self.start, before)._where(first)

    def last(self, start: Ints, chain: Ints) -> Ints:
        """The last index of the tiles that start so, clipped at the dim's size."""
        size = np.broadcast_to(self.part.size, self.part.chains)[chain]
        last: Ints = np.minimum(start + self.part.tile[chain], size) - 1
        return last

    def _digit(self, bound: Ints, stride: Ints) -> Ints:
        return self.start // stride[self.chain] % bound[self.chain]

    def _where(self, which: Bools) -> "_Tiles":
        return _Tiles(self.part, self.used, self.chain[which], self.start[which], self.before[which])


@dataclass(frozen=True, eq=False)
class _Kinds:
    """Tiles as intervals of a rank's index, each with the tile before: once for all that lie alike in their blocks.

    A figure of blocks is the same for an interval some whole blocks further on. # (kind,) each
    """

    first: Ints
    last: Ints
    held_first: Ints
    held_last: Ints
    times: Ints  # how many tiles are alike
    number: Ints  # of kinds of each chain that is looked at # (used,)

    @classmethod
    def none(cls, n: int) -> "_Kinds":
        zero = np.zeros(n, np.int64)
        return cls(zero, zero, zero, zero, zero + 1, zero)

    @classmethod
    def of(cls, tiles: _Tiles, coef: int, block: int) -> "_Kinds":
        """Those of one dim of the rank, chain by chain."""
        start, before, chain = tiles.start, tiles.before, tiles.chain
        whole = coef * start // block * block
        edges = (start, tiles.last(start, chain), before, tiles.last(before, chain))
        columns = np.column_stack([chain, *(coef * edge - whole for edge in edges)])
        kinds, which = unique_rows(columns)
        chain, first, last, held_first, held_last = kinds.T
        number = np.bincount(np.searchsorted(tiles.used, chain), minlength=len(tiles.used))
        return cls(first, last, held_first, held_last, np.bincount(which, minlength=len(kinds)), number)

    @property
    def offset(self) -> Ints:
        """Where the kinds of each chain begin. # (chain,)"""
        return np.cumsum(self.number) - self.number

    def joined(self, dim: "_Kinds", which: Ints) -> "_Kinds":
        """The same with another dim, of which `which` are the kinds."""
        return _Kinds(
            self.first + dim.first[which],
            self.last + dim.last[which],
            self.held_first + dim.held_first[which],
            self.held_last + dim.held_last[which],
            self.times * dim.times[which],
            self.number,
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
