"""Lower bounds of the words that move along one rank of a tensor, per combination of the chains of its dims.

Implemented again for the checker, from docs/optimal.md section 3. `once` counts a pass over the tiles of each context
that starts empty; `again` a pass that follows an equal pass. Where children of one parent may need the same tile, the
distinct tiles are listed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import product
from math import prod
from operator import and_, mul

import numpy as np

from ...mapping import Bools, Floats, Ints
from .blocks import BlockView
from .chains import Chains
from .contexts import Contexts, contexts, merged_chains

Cuts = tuple[int, ...]  # per dim of the rank
LISTED = 1 << 20  # children listed at once


@dataclass(eq=False)
class View:
    """Sums over the children whose coordinates count: for dim i the coordinates at levels before `below[i]`.

    With `served`, one parent serves children that differ only in the coordinates of that level, and equal tiles of one
    step count once.
    """

    dims: tuple[Chains, ...]
    coefs: tuple[int, ...]
    rows: tuple[Ints, ...]  # per dim, the chain of each combination
    boundary: int
    below: tuple[int, ...]
    served: int | None = None
    _known: dict[object, Floats] = field(default_factory=dict)

    @cached_property
    def sizes(self) -> Floats:
        """The words of all tiles of all steps. # (combination,)"""
        return self._sum(tuple((self.boundary, False) for _ in self.dims), None, overlaps=False)

    def wrap(self, cuts: Cuts) -> Floats:
        """Count the words that first and last tile of a pass share, over all contexts at `cuts`. # (combination,)"""
        return self._sum(tuple((cut, False) for cut in cuts), None)

    def shift(self, moving: int, level: int, cuts: Sequence[int]) -> Floats:
        """Count the words that stay when the temporal loop of dim `moving` at `level` advances and all loops inside it
        restart; `cuts`: the cuts of the rank's dims, where that of `moving` is unused. # (combination,)"""
        return self._sum(
            tuple((level + 1, True) if i == moving else (cut, False) for i, cut in enumerate(cuts)), moving
        )

    def _sum(self, cuts: tuple[tuple[int, bool], ...], moving: int | None, overlaps: bool = True) -> Floats:
        key = cuts, moving, overlaps
        if key not in self._known:
            self._known[key] = self._summed(cuts, moving, overlaps)
        return self._known[key]

    def _summed(self, cuts: tuple[tuple[int, bool], ...], moving: int | None, overlaps: bool) -> Floats:
        """Sum over all choices of a kind of context per dim. # (combination,)"""
        kinds = [
            contexts(dim, self.boundary, cut, below, moved, self.served)
            for dim, (cut, moved), below in zip(self.dims, cuts, self.below, strict=True)
        ]
        total = np.zeros(len(self.rows[0]), np.int64)
        for choice in product(*(range(dim_contexts.kinds) for dim_contexts in kinds)):
            times = reduce(
                mul,
                (dim_contexts.number[rows, k] for dim_contexts, rows, k in zip(kinds, self.rows, choice, strict=True)),
            )
            occurring = np.flatnonzero(times)
            children = prod(dim_contexts.active.shape[2] for dim_contexts in kinds)
            for part in np.array_split(occurring, -(-len(occurring) * children // LISTED)) if len(occurring) else ():
                tiles = [
                    _Tiles.of(dim_contexts, rows[part], k)
                    for dim_contexts, rows, k in zip(kinds, self.rows, choice, strict=True)
                ]
                total[part] += times[part] * self._words(tiles, cuts, moving, overlaps, part)
        return total.astype(float)

    def _words(
        self, tiles: "list[_Tiles]", cuts: tuple[tuple[int, bool], ...], moving: int | None, overlaps: bool, part: Ints
    ) -> Ints:
        """Count the words of the distinct tiles in a kind of context, or the most that each shares with the one before.

        # (combination of `part`,)
        """
        grid = _grid(tiles)
        size = self._length([dim_tiles.first for dim_tiles in grid])
        if not overlaps:
            return _of_different(grid, self.coefs, size, size)
        shift, before = np.zeros(1, np.int64), []
        for i, (coef, dim_tiles) in enumerate(zip(self.coefs, grid, strict=True)):
            if i == moving:
                dim, level = self.dims[i], cuts[i][0] - 1
                shift = shift + coef * _column(self._advance(dim, level)[self.rows[i][part]], len(grid))
                before.append(_column(dim.tile(self.boundary)[self.rows[i][part]], len(grid)))
            else:
                shift = shift - coef * dim_tiles.way
                before.append(dim_tiles.last)
        overlap = np.minimum(self._length(before), shift + size) - np.maximum(shift, 0)
        return _of_different(grid, self.coefs, size, np.maximum(overlap, 0))

    def _length(self, extents: Sequence[Ints]) -> Ints:
        """Compute the length of the interval that a tile of these extents spans."""
        return reduce(
            np.add, (c * (extent - 1) for c, extent in zip(self.coefs, extents, strict=True)), np.ones(1, int)
        )

    def _advance(self, dim: Chains, level: int) -> Ints:
        """Compute how far a step of a temporal loop moves the tile, as the loops inside it restart. # (chain,)"""
        inside = ((dim.time[:, i] - 1) * dim.time_step[:, i] for i in range(level + 1, self.boundary))
        return dim.time_step[:, level] - sum(inside, np.zeros(len(dim), np.int64))


@dataclass(frozen=True, eq=False)
class _Tiles:
    """The tiles of one kind of context of one dim; see Contexts. # (combination, child...) each"""

    active: Bools
    start: Ints
    way: Ints
    first: Ints
    last: Ints

    @classmethod
    def of(cls, kinds: Contexts, rows: Ints, kind: int) -> "_Tiles":
        every = (kinds.active, kinds.start, kinds.way, kinds.first, kinds.last)
        active, start, way, first, last = (column[rows, kind] for column in every)
        return cls(active > 0, start, way, first, last)


def _column(values: Ints, dims: int) -> Ints:
    return values.reshape(-1, *[1] * dims)


def _grid(tiles: list[_Tiles]) -> list[_Tiles]:
    """Give the children of each dim an axis of their own. # (combination, child of dim 0, child of dim 1, ...)"""
    grid = []
    for i, dim_tiles in enumerate(tiles):
        shape = [len(dim_tiles.active), *(dim_tiles.active.shape[1] if j == i else 1 for j in range(len(tiles)))]
        columns = (dim_tiles.start, dim_tiles.way, dim_tiles.first, dim_tiles.last)
        grid.append(_Tiles(dim_tiles.active.reshape(shape), *(column.reshape(shape) for column in columns)))
    return grid


def _of_different(grid: list[_Tiles], coefs: Sequence[int], size: Ints, words: Ints) -> Ints:
    """Sum the largest `words` of each distinct tile over the children with work. # (combination,)"""
    every = reduce(and_, (dim_tiles.active for dim_tiles in grid))
    starts = reduce(np.add, (coef * dim_tiles.start for coef, dim_tiles in zip(coefs, grid, strict=True)))
    active = every.reshape(len(every), -1)
    start, extent, most = (
        np.broadcast_to(column, every.shape).reshape(active.shape) for column in (starts, size, words)
    )
    if active.shape[1] == 1:
        return (active * most)[:, 0]
    tile = np.where(active, start * (int(extent.max(initial=0)) + 1) + extent, -1)
    span = int(most.max(initial=0)) + 1
    key = np.sort(tile * span + (span - 1 - most), axis=1)  # equal tiles together, the largest words first
    new = np.ones(key.shape, bool)
    new[:, 1:] = key[:, 1:] // span != key[:, :-1] // span
    total: Ints = ((span - 1 - key % span) * (new & (key >= 0))).sum(axis=1)
    return total


class RankWords:
    """Words that move along a rank between a parent and a child, for all combinations of the chains of its dims.

    With a `block` they are the blocks of so many indices that the words touch. With `parent` None: words that each
    child receives. With `mean` they are no more than the instances of the origin's
    words: children that may need the same tile do so at the origin, but perhaps not at the last instance, so only those
    that differ in one dim count.
    """

    def __init__(
        self,
        terms: Sequence[tuple[Chains, int]],
        rows: Sequence[Ints],
        child: int,
        parent: int | None,
        *,
        mean: bool = False,
        block: int = 1,
    ) -> None:
        self.child, self.block = child, block
        seen = [merged_chains(chains, child) for chains, _ in terms]
        shape = [len(chains) for chains, _ in seen]
        self.which = np.ravel_multi_index(
            [which[term_rows] for (_, which), term_rows in zip(seen, rows, strict=True)], shape
        )
        dims, coefs = tuple(chains for chains, _ in seen), tuple(coef for _, coef in terms)
        grid = tuple(np.unravel_index(np.arange(prod(shape)), shape))
        self.dims, self.n = dims, prod(shape)
        self._views: list[tuple[Ints, View | BlockView]] = []  # combinations, and a view that bounds them
        free, shared = np.arange(self.n), np.zeros(self.n, bool)
        served = _served(dims[0], parent, child)
        if served is not None and parent is not None and len(dims) > 1:
            shared, listed = _sharing(dims, grid, parent, child, served)
            free = np.flatnonzero(~shared)
            if listed.any() and not mean and block == 1:
                self._add(np.flatnonzero(listed), coefs, grid, (child,) * len(dims), served)
            if shared.any():
                self._add_fewer(coefs, grid, parent)
        if len(free):
            self._add(free, coefs, grid, (child,) * len(dims), None)

    def _add(
        self, combinations: Ints, coefs: tuple[int, ...], grid: Sequence[Ints], below: Cuts, served: int | None
    ) -> None:
        rows = tuple(index[combinations] for index in grid)
        view: View | BlockView = View(self.dims, coefs, rows, self.child, below, served)
        if self.block > 1:
            view = BlockView(self.dims, coefs, rows, self.child, below, self.block)
        self._views.append((combinations, view))

    def _add_fewer(self, coefs: tuple[int, ...], grid: Sequence[Ints], parent: int) -> None:
        """Add views of the children along one dim at a time: fewer of them never receive more."""
        for full in range(len(self.dims)):
            below = tuple(self.child if i == full else parent for i in range(len(self.dims)))
            self._add(np.arange(self.n), coefs, grid, below, None)

    @property
    def sizes(self) -> Floats:
        """The words of all tiles. # (row,)"""
        return self._best(lambda view: view.sizes)

    def once(self, cuts: Cuts) -> Floats:
        """Bound the words of one pass over the tiles of every context at `cuts`. # (row,)"""
        return self._best(lambda view: view.sizes - self._stay(view, cuts, inner=True))

    def again(self, cuts: Cuts) -> Floats:
        """Bound the words of a pass that follows an equal pass. # (row,)"""
        return self._best(
            lambda view: (
                view.sizes - self._stay(view, cuts, inner=True) - view.wrap(cuts) - self._stay(view, cuts, inner=False)
            )
        )

    def _stay(self, view: View | BlockView, cuts: Cuts, inner: bool) -> Floats:
        """Bound the words that stay at the steps of the rank's own loops inside `cuts`, or outside. # (combination,)"""
        most = np.zeros(len(view.rows[0]))
        for i, dim in enumerate(self.dims if len(self.dims) > 1 else ()):  # a tile of one dim moves by its own length
            for level in range(cuts[i], self.child) if inner else range(cuts[i]):
                if (dim.time[:, level] > 1).any():
                    choices = product(*((level,) if j == i else (level, level + 1) for j in range(len(self.dims))))
                    most = most + reduce(np.maximum, (view.shift(i, level, choice) for choice in choices))
        return most

    def _best(self, words: Callable[[View | BlockView], Floats]) -> Floats:
        most = np.zeros(self.n)
        for combinations, view in self._views:
            most[combinations] = np.maximum(most[combinations], words(view))
        return most[self.which]


def _served(dim: Chains, parent: int | None, child: int) -> int | None:
    """Find the innermost level between parent and child with fanout axes below it, if any."""
    levels = dim.arch.levels
    between = range(child - 1, parent - 1, -1) if parent is not None else ()
    return next((level for level in between if levels[level].fanout), None)


def _sharing(dims: Sequence[Chains], grid: Sequence[Ints], parent: int, child: int, served: int) -> tuple[Bools, Bools]:
    """Mark the combinations whose children may need the same tile, as several dims are spread below one parent; and
    those of them that are listed exactly: with two dims, spread at one level, at most one with a remainder there, and
    none if bypassed levels have loops inside. # (combination,) each"""
    spread, ragged, loops, elsewhere = [], [], [], []
    for dim, rows in zip(dims, grid, strict=True):
        fanout = dim.space[:, parent:child].prod(axis=1)
        digit = dim.last(dim.space_step[:, served], dim.space[:, served])
        short = (digit + 1 < dim.space[:, served]) | ((dim.size - 1) % dim.tile(child) + 1 != dim.tile(child))
        inside = np.zeros(len(dim), bool)
        for level in range(served + 1, child):
            short |= dim.last(dim.time_step[:, level], dim.time[:, level]) + 1 < dim.time[:, level]
            inside |= dim.time[:, level] > 1
        spread.append(fanout[rows] > 1)
        ragged.append(short[rows])
        loops.append(inside[rows])
        elsewhere.append((fanout != dim.space[:, served])[rows])
    shared = np.sum(spread, axis=0) > 1
    unlike = np.all(ragged, axis=0) | np.any(loops, axis=0) & np.any(ragged, axis=0) | np.any(elsewhere, axis=0)
    return shared, shared & ~unlike & (len(dims) == 2)
