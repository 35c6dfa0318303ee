"""Exact reads and crossings of one mapping where `count` flags them: words that several children need at once.

`count` sums in closed form and, where two dims of a window are spread below one parent and end raggedly, may count
a read for each of two children that rule 3 serves together. Here the children's sets of new words are listed and
told apart - but per rank, never over the joint nest:

- A step is the very first one or an increment of one temporal loop k outside the child: everything inside k starts
  anew. A tile that is empty stays empty for larger indices, so every child active in the step held, before it, the
  tile with k one lower and all inside k at the last active index. Along each dim this involves that dim's loops only.

What is new in a tile, and which sets of new words differ, is decided rank by rank (new_words.py). A dim that the
tensor does not have is a rank whose tile is always the same single word.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

import numpy as np

from ...workloads import Tensor
from ..mapping import Ints, MappingBatch, Mappings, Numbers, keeper_pairs
from .counts import Counts, count, kept_words, whole
from .exactness import exactly
from .nests import Crossings, DataMovement, NestAnalysis, crossings, passings
from .new_words import NewWords, Tiles, distinct_words, new_words

WHOLE = (
    *("cycles", "fill_drain", "starts", "instances", "reads", "fills", "updates", "drains"),
    *("origin_reads", "origin_writes", "origin_drains", "origin_inexact"),
    *("burst_reads", "burst_updates", "activations"),
)
REMEMBERED = 512  # dims and ranks: of a window's pairs of indices, some hundred kilobytes each at most


def recount(batch: MappingBatch, known: Counts | None = None) -> Counts:
    """Count the accesses of the one mapping of `batch` exactly: `count`, with flagged reads counted anew, as Python
    integers.

    Takes as long as the flagged tensor has pairs of window indices (P x R), not MACs. `known` is what `count` says of
    it, where the caller has that. Raises ValueError for a batch of another length.
    """
    if len(batch) != 1:
        raise ValueError(f"recount takes one mapping at a time, got a batch of {len(batch)}")
    given, batch = batch, exactly(batch)
    counts = known if known is not None and batch is given else count(batch)  # floats may have rounded those known
    if not counts.exact[0]:
        counts = _corrected(counts, batch)
    figures = {name: whole(getattr(counts, name)) for name in WHOLE}
    crossed = partial(_crossings, batch, figures["reads"], figures["updates"])
    return replace(counts, **figures, tiles=partial(_tile_words, batch), crossings=crossed)


def _crossings(batch: MappingBatch, reads: Numbers, updates: Numbers, nest: NestAnalysis | None = None) -> Crossings:
    """Words that cross the arrays, from exact reads and updates; of levels that they pass listed where flagged."""
    nest = nest or NestAnalysis(batch)
    crossed = crossings(batch, reads, updates, nest, exact=np.ones(1, bool))
    every = whole(crossed.words)
    for passing in () if crossed.exact[0] else passings(batch):
        tensor, level, child = batch.workload.tensors[passing.v], passing.level, passing.child
        if not DataMovement(nest, tensor, child, parent=level).exact()[0]:
            every[0, level, passing.v] = words(batch, tensor, level, child)
    return Crossings(every, np.ones(1, bool))


def _tile_words(batch: MappingBatch) -> Numbers:
    return whole(kept_words(batch))


def _corrected(counts: Counts, batch: MappingBatch) -> Counts:
    """`counts` without the reads too many; they are of inputs, as outputs have no windows."""
    reads, origin_reads = counts.reads.copy(), counts.origin_reads - counts.origin_inexact
    burst_reads, activations = counts.burst_reads.copy(), counts.activations.copy()
    for v, tensor in enumerate(batch.workload.tensors):
        for parent, child, _ in keeper_pairs(batch.keep[:, :, v]):
            if not counts.inexact[0, parent, v]:
                continue
            reads[0, parent, v] = words(batch, tensor, parent, child)
            storage = batch.arch.levels[parent]
            if storage.dram is not None:
                blocks = storage.blocks(batch.workload, tensor)
                burst_reads[0, v] = words(batch, tensor, parent, child, box=blocks.burst)
                origin_reads[0, parent] += blocks.words * burst_reads[0, v]
                activations[0, v] = words(batch, tensor, parent, child, box=blocks.row) if blocks.row else 0
            elif storage.bandwidths:
                origin_reads[0, parent] += words(batch, tensor, parent, child, origin=True)
    none = np.zeros_like(counts.inexact), 0 * counts.origin_inexact
    return replace(
        counts,
        reads=reads,
        origin_reads=origin_reads,
        burst_reads=burst_reads,
        activations=activations,
        inexact=none[0],
        origin_inexact=none[1],
    )


def words(
    batch: MappingBatch, tensor: Tensor, parent: int, child: int, origin: bool = False, box: Sequence[int] = ()
) -> int:
    """Words of `tensor` that `parent` (with `origin` only its instance at the spatial origin) hands to `child`, its
    next keeper or the MACs (the number of levels), in the one mapping of `batch`; identical sets count once.

    They may also be those that only pass `parent` on their way to the next keeper. With a `box` they are the blocks of
    a DRAM that they touch."""
    steps = WordsByLoop(batch, tensor, parent, child, origin, box)
    total = steps.first()
    if child < len(batch.arch.levels):
        for level in range(child):
            order = batch.order[0, level].tolist()  # what stands before k lies outside it
            total += sum(steps.at(level, d, order[:place]) for place, d in enumerate(order))
    return total


class WordsByLoop:
    """Words of `tensor` that `parent` hands to `child` in the one mapping of `batch`, by the loop k that is advanced.

    What moves at a loop depends on the loops of its own level outside it and on no other order, so that the orders of
    `batch` do not matter here.
    """

    def __init__(
        self,
        batch: Mappings,
        tensor: Tensor,
        parent: int,
        child: int,
        origin: bool = False,
        box: Sequence[int] = (),
    ) -> None:
        dims = [_dim(batch, d, parent, child, origin) for d in range(len(batch.workload.dims))]
        by_name = dict(zip(batch.workload.dims, dims, strict=True))
        terms = [tuple((by_name[term.dim], term.coef) for term in rank) for rank in tensor.ranks]
        terms += [((dim, 0),) for name, dim in by_name.items() if name not in tensor.dims]
        blocks = [*(box or (1 for _ in tensor.ranks)), *(1 for _ in terms[len(tensor.ranks) :])]
        self._dims, self._ranks = dims, [_rank(rank, block) for rank, block in zip(terms, blocks, strict=True)]
        self._first = child if child == len(batch.arch.levels) else 0  # MACs hold nothing: each step is like the first

    def first(self) -> int:
        """Words of the steps before which nothing is held."""
        return distinct_words([rank.first(self._first) for rank in self._ranks])

    def at(self, level: int, d: int, outside: Iterable[int]) -> int:
        """Words at the increments of the loop of dim `d` at `level`, those of `outside` standing outside it there."""
        moving = self._dims[d]
        if moving.bounds[level] == 1:
            return 0
        return distinct_words([rank.sets(level, moving, [self._dims[e] for e in outside]) for rank in self._ranks])


Loop = tuple[int, int]  # bound, stride


def _dim(batch: Mappings, d: int, parent: int, child: int, origin: bool) -> "_Dim":
    """The loops of dim `d` of the one mapping of `batch` outside `child`."""
    table, row = batch.tables[d], batch.rows[0, d]
    every = zip(batch.arch.slots, table.bounds[row].tolist(), table.strides[row].tolist(), strict=True)
    loops = [(slot, bound, stride) for slot, bound, stride in every if slot.level < child]
    temporal = tuple((bound, stride) for slot, bound, stride in loops if not slot.spatial)
    spatial = [(slot.level < parent, bound, stride) for slot, bound, stride in loops if slot.spatial]
    apart = tuple((1 if origin else bound, stride) for outer, bound, stride in spatial if outer)
    below = tuple((bound, stride) for outer, bound, stride in spatial if not outer)
    return _dim_of(d, batch.workload.sizes[d], loops[-1][2], temporal, apart, below)


@lru_cache(REMEMBERED)
def _dim_of(
    d: int, size: int, tile: int, temporal: tuple[Loop, ...], apart: tuple[Loop, ...], below: tuple[Loop, ...]
) -> "_Dim":
    """One object for equal loops of a dim; `d` tells dims apart that have equal ones."""
    bounds, strides = ([loop[i] for loop in temporal] for i in (0, 1))
    return _Dim(size, tile, bounds, strides, _offsets(apart), _offsets(below))


@lru_cache(REMEMBERED)
def _rank(terms: tuple[tuple["_Dim", int], ...], block: int) -> "_Rank":
    """One object for equal loops of a rank: mappings that are counted anew in turn share most of their loops."""
    return _Rank(terms, block)


@dataclass(eq=False)
class _Dim:
    """The loops of one dim outside the child."""

    size: int
    tile: int  # extent of a full tile of the child
    bounds: list[int]  # per level the temporal bound
    strides: list[int]
    apart: Ints  # offsets of the parent instances
    below: Ints  # offsets of the children of one parent instance

    def tiles(self, cut: int, moved: bool) -> "Tiles":
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
        return Tiles(group, start, self._last(start), held, self._last(held))

    def _last(self, start: Ints) -> Ints:
        return np.minimum(start + self.tile, self.size) - 1


def _offsets(loops: Sequence[Loop]) -> Ints:
    """All sums of index*stride, outer loops first: in ascending order. # (number of index combinations,)"""
    offsets = np.zeros(1, np.int64)
    for bound, stride in loops:
        offsets = np.add.outer(offsets, np.arange(bound) * stride).ravel()
    return offsets


@dataclass(eq=False)
class _Rank:
    """One rank: its dims with their coefficients."""

    terms: Sequence[tuple[_Dim, int]]
    block: int  # so many indices count as one word
    _new_words: dict[tuple[tuple[tuple[int, bool], ...], bool], NewWords] = field(default_factory=dict)

    def first(self, cut: int) -> NewWords:
        """The sets of steps before which nothing is held, temporal loops of levels below `cut` being outside k."""
        return self._known(tuple((cut, False) for _ in self.terms), held=False)

    def sets(self, level: int, moving: _Dim, outside: Sequence[_Dim]) -> NewWords:
        """The sets at increments of the loop of dim `moving` at `level`, which lies inside all loops of the levels
        before and those of the dims `outside` at its own."""
        cuts = tuple((level + (dim is moving or dim in outside), dim is moving) for dim, _ in self.terms)
        return self._known(cuts, held=True)

    def _known(self, cuts: tuple[tuple[int, bool], ...], held: bool) -> NewWords:
        if (cuts, held) not in self._new_words:
            self._new_words[cuts, held] = new_words(self._tiles(cuts), held, self.block)
        return self._new_words[cuts, held]

    def _tiles(self, cuts: Sequence[tuple[int, bool]]) -> Tiles:
        zero = np.zeros(1, np.int64)
        tiles = Tiles(zero, zero, zero, zero, zero)
        for (dim, coef), (cut, moved) in zip(self.terms, cuts, strict=True):
            tiles = tiles.joined(dim.tiles(cut, moved), coef)
        return tiles
