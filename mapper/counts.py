"""Exact access counts of a batch of mappings on the reference machine (docs/model.md).

For a tensor between a parent level and its next keeper inside, words moved are the sizes of all tiles less
what consecutive tiles share. Both sums factor: over the tensor's ranks (ranks.py) and over the irrelevant dims
(numbers of contexts, prefixes.py). The second has one term per temporal loop outside the child, for the
increments of that loop; whether another dim's loop of the same level lies outside it is all that loop order
decides.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, reduce
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..workloads import Tensor
from .mapping import Bools, ChainTable, Floats, Ints, MappingBatch
from .prefixes import Prefixes, level_slots, outside, prefixes
from .ranks import RankView

# Tables over all pairs of chains of a window's dims are built up to this many rows, else the batch's own pairs.
PAIR_LIMIT = 1 << 16


@dataclass(eq=False)
class Counts:
    """What executing the nests would count. Words are totals over all instances of a level."""

    cycles: Floats  # (mapping,) temporal steps with any active MAC
    tile_words: Floats  # (mapping, level, tensor) largest tile of one instance; 0 where bypassed
    reads: Floats  # (mapping, level, tensor)
    fills: Floats  # (mapping, level, tensor)
    updates: Floats  # (mapping, level, tensor)
    instances: Floats  # (mapping, level) instances ever active; the last column counts MAC units
    origin_reads: Floats  # (mapping, level) words read at the busiest instance, the spatial origin
    origin_writes: Floats  # (mapping, level) words filled and updated there
    exact: Bools  # (mapping,) False: reads may exceed the executor's, never fall short (docs/model.md)


def count(batch: MappingBatch) -> Counts:
    """Count the accesses of every mapping of `batch`.

    Origin counts are only filled in for levels that have a bandwidth; elsewhere they are 0.
    """
    nest = Nest(batch)
    n, levels, tensors = len(batch), nest.levels, batch.workload.tensors
    words = {name: np.zeros((n, levels, len(tensors))) for name in ("tile_words", "reads", "fills", "updates")}
    origin = {name: np.zeros((n, levels)) for name in ("origin_reads", "origin_writes")}
    counts = Counts(cycles=nest.cycles(), instances=nest.instances(), exact=np.ones(n, bool), **words, **origin)
    counts.tile_words[:] = nest.tile_words()
    for v, tensor in enumerate(tensors):
        for parent, child, where in keeper_pairs(batch.keep[:, :, v]):
            whole = len(where) == n
            part = nest if whole else Nest(batch.take(where))
            _add_pair(counts, part, tensor, v, parent, child, slice(None) if whole else where)
    return counts


def keeper_pairs(keep: Bools) -> Iterator[tuple[int, int, Ints]]:
    """(parent, child, mappings) for neighbouring keepers of one tensor; the MACs are child len(levels)."""
    n, levels = keep.shape
    columns = np.concatenate([keep, np.ones((n, 1), bool)], axis=1)
    for parent in range(levels):
        free = columns[:, parent].copy()
        for child in range(parent + 1, levels + 1):
            where = np.flatnonzero(free & columns[:, child])
            if len(where):
                yield parent, child, where
            free &= ~columns[:, child]


def _add_pair(
    counts: Counts, nest: "Nest", tensor: Tensor, v: int, parent: int, child: int, where: Ints | slice
) -> None:
    """Add the traffic of one tensor between two neighbouring keepers."""
    macs = child == nest.levels
    read = Flow(nest, tensor, child, parent=parent)
    moved = read.words()
    counts.exact[where] &= read.exact()
    if tensor.output:
        counts.updates[where, parent, v] = moved
        counts.reads[where, parent, v] = moved - nest.distinct(tensor, parent)
    else:
        counts.reads[where, parent, v] = moved
    if not macs:
        # without a fanout between the two, what one hands out is what the other receives
        filled = Flow(nest, tensor, child).words() if nest.fans_out(parent, child) else moved
        first = nest.distinct(tensor, child) if tensor.output else 0.0
        counts.fills[where, child, v] = filled - first
    levels = nest.batch.arch.levels
    if levels[parent].limited:
        busiest = Flow(nest, tensor, child, parent=parent, origin=True).words()
        if tensor.output:
            counts.origin_writes[where, parent] += busiest
            counts.origin_reads[where, parent] += busiest - nest.distinct(tensor, parent, origin=True)
        else:
            counts.origin_reads[where, parent] += busiest
    if not macs and levels[child].limited:
        busiest = Flow(nest, tensor, child, origin=True).words()
        first = nest.distinct(tensor, child, origin=True) if tensor.output else 0.0
        counts.origin_writes[where, child] += busiest - first


@dataclass(eq=False)
class Nest:
    """A batch with what all its tensors share: positions of loops, views of its chain tables."""

    batch: MappingBatch
    _before: dict[tuple[int, int, int], Floats] = field(default_factory=dict)
    _which: dict[tuple[int, int, tuple[int, ...]], Ints] = field(default_factory=dict)
    _extents: dict[tuple[int, int], Ints] = field(default_factory=dict)
    _combinations: dict[tuple[tuple[int, ...], int], tuple[tuple[ChainTable, ...], tuple[int, ...], Ints]] = field(
        default_factory=dict
    )
    _gathered: dict[tuple[int, int], tuple[object, Floats, Floats | None]] = field(default_factory=dict)

    @property
    def levels(self) -> int:
        return len(self.batch.arch.levels)

    @cached_property
    def dims(self) -> list[int]:
        """Dims that have loops at all: those of size over 1."""
        return [d for d, size in enumerate(self.batch.workload.sizes) if size > 1]

    @cached_property
    def position(self) -> NDArray[np.int8]:
        """Where in its level's loop order each dim stands, 0 outermost. # (level, dim, mapping)"""
        order = self.batch.order.transpose(1, 2, 0)
        position = np.empty(order.shape, np.int8)
        np.put_along_axis(position, order, np.arange(order.shape[1], dtype=np.int8)[None, :, None], axis=1)
        return position

    def fans_out(self, parent: int, child: int) -> bool:
        """Whether one instance of `parent` has several of `child` below it."""
        return any(self.batch.arch.axes[parent:child])

    def before(self, level: int, e: int, d: int) -> Floats:
        """1 where the loop of dim e lies outside that of dim d at `level`, else 0. # (mapping,)"""
        key = (level, e, d)
        if key not in self._before:
            self._before[key] = (self.position[level, e] < self.position[level, d]).astype(np.float64)
        return self._before[key]

    def which(self, level: int, dims: tuple[int, ...], d: int) -> Ints:
        """Which of `dims` have their loop of `level` outside that of dim d, as a binary number. # (mapping,)"""
        key = (level, d, dims)
        if key not in self._which:
            number = np.zeros(len(self.batch), np.int64)
            for e in dims:
                number = 2 * number + (self.position[level, e] < self.position[level, d])
            self._which[key] = number
        return self._which[key]

    def at_cut(self, owner: object, columns: NDArray[Any], row: Ints, level: int, e: int, d: int) -> Floats:
        """columns[0] at `row`, columns[1] where the loop of dim e lies outside that of dim d at `level`: the cut
        of e at the increments of that loop of d; of d itself the difference. # (mapping,)

        What is gathered is kept for all flows that read the same columns of the same owner.
        """
        key = (id(owner), level)
        if key not in self._gathered:
            outside = columns[0][row].astype(np.float64)
            more = columns[1][row] - outside if self.repeats(level, e) else None
            self._gathered[key] = owner, outside, more  # the owner is kept, and with it its id
        _, outside, more = self._gathered[key]
        if more is None:
            return outside if e != d else np.zeros(len(row))
        if e == d:
            return more
        # the arithmetic form of a choice: a random mask costs a select more than these two passes
        chosen: Floats = more * self.before(level, e, d)
        chosen += outside
        return chosen

    def row(self, d: int) -> Ints:
        return self.batch.rows[:, d]

    def view(self, d: int, c: int, lo: int, hi: int, shared: int | None = None) -> Prefixes:
        return prefixes(self.batch.tables[d], self.batch.arch, c, lo, hi, shared)

    def repeats(self, level: int, d: int) -> bool:
        """Whether some chain of dim d has a temporal loop of bound over 1 at `level`."""
        return level_slots(self.batch.tables[d], self.batch.arch)[level].repeats

    def loops(self, level: int) -> list[int]:
        """Dims with a temporal loop of bound over 1 at `level` in some chain."""
        return [d for d in self.dims if self.repeats(level, d)]

    def combinations(self, dims: tuple[int, ...], c: int) -> tuple[tuple[ChainTable, ...], tuple[int, ...], Ints]:
        """The tables of a rank's dims as boundary c sees them, their lengths, and which combination of their rows
        each mapping has. # (mapping,)"""
        key = (dims, c)
        if key not in self._combinations:
            arch, tables = self.batch.arch, [self.batch.tables[d] for d in dims]
            if len(dims) == 1:
                self._combinations[key] = tuple(tables), (len(tables[0].bounds),), self.row(dims[0])
            else:
                seen = [outside(table, arch, c) for table in tables]
                shape = tuple(len(table.bounds) for table, _ in seen)
                rows = tuple(which[self.row(d)] for d, (_, which) in zip(dims, seen, strict=True))
                self._combinations[key] = tuple(t for t, _ in seen), shape, np.ravel_multi_index(rows, shape)
        return self._combinations[key]

    def active(self, d: int, c: int) -> Ints:
        """Coordinates of dim d that ever hold a tile at boundary c. # (mapping,)"""
        number: Ints = self.view(d, c, 0, c).number[0]
        return number[self.row(d)]

    def cycles(self) -> Floats:
        """Compute cycles: temporal steps in which the spatial origin has work. # (mapping,)"""
        last = (self.view(d, self.levels, 0, 0).number[self.levels][self.row(d)] for d in self.dims)
        return _product(last, len(self.batch))

    def instances(self) -> Floats:
        """Active instances of each level and, last, MAC units. # (mapping, level + 1)"""
        n = len(self.batch)
        columns = [_product((self.active(d, c) for d in self.dims), n) for c in range(self.levels + 1)]
        return np.stack(columns, axis=1)

    def extent(self, level: int, d: int) -> Ints:
        """Extent of the largest tile of `level` along dim d. # (mapping,)"""
        key = (level, d)
        if key not in self._extents:
            tile = np.minimum(self.view(d, level, 0, 0).tile, self.batch.workload.sizes[d])
            self._extents[key] = tile[self.row(d)]
        return self._extents[key]

    def tile(self, level: int, tensor: Tensor) -> Floats:
        """Words of the largest tile of `tensor` at `level`, kept there or not. # (mapping,)"""
        index = {dim: d for d, dim in enumerate(self.batch.workload.dims)}
        one = np.ones(len(self.batch))
        lengths = (sum((t.coef * (self.extent(level, index[t.dim]) - 1) for t in rank), one) for rank in tensor.ranks)
        return _product(lengths, len(self.batch))

    def tile_words(self) -> Floats:
        """Largest tile of one instance, clipped at the sizes; 0 where bypassed. # (mapping, level, tensor)"""
        words = np.zeros(self.batch.keep.shape)
        for level in range(self.levels):
            for v, tensor in enumerate(self.batch.workload.tensors):
                words[:, level, v] = self.batch.keep[:, level, v] * self.tile(level, tensor)
        return words

    def distinct(self, tensor: Tensor, level: int, origin: bool = False) -> Floats:
        """Distinct words of the output that the instances of `level` (or the spatial origin alone) ever hold."""
        workload = self.batch.workload
        found = []
        for d in self.dims:
            if workload.dims[d] not in tensor.dims:
                if not origin:
                    found.append(self.active(d, level))
            elif origin:
                found.append(self.view(d, level, 0, 0).extents[self.row(d)])
            else:
                found.append(np.full(len(self.batch), workload.sizes[d]))
        return _product(found, len(self.batch))


@dataclass(eq=False)
class Flow:
    """Words of one tensor that move into boundary `child`.

    Without a parent: what all instances receive (rule 2). With one: what the parent level hands out, where
    identical sets for children of one instance count once (rule 3). `origin`: for the spatial origin alone.
    """

    nest: Nest
    tensor: Tensor
    child: int
    parent: int | None = None
    origin: bool = False

    @cached_property
    def irrelevant(self) -> list[tuple[int, Prefixes]]:
        """Dims without influence on the words: only coordinate 0 below the parent counts (multicast)."""
        hi = 0 if self.origin else self.child if self.parent is None else self.parent
        names = self.nest.batch.workload.dims
        mine = [d for d in self.nest.dims if names[d] not in self.tensor.dims]
        return [(d, self.nest.view(d, self.child, 0, hi)) for d in mine]

    @cached_property
    def ranks(self) -> "list[RankColumns]":
        lo, hi = 0, self.child
        if self.origin:
            lo, hi = (0, 0) if self.parent is None else (self.parent, self.child)
        index = {dim: d for d, dim in enumerate(self.nest.batch.workload.dims)}
        found = []
        for rank in self.tensor.ranks:
            terms = [(index[t.dim], t.coef) for t in rank if index[t.dim] in self.nest.dims]
            if terms:
                found.append(RankColumns.of(self.nest, terms, self.child, lo, hi, self.parent))
        return found

    def exact(self) -> Bools:
        """Where the count is the executor's. # (mapping,)"""
        found = (rank.view.exact[rank.row] for rank in self.ranks)
        return reduce(np.logical_and, found, np.ones(len(self.nest.batch), bool))

    def words(self) -> Floats:
        """Words moved. # (mapping,)"""
        n = len(self.nest.batch)
        total = _product((rank.view.sizes[rank.row] for rank in self.ranks), n)
        total *= _product((view.number[self.child][self.nest.row(d)] for d, view in self.irrelevant), n)
        if self.child < self.nest.levels:  # MACs hold nothing between steps
            for level in range(self.child):
                for d in self.nest.loops(level):
                    total -= self.stays(level, d)
        return total

    def stays(self, level: int, d: int) -> Floats | float:
        """Words that stay in place at the increments of the loop of dim d at `level`. # (mapping,)"""
        nest = self.nest
        own = next((rank for rank in self.ranks if d in rank.dims), None)
        if own is not None and len(own.dims) == 1:
            return 0.0  # the tile moves by at least its own length
        times = [
            nest.at_cut(view, view.number[level : level + 2], nest.row(e), level, e, d) for e, view in self.irrelevant
        ]
        if not any(rank.view.shared for rank in self.ranks):
            return _product([*times, *(rank.words(nest, level, d) for rank in self.ranks)], len(nest.batch))
        sums = {}
        for name in ("words", "kept", "kept_by_all"):
            picked = [rank.pick(nest, level, d, name) for rank in self.ranks]
            sums[name] = _product([*times, *picked], len(nest.batch))
        return sums["words"] + sums["kept_by_all"] - sums["kept"]


@dataclass(eq=False)
class RankColumns:
    """A rank's sums with, per mapping, the row to take."""

    view: RankView
    dims: tuple[int, ...]
    row: Ints  # (mapping,)

    @classmethod
    def of(
        cls, nest: Nest, terms: list[tuple[int, int]], child: int, lo: int, hi: int, parent: int | None
    ) -> "RankColumns":
        dims = tuple(d for d, _ in terms)
        coefs = tuple(coef for _, coef in terms)
        tables, shape, row = nest.combinations(dims, child)
        shared = _shared_level(nest, child, parent) if len(dims) == 2 else None

        def view(combinations: tuple[Ints, ...], shared: int | None) -> RankView:
            parts = tuple(prefixes(table, nest.batch.arch, child, lo, hi, shared) for table in tables)
            return RankView(coefs, parts, combinations, parent)

        def best(combinations: tuple[Ints, ...]) -> RankView:
            plain = view(combinations, None)
            return view(combinations, shared) if shared is not None and plain.meets.any() else plain

        if prod(shape) > max(PAIR_LIMIT, *shape):
            pairs, row = np.unique(row, return_inverse=True)
            return cls(best(np.unravel_index(pairs, shape)), dims, row)
        key = ("rank", nest.batch.arch.axes, tables, coefs, child, lo, hi, parent)
        cache = tables[0].cache
        if key not in cache:
            every = np.unravel_index(np.arange(prod(shape)), shape)
            cache[key] = best(every)
        return cls(cache[key], dims, row)  # type: ignore[arg-type]

    def words(self, nest: Nest, level: int, d: int) -> Floats:
        """Overlaps at the increments of dim d's loop at `level`. # (mapping,)"""
        if len(self.dims) > 1:
            return self.pick(nest, level, d, "words")
        (e,) = self.dims
        return nest.at_cut(self.view, self.view.overlap(None, level, 1).words, self.row, level, e, d)

    def pick(self, nest: Nest, level: int, d: int, name: str) -> Floats:
        """One of the sums of an Overlap, for the increments of dim d's loop at `level`. # (mapping,)"""
        moving = self.dims.index(d) if d in self.dims else None
        others = tuple(e for e in self.dims if e != d)
        columns: Floats = getattr(self.view.overlap(moving, level, len(others)), name)
        picked: Floats = columns.reshape(-1)[nest.which(level, others, d) * columns.shape[1] + self.row]
        return picked


def _shared_level(nest: Nest, child: int, parent: int | None) -> int | None:
    """The innermost level with a fanout between parent and child."""
    if parent is None:
        return None
    levels = nest.batch.arch.levels
    return next((level for level in range(child - 1, parent - 1, -1) if levels[level].fanout), None)


def _product(factors: Iterable[NDArray[Any]], n: int) -> Floats:
    total = np.ones(n)
    for factor in factors:
        total *= factor
    return total
