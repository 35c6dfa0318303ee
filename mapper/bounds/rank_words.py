"""Words that move along one rank at least, for combinations of chains of its dims.

A child's boundary sees of a chain the slots outside it, and how large a tile is: chains that differ further in are one
to it (model.nests.outside). So sums over tiles are made once for all combinations that a child cannot tell apart; and
those that no parent decides, once for all parents.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...arch import Architecture
from ..mapping import Bools, ChainTable, Floats, Ints
from ..model.nests import RankView, level_slots, outside, prefixes
from ..runtime import Deadline

Cuts = tuple[int, ...]  # per dim of the workload, the cut of its loops
Terms = tuple[tuple[int, int], ...]  # dim and coefficient


@dataclass(eq=False)
class RankTiles:
    """A rank at the boundary of a child: the combinations that it tells apart, and their sums."""

    coefs: tuple[int, ...]  # per term
    child: int
    arch: Architecture
    tables: Sequence[ChainTable]  # per term its dim's chains as the child sees them
    rows: Sequence[Ints]  # per term # (seen combination,)
    which: Ints  # of the seen combinations each combination is # (combination,)
    deadline: Deadline
    _sums: "dict[tuple[tuple[int, ...], int | None, int], RankSums]" = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        coefs: tuple[int, ...],
        child: int,
        arch: Architecture,
        tables: Sequence[ChainTable],
        rows: Sequence[Ints],
        deadline: Deadline,
    ) -> "RankTiles":
        """Make those of combinations of chains: rows of tables. # (combination,) each"""
        seen = [outside(table, arch, child) for table in tables]
        every = [chains[own] for (_, chains), own in zip(seen, rows, strict=True)]
        shape = [len(table.bounds) for table, _ in seen]
        different, which = np.unique(np.ravel_multi_index(every, shape), return_inverse=True)
        return cls(
            coefs, child, arch, [table for table, _ in seen], np.unravel_index(different, shape), which, deadline
        )

    def __len__(self) -> int:
        return len(self.rows[0])

    def view(self, places: Sequence[int], parent: int | None, shared: int | None, block: int = 1) -> RankView:
        """The view over the coordinates of levels outside `places`, one per term."""
        own = zip(self.tables, places, strict=True)
        parts = tuple(prefixes(table, self.arch, self.child, 0, self._outmost(hi), shared) for table, hi in own)
        return RankView(self.coefs, parts, tuple(self.rows), parent, block, self.deadline)

    def sums(self, places: Sequence[int], shared: int | None, block: int) -> "RankSums":
        """The sums over the coordinates of levels outside `places`, where children share the words of level `shared`;
        whose parent that is does not matter."""
        key = tuple(map(self._outmost, places)), shared, block
        if key not in self._sums:
            self._sums[key] = RankSums(self.view(places, None, shared, block))
        return self._sums[key]

    def _outmost(self, level: int) -> int:
        """The outermost level that has the same axes outside it."""
        return next((lv + 1 for lv in reversed(range(level)) if self.arch.levels[lv].fanout), 0)

    def repeats(self, i: int, level: int) -> bool:
        """Whether any chain of a term has a loop at a level."""
        return level_slots(self.tables[i], self.arch)[level].repeats


@dataclass(eq=False)
class RankSums:
    """Sums over the tiles of a view. # (seen combination,) each"""

    view: RankView
    _overlaps: dict[tuple[int, int], Floats] = field(default_factory=dict)  # by term and level
    _wraps: dict[Cuts, Floats] = field(default_factory=dict)

    @property
    def sizes(self) -> Floats:
        """Sum the lengths of all tiles."""
        return self.view.sizes

    def overlap(self, i: int, level: int) -> Floats:
        """The most that increments of the loop of a term overlap, whichever loops of that level stand outside."""
        if (i, level) not in self._overlaps:
            self._overlaps[i, level] = self.view.most_overlap(i, level)
        return self._overlaps[i, level]

    def wrap(self, cuts: Cuts) -> Floats:
        """Sum what the last tile of each pass shares with its first."""
        if cuts not in self._wraps:
            self._wraps[cuts] = self.view.wrap_words(cuts)
        return self._wraps[cuts]


class RankWords:
    """Words along one rank: of a pass over its tiles, and of a repeated pass.

    Where tiles of children may coincide in ways that the closed form does not see (Counts.exact), the words that
    some of the children need stand for all: a parent hands out no less for more children. They also do where a mean
    over instances is asked for and children may coincide: at the origin all those on a diagonal do, at the last
    instance perhaps not, so that the mean would be above the origin.
    """

    def __init__(self, terms: Terms, tiles: RankTiles, parent: int | None, *, mean: bool, block: int = 1) -> None:
        self.tiles, child = tiles, tiles.child
        self.dims = tuple(d for d, _ in terms)
        everywhere = np.ones(len(tiles), bool)
        every = (child,) * len(self.dims)
        self._sums: list[tuple[RankSums, Bools]] = []  # with where each holds # (seen combination,)
        if parent is None or not (meets := tiles.view(every, parent, None).meets).any():
            self._sums = [(tiles.sums(every, None, block), everywhere)]
            return
        within = next((lv for lv in range(child - 1, parent - 1, -1) if tiles.arch.levels[lv].fanout), None)
        shared = within if len(self.dims) == 2 and block == 1 else None
        exact = tiles.view(every, parent, shared).exact
        self._sums = [(tiles.sums(every, shared, block), exact & ~meets if mean else exact)]
        for kept in range(len(self.dims)):
            places = tuple(child if i == kept else parent for i in range(len(self.dims)))
            self._sums.append((tiles.sums(places, None, block), everywhere))

    @property
    def sizes(self) -> Floats:
        """Words of all tiles, or as many as are known. # (row,)"""
        return self._best(lambda sums: sums.sizes)

    def once(self, cuts: Cuts) -> Floats:
        """Words of one pass over the tiles of every context at `cuts`, each starting with nothing held. # (row,)"""
        return self._best(lambda sums: sums.sizes - self._kept(sums, cuts, inner=True))

    def again(self, cuts: Cuts) -> Floats:
        """Words of a pass that follows an equal pass: less what its last tile shares with its first. # (row,)"""

        def words(sums: RankSums) -> Floats:
            held = sums.wrap(tuple(cuts[d] for d in self.dims))
            if len(self.dims) > 1:
                held = held + self._kept(sums, cuts, inner=False)
            return sums.sizes - self._kept(sums, cuts, inner=True) - held

        return self._best(words)

    def _kept(self, sums: RankSums, cuts: Cuts, inner: bool) -> Floats:
        """Overlaps at the increments of the rank's own loops inside `cuts`, or of those outside."""
        kept = np.zeros(len(self.tiles))
        if len(self.dims) > 1:
            for i, d in enumerate(self.dims):
                for level in range(cuts[d], self.tiles.child) if inner else range(cuts[d]):
                    if self.tiles.repeats(i, level):
                        kept = kept + sums.overlap(i, level)
        return kept

    def _best(self, words: Callable[[RankSums], Floats]) -> Floats:
        best = np.zeros(len(self.tiles))
        for sums, holds in self._sums:
            best = np.maximum(best, np.where(holds, words(sums), 0.0))
        return best[self.tiles.which]
