"""The lines that caches fetch while a program runs.

A cache holds what fits, and of that what was used last; prefetching is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod

import numpy as np

from ...arch import Storage
from .c import Layout, Plan
from .data_types import DataType
from .nest import extents


@dataclass(frozen=True)
class Cache:
    """Lines of `line` bytes, `ways` in each set; one set where nothing is known of them."""

    line: int
    ways: int
    sets: int

    @classmethod
    def of(cls, level: Storage) -> "Cache":
        line, (ways, sets) = max(1, level.width_bits // 8), (level.attribute(name) for name in ("ways", "sets"))
        if isinstance(ways, int) and isinstance(sets, int):
            return cls(line, ways, sets)
        return cls(line, (level.capacity_bits or 0) // 8 // line, 1)


@dataclass(frozen=True)
class Rows:
    """A box of words in a row-major array: the words along each rank, and those of the array."""

    word: int  # bytes
    lengths: tuple[int, ...]
    whole: tuple[int, ...]

    def lines(self, line: int) -> int:
        """How many lines it touches: of each run of words that lie side by side half a line more."""
        words = max(1, line // self.word)
        run, rows, together = 1, 1, True
        for length, whole in zip(reversed(self.lengths), reversed(self.whole), strict=True):
            run, rows = (run * length, rows) if together else (run, rows * length)
            together = together and length == whole
        return rows * ceil((run + words / 2) / words)

    def crowded(self, cache: Cache) -> int:
        """The lines of the set that has most of them; a tile has no more lines than the cache."""
        starts, step = np.zeros(1, np.int64), self.word * prod(self.whole)
        for length, whole in list(zip(self.lengths, self.whole, strict=True))[:-1]:
            step //= whole
            starts = (starts[:, None] + step * np.arange(length)).ravel()
        last = self.lengths[-1] if self.lengths else 1
        within = np.arange(0, max(1, last * self.word), cache.line)
        lines = np.unique((starts[:, None] + within).ravel() // cache.line)
        return int(np.bincount(lines % cache.sets).max())


@dataclass(frozen=True, eq=False)
class CacheLines:
    """The lines that a program uses, by the place of the nest."""

    plan: Plan
    layouts: Sequence[Layout]  # where the innermost tile finds each tensor
    kind: DataType

    def fetched(self, level: Storage) -> float:
        """The lines that come to a cache: from the place on where all tiles fit, each tile once.

        Loops directly outside that leave a tensor where it is find it there.
        """
        nest, tensors, cache = self.plan.nest, range(len(self.plan.nest.relevant)), Cache.of(level)
        end = len(nest.loops)
        place, total = next((place for place in range(end) if self._fits(place, cache)), end), 0.0
        for v in tensors:
            outside = place
            while outside and nest.loops[outside - 1].dim not in nest.relevant[v]:
                outside -= 1
            total += nest.visits(outside) * self._rows(v, place).lines(cache.line)
        return total

    def _fits(self, place: int, cache: Cache) -> bool:
        """Whether the tiles at `place` find room: among all lines, and in the sets that their addresses fall into."""
        rows = [self._rows(v, place) for v in range(len(self.plan.nest.relevant))]
        if sum(tile_rows.lines(cache.line) for tile_rows in rows) > cache.ways * cache.sets:
            return False
        return cache.sets == 1 or sum(tile_rows.crowded(cache) for tile_rows in rows) <= cache.ways

    def _rows(self, v: int, place: int) -> Rows:
        """A tile of a tensor in memory: packed where it is copied, else rows of its array."""
        nest = self.plan.nest
        tensor, sizes = nest.workload.tensors[v], nest.workload.sizes
        size = self.kind.output_bytes if v == nest.output else self.kind.operand_bytes
        tiles = {d: min(nest.tile(d, place), sizes[d]) for d in nest.relevant[v]}
        copied = any(copy.tensor == v and nest.first_of(copy.level) <= place for copy in self.plan.copies)
        if copied and not self.layouts[v].ranks:
            return Rows(size, (prod(tiles.values()),), (prod(tiles.values()),))
        number = nest.workload.dims.index
        lengths = [sum(term.coef * (tiles[number(term.dim)] - 1) for term in rank) + 1 for rank in tensor.ranks]
        return Rows(size, tuple(lengths), tuple(lengths) if copied else extents(tensor, nest.workload))
