"""Exact reads of one mapping where `count` flags them: words that several children need and one read serves.

`count` sums in closed form and, where two dims of a window are spread below one parent and end raggedly, may count
a read for each of two children that rule 3 serves together. Here the children's sets of new words are listed and
told apart - but per rank, never over the joint nest:

- A step is the very first one or an increment of one temporal loop k outside the child: everything inside k starts
  anew. A tile that is empty stays empty for larger indices, so every child active in the step held, before it, the
  tile with k one lower and all inside k at the last active index. Along each dim this involves that dim's loops only.
- A child needs the tile T, a product over ranks of intervals T_r, and still holds O, the product of the overlaps O_r.
  Its new words are T - O. They are a product of one set per rank in two cases: T itself where some O_r is empty,
  and (T_h - O_h) x the other T_r where h is the only rank with O_h != T_h. With two or more such ranks they are no
  product, and T and O can be read off them: T - O projects onto all of T_r, as a point of another rank's T - O can
  stand beside any point of T_r.
- So two children have identical new words just when these sets per rank (or, in the third case, T_r and O_r) are
  identical in every rank. Which of the three cases holds is decided rank by rank too, from a few properties of each
  set. Sums of products over ranks are products of sums, so it is enough to know per rank, added up over all parent
  instances and outer loop indices, how many words there are in the different sets of each combination of properties.

A dim that the tensor does not have is a rank whose tile is always the same single word.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from math import prod

import numpy as np

from ...workloads import Tensor
from ..mapping import Ints, MappingBatch, Numbers
from .counts import Counts, count, tile_words, whole
from .exactness import exactly
from .nest_analysis import DataMovement, NestAnalysis

# Properties of one set of words along a rank, among the children of one parent instance in one step.
TILE = 1  # some child's T_r
FRESH = 2  # some child's T_r while its O_r is empty
HELD = 4  # some child's T_r while its O_r is all of it
REST = 8  # some child's T_r - O_r, neither empty nor all of T_r


def recount(batch: MappingBatch) -> Counts:
    """Count the accesses of the one mapping of `batch` exactly: `count`, with flagged reads counted anew, as Python
    integers.

    Takes as long as the flagged tensor has pairs of window indices (P x R), not MACs. Raises ValueError for a
    batch of another length.
    """
    if len(batch) != 1:
        raise ValueError(f"recount takes one mapping at a time, got a batch of {len(batch)}")
    batch = exactly(batch)
    counts = count(batch)
    if not counts.exact[0]:
        _correct_flagged(counts, batch)
    names = ("cycles", "reads", "fills", "updates", "instances", "origin_reads", "origin_writes")
    figures = {name: whole(getattr(counts, name)) for name in names}
    return replace(counts, **figures, tiles=partial(_tile_words, batch))


def _tile_words(batch: MappingBatch) -> Numbers:
    return whole(tile_words(batch))


def _correct_flagged(counts: Counts, batch: MappingBatch) -> None:
    nest = NestAnalysis(batch)
    for v, tensor in enumerate(batch.workload.tensors):
        keepers = [*np.flatnonzero(batch.keep[0, :, v]).tolist(), nest.levels]
        for parent, child in zip(keepers, keepers[1:], strict=False):
            if not DataMovement(nest, tensor, child, parent=parent).exact()[0]:
                _correct(counts, nest, v, parent, child)
    counts.exact[0] = True


def _correct(counts: Counts, nest: NestAnalysis, v: int, parent: int, child: int) -> None:
    """Take from `counts` the reads too many of tensor number `v`; an input, as outputs have no windows."""
    tensor = nest.batch.workload.tensors[v]
    counts.reads[0, parent, v] = words(nest.batch, tensor, parent, child)
    if nest.batch.arch.levels[parent].limited:
        flagged = DataMovement(nest, tensor, child, parent=parent, origin=True).words()[0]
        counts.origin_reads[0, parent] -= flagged - words(nest.batch, tensor, parent, child, origin=True)


def words(batch: MappingBatch, tensor: Tensor, parent: int, child: int, origin: bool = False) -> int:
    """Words of `tensor` that `parent` (with `origin` only its instance at the spatial origin) hands to `child`, its
    next keeper or the MACs (the number of levels), in the one mapping of `batch`; identical sets count once."""
    steps = Steps(batch, tensor, parent, child, origin)
    total = steps.first()
    if child < len(batch.arch.levels):
        for level in range(child):
            order = batch.order[0, level].tolist()  # what stands before k lies outside it
            total += sum(steps.at(level, d, order[:place]) for place, d in enumerate(order))
    return total


class Steps:
    """Words of `tensor` that `parent` hands to `child` in the one mapping of `batch`, by the loop k that is advanced.

    What moves at a loop depends on the loops of its own level outside it and on no other order, so that the orders of
    `batch` do not matter here.
    """

    def __init__(self, batch: MappingBatch, tensor: Tensor, parent: int, child: int, origin: bool = False) -> None:
        dims = [_Dim.of(batch, d, parent, child, origin) for d in range(len(batch.workload.dims))]
        by_name = dict(zip(batch.workload.dims, dims, strict=True))
        terms = [[(by_name[term.dim], term.coef) for term in rank] for rank in tensor.ranks]
        terms += [[(dim, 0)] for name, dim in by_name.items() if name not in tensor.dims]
        self._dims, self._ranks = dims, [_Rank(rank) for rank in terms]
        self._first = child if child == len(batch.arch.levels) else 0  # MACs hold nothing: each step is like the first

    def first(self) -> int:
        """Words of the steps before which nothing is held."""
        return _distinct([rank.first(self._first) for rank in self._ranks])

    def at(self, level: int, d: int, outside: Iterable[int]) -> int:
        """Words at the increments of the loop of dim `d` at `level`, those of `outside` standing outside it there."""
        moving = self._dims[d]
        if moving.bounds[level] == 1:
            return 0
        return _distinct([rank.sets(level, moving, [self._dims[e] for e in outside]) for rank in self._ranks])


@dataclass(eq=False)
class _Dim:
    """The loops of one dim outside the child."""

    size: int
    tile: int  # extent of a full tile of the child
    bounds: list[int]  # per level the temporal bound
    strides: list[int]
    apart: Ints  # offsets of the parent instances
    below: Ints  # offsets of the children of one parent instance

    @classmethod
    def of(cls, batch: MappingBatch, d: int, parent: int, child: int, origin: bool) -> "_Dim":
        table, row = batch.tables[d], batch.rows[0, d]
        bounds, strides = table.bounds[row].tolist(), table.strides[row].tolist()
        every = zip(batch.arch.slots, bounds, strides, strict=True)
        loops = [(slot, bound, stride) for slot, bound, stride in every if slot.level < child]
        temporal = [(bound, stride) for slot, bound, stride in loops if not slot.spatial]
        spatial = [(slot.level < parent, bound, stride) for slot, bound, stride in loops if slot.spatial]
        return cls(
            table.size,
            loops[-1][2],
            [bound for bound, _ in temporal],
            [stride for _, stride in temporal],
            _offsets([(1 if origin else bound, stride) for outer, bound, stride in spatial if outer]),
            _offsets([(bound, stride) for outer, bound, stride in spatial if not outer]),
        )

    def tiles(self, cut: int, moved: bool) -> "_Tiles":
        """What children need and held at increments, temporal loops of levels below `cut` being outside k; `moved`:
        the last of those is k itself."""
        loops = list(zip(self.bounds, self.strides, strict=True))
        outer = _offsets(loops[:cut])
        if moved:
            bound, stride = loops[cut - 1]
            outer = np.add.outer(_offsets(loops[: cut - 1]), np.arange(1, bound) * stride).ravel()
        groups = np.add.outer(outer, self.apart).ravel()
        start = np.add.outer(groups, self.below)
        group = np.broadcast_to(np.arange(len(groups))[:, None], start.shape)
        active = start < self.size
        start, group = start[active], group[active]
        before = start - self.strides[cut - 1] if moved else start
        inner = _offsets(loops[cut:])  # ascending: the last one inside the dim is the last that was active
        held = before + inner[np.searchsorted(inner, self.size - before) - 1]
        return _Tiles(group, start, self._last(start), held, self._last(held))

    def _last(self, start: Ints) -> Ints:
        return np.minimum(start + self.tile, self.size) - 1


def _offsets(loops: list[tuple[int, int]]) -> Ints:
    """All sums of index*stride, outer loops first: in ascending order. # (number of index combinations,)"""
    found = np.zeros(1, np.int64)
    for bound, stride in loops:
        found = np.add.outer(found, np.arange(bound) * stride).ravel()
    return found


@dataclass(frozen=True, eq=False)
class _Tiles:
    """Tiles of children as intervals, ends included; of one dim, or of a rank. # (child,) each"""

    group: Ints  # the step and parent instance: children of one group are served together
    first: Ints
    last: Ints
    held_first: Ints
    held_last: Ints

    def joined(self, other: "_Tiles", coef: int) -> "_Tiles":
        """Every child of this dim with every one of `other`, whose indices count `coef` times. # (child x other)"""

        def add(mine: Ints, theirs: Ints) -> Ints:
            return np.add.outer(mine, theirs).ravel()

        return _Tiles(
            add(self.group * (other.group.max(initial=0) + 1), other.group),
            add(self.first, coef * other.first),
            add(self.last, coef * other.last),
            add(self.held_first, coef * other.held_first),
            add(self.held_last, coef * other.held_last),
        )


@dataclass(frozen=True)
class _Sets:
    """Words in the different sets along one rank, summed over groups."""

    words: dict[int, int]  # by properties of the set (TILE, FRESH, HELD, REST)
    tile: int  # |T_r| summed over different (T_r, O_r) with O_r neither empty nor T_r
    kept: int  # |O_r| summed over the same

    @property
    def held(self) -> int:
        """|T_r| summed over different T_r with O_r = T_r."""
        return sum(words for properties, words in self.words.items() if properties & HELD)


@dataclass(eq=False)
class _Rank:
    """One rank: its dims with their coefficients."""

    terms: list[tuple[_Dim, int]]
    _found: dict[tuple[tuple[int, bool], ...], _Sets] = field(default_factory=dict)

    def first(self, cut: int) -> _Sets:
        """The sets of steps before which nothing is held, temporal loops of levels below `cut` being outside k."""
        return _sets(self._tiles([(cut, False)] * len(self.terms)), held=False)

    def sets(self, level: int, moving: _Dim, outside: Sequence[_Dim]) -> _Sets:
        """The sets at increments of the loop of dim `moving` at `level`, which lies inside all loops of the levels
        before and those of the dims `outside` at its own."""
        cuts = tuple((level + (dim is moving or dim in outside), dim is moving) for dim, _ in self.terms)
        if cuts not in self._found:
            self._found[cuts] = _sets(self._tiles(cuts), held=True)
        return self._found[cuts]

    def _tiles(self, cuts: Sequence[tuple[int, bool]]) -> _Tiles:
        zero = np.zeros(1, np.int64)
        found = _Tiles(zero, zero, zero, zero, zero)
        for (dim, coef), (cut, moved) in zip(self.terms, cuts, strict=True):
            found = found.joined(dim.tiles(cut, moved), coef)
        return found


def _sets(tiles: _Tiles, held: bool) -> _Sets:
    """Tell the sets of the children of each group apart. Without `held` nothing was held before.

    A set is written as an interval and the hole in it; (0, -1) is no hole.
    """
    group, first, last = tiles.group, tiles.first, tiles.last
    left, right = np.maximum(first, tiles.held_first), np.minimum(last, tiles.held_last)
    fresh = (left > right) | (not held)
    same = ~fresh & (left == first) & (right == last)
    part = ~fresh & ~same
    at_start, at_end = left == first, right == last
    hole = ~at_start & ~at_end
    rest = (
        group,
        np.where(at_start, right + 1, first),
        np.where(at_end, left - 1, last),
        np.where(hole, left, 0),
        np.where(hole, right, -1),
    )
    whole = (group, first, last, np.zeros_like(first), np.full_like(first, -1))
    columns = [np.concatenate([w, r[part]]) for w, r in zip(whole, rest, strict=True)]
    tags = np.concatenate([TILE + FRESH * fresh + HELD * same, np.full(part.sum(), REST)])
    order, starts = _runs(columns)
    _, low, high, hole_low, hole_high = (column[order][starts] for column in columns)
    properties = np.bitwise_or.reduceat(tags[order], starts)
    sizes = high - low - (hole_high - hole_low)
    pairs = [column[part] for column in (group, first, last, left, right)]
    order, starts = _runs(pairs)
    _, first, last, left, right = (column[order][starts] for column in pairs)
    return _Sets(
        {p: _total(sizes[properties == p]) for p in np.unique(properties).tolist()},
        _total(last - first + 1),
        _total(right - left + 1),
    )


def _total(words: Ints) -> int:
    """Their sum, also where int64 does not hold it."""
    high, low = np.divmod(words, 1 << 32)
    return (int(high.sum()) << 32) + int(low.sum())


def _runs(columns: Sequence[Ints]) -> tuple[Ints, Ints]:
    """An order that brings equal rows together, and where in it each different row starts."""
    order = np.lexsort(columns)
    new = np.ones(len(order), bool)
    new[1:] = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    return order, np.flatnonzero(new)


def _distinct(ranks: Sequence[_Sets]) -> int:
    """Words in the different sets of new words of children, over all groups of all ranks."""
    total = 0
    for choice in product(*(rank.words.items() for rank in ranks)):
        if _needed([properties for properties, _ in choice]):
            total += prod(words for _, words in choice)
    held = [rank.held for rank in ranks]
    return total + _of_several(held, [rank.tile for rank in ranks]) - _of_several(held, [rank.kept for rank in ranks])


def _needed(properties: Sequence[int]) -> bool:
    """Whether a product of sets with these properties, one per rank, is the new words of some child."""
    if all(p & TILE for p in properties) and any(p & FRESH for p in properties):
        return True
    not_held = [p for p in properties if not p & HELD]
    if len(not_held) == 1:
        return bool(not_held[0] & REST)
    return not not_held and any(p & REST for p in properties)


def _of_several(held: Sequence[int], changed: Sequence[int]) -> int:
    """Sum of the products with two factors or more from `changed` and the others from `held`."""
    one = sum(c * prod([*held[:r], *held[r + 1 :]]) for r, c in enumerate(changed))
    return prod(h + c for h, c in zip(held, changed, strict=True)) - one - prod(held)
