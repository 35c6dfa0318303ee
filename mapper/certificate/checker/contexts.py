"""Contexts of one dim, each with the first and the last tile that a child steps through in it.

Implemented again for the checker, from docs/model.md section 2. At a boundary (a level, or the MACs) a cut splits the
loops outside: temporal loops of levels before the cut are outer, those from the cut on inner. A *context* fixes all
outer indices and the coordinates that count (spatial loops of levels before `below`; the others stay at 0); within it
the inner temporal loops step through tiles. The outer loops cut the dim into blocks, all full but the last. In a full
block each coordinate has every tile; in the last block it has the elements after its start, computed greedily.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from ...mapping import Bools, Ints, unique_rows
from .chains import Chains


@dataclass(frozen=True, eq=False)
class Contexts:
    """Kinds of context, and the children served together in each: a single child, or all coordinates of a level."""

    number: Ints  # (chain, kind) contexts of this kind
    # (chain, kind, child) each
    active: Bools  # whether this child has work
    start: Ints  # start of its first tile, relative to the child at coordinate 0
    way: Ints  # distance from the start of its first tile to that of its last
    first: Ints  # extent of its first tile
    last: Ints  # extent of its last tile

    @property
    def kinds(self) -> int:
        return int(self.number.shape[1])


Kind = tuple[Ints, Bools, Ints, Ints, Ints, Ints]  # the fields of Contexts for one kind, of the chains that have it
Kinds = list[tuple[Ints, Kind]]  # these chains, and the fields


def _side_by_side(kinds: Kinds) -> Contexts:
    """Stack the kinds, a column per kind; all chains have the first kind."""
    columns = [np.zeros((len(kinds[0][0]), len(kinds), *values.shape[1:]), values.dtype) for values in kinds[0][1]]
    for k, (rows, values) in enumerate(kinds):
        for column, value in zip(columns, values, strict=True):
            column[rows, k] = value
    return Contexts(*columns)


def _merged(kinds: Kinds) -> Contexts:
    """Stack the kinds of single children, and merge equal kinds of a chain."""
    singles = [(rows, number * active[:, 0], way, first, last) for rows, (number, active, _, way, first, last) in kinds]
    row, number, way, first, last = (
        np.concatenate([part.reshape(-1) for part in column]) for column in zip(*singles, strict=True)
    )
    used = number > 0
    distinct, which = unique_rows(np.stack([column[used] for column in (row, way, first, last)], axis=1))
    place = np.arange(len(distinct)) - np.searchsorted(distinct[:, 0], distinct[:, 0])  # among the kinds of its chain
    columns = np.zeros((4, len(kinds[0][0]), int(place.max(initial=0)) + 1, 1), np.int64)
    columns[0, distinct[:, 0], place, 0] = np.bincount(which, number[used], len(distinct)).astype(np.int64)
    columns[1:, distinct[:, 0], place, 0] = distinct.T[1:]
    return Contexts(columns[0, :, :, 0], columns[0] > 0, np.zeros_like(columns[0]), *columns[1:])


Loop = tuple[Ints, Ints, int]  # bounds, indices at the last element of the dim, the least index that counts; # (chain,)
AT_0 = -1  # in place of the least index: the index stays 0


def number(dim: Chains, boundary: int, cut: int, below: int) -> Ints:
    """Count the contexts with work: index tuples of outer loops and coordinates whose first tile is in the dim.

    # (chain,)
    """
    loops = []
    for level in range(boundary):
        loops.append(_time(dim, level, 0 if level < cut else AT_0))
        loops.append(_space(dim, level, 0 if level < below else AT_0))
    before, at_last = _blocks(dim, loops)
    return before + at_last


def contexts(
    dim: Chains, boundary: int, cut: int, below: int, moved: bool = False, served: int | None = None
) -> Contexts:
    """List the kinds of context; with `moved` only those whose index of the temporal loop of level cut-1 is not 0.

    With `served` the coordinates of that level are children served together and distinguish no contexts. Where there
    are temporal loops between that level and the cut, every child must have full blocks only.
    """
    split = served is not None and served < cut  # the children's coordinates stand among the outer loops
    loops, times = [], np.ones(len(dim), np.int64)
    for level in range(cut):
        least = int(moved and level == cut - 1)
        if split and level > served:  # type: ignore[operator]
            times = times * (dim.time[:, level] - least)
        else:
            loops.append(_time(dim, level, least))
            loops += [] if level == served else [_space(dim, level, 0 if level < below else AT_0)]
    before, at_last = _blocks(dim, loops)
    rest = np.full(len(dim), dim.size - 1)
    if cut:
        rest = rest % (dim.time_step[:, served] if split else dim.space_step[:, cut - 1])
    inside = [level for level in range(cut, boundary) if level < below and level != served]
    kinds = _Blocks(dim, boundary, cut, inside, served, rest).kinds(before * times, at_last * times)
    return _merged(kinds) if served is None else _side_by_side(kinds)


def _time(dim: Chains, level: int, least: int) -> Loop:
    return dim.time[:, level], dim.last(dim.time_step[:, level], dim.time[:, level]), least


def _space(dim: Chains, level: int, least: int) -> Loop:
    return dim.space[:, level], dim.last(dim.space_step[:, level], dim.space[:, level]), least


def _blocks(dim: Chains, loops: list[Loop]) -> tuple[Ints, Ints]:
    """Count the index tuples of `loops`, outermost first, before the last element's; and 1 where that one counts.

    # (chain,) each
    """
    before, at_last = np.zeros(len(dim), np.int64), np.ones(len(dim), np.int64)
    for bound, digit, least in loops:
        if least == AT_0:
            before = before + at_last * (digit > 0)
            at_last = at_last * (digit == 0)
        else:
            before = before * (bound - least) + at_last * np.maximum(digit - least, 0)
            at_last = at_last * (digit >= least)
    return before, at_last


@dataclass(frozen=True, eq=False)
class _Blocks:
    """The blocks into which outer loops cut a dim; the last block has `rest` elements after its first."""

    dim: Chains
    boundary: int
    cut: int
    inside: list[int]  # levels whose coordinates are contexts
    served: int | None
    rest: Ints  # (chain,)

    def kinds(self, before: Ints, at_last: Ints) -> Kinds:
        """List the kinds of context, given the numbers of full and of last blocks. # (chain,) each"""
        loops = [self.dim.space[:, level] for level in self.inside]
        every = np.arange(len(self.dim))
        kinds = [(every, self._full(before * np.prod([np.ones(len(every), np.int64), *loops], axis=0)))]
        for coordinates in product(*(range(int(loop.max(initial=0))) for loop in loops)):
            present = np.logical_and.reduce([at_last > 0, *map(np.less, coordinates, loops)])
            if present.any():
                rows = np.flatnonzero(present)
                kinds.append((rows, self._last(at_last, coordinates, rows)))
        return kinds

    @cached_property
    def _children(self) -> tuple[Bools, Ints]:
        """Whether each child exists, and where its tiles start. # (chain, child) each"""
        if self.served is None:
            return np.ones((len(self.dim), 1), bool), np.zeros((len(self.dim), 1), np.int64)
        bound, step = self.dim.space[:, self.served], self.dim.space_step[:, self.served]
        child = np.arange(int(bound.max(initial=1)))
        return child < bound[:, None], child * step[:, None]

    def _full(self, number: Ints) -> Kind:
        active, start = self._children
        tile = self.dim.tile(self.boundary)[:, None] + 0 * start
        steps = ((self.dim.time[:, i] - 1) * self.dim.time_step[:, i] for i in range(self.cut, self.boundary))
        way = sum(steps, np.zeros(len(self.dim), np.int64))
        return number, active, start, way[:, None] + 0 * start, tile, tile

    def _last(self, number: Ints, coordinates: tuple[int, ...], rows: Ints) -> Kind:
        exist, start = self._children[0][rows], self._children[1][rows]
        rest, tile = self.rest[rows, None], self.dim.tile(self.boundary)[rows, None]
        first = start
        for f, level in zip(coordinates, self.inside, strict=True):
            first = first + f * self.dim.space_step[rows, level, None]
        active = exist & (first <= rest)
        last = first
        for level in range(self.cut, self.boundary):
            step, bound = self.dim.time_step[rows, level, None], self.dim.time[rows, level, None]
            last = last + np.clip((rest - last) // step, 0, bound - 1) * step
        first_extent, last_extent = (np.where(active, np.minimum(tile, rest - at + 1), 1) for at in (first, last))
        return number[rows], active, start, np.where(active, last - first, 0), first_extent, last_extent


def merged_chains(chains: Chains, boundary: int) -> tuple[Chains, Ints]:
    """Merge chains that are equal at a boundary, where only the product of the bounds inside matters.

    Returns the merged chains, and the number of each chain's. # (chain,)
    """
    inside = [s for s, slot in enumerate(chains.arch.slots) if slot.level >= boundary]
    if not inside:
        return chains, np.arange(len(chains))
    seen = chains.bounds.copy()
    seen[:, inside[0]] = chains.bounds[:, inside].prod(axis=1)
    seen[:, inside[1:]] = 1
    sizes = np.broadcast_to(np.asarray(chains.size), len(seen))
    seen, which = unique_rows(np.column_stack([sizes, seen]))
    size = chains.size if isinstance(chains.size, int) else seen[:, 0]
    return Chains(chains.arch, size, seen[:, 1:]), which
