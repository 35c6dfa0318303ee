"""What moves between two neighbouring keepers of a tensor: the sums of docs/model.md over a batch of mappings.

Words moved are the sizes of all tiles less what consecutive tiles share. Both sums factor: over the tensor's ranks
(ranks.py) and over the irrelevant dims (numbers of contexts, contexts.py). The second has one term per temporal loop
outside the child, for the increments of that loop; whether another dim's loop of the same level lies outside it is
all that loop order decides.

The columns of a chain table are NumPy arrays. What is done per mapping is written against the Python array API, in
the library that the batch's own arrays name, so that another one can run it. Words and numbers of contexts have the
type that the tables name, so that a batch of one can be counted in Python integers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from math import prod
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...workloads import Tensor
from ..mapping import Bools, ChainTable, Ints, MappingBatch, Numbers, take_rows
from .contexts import Prefixes, level_slots, outside, prefixes
from .ranks import RankView

# Tables over all pairs of chains of a window's dims are built up to this many rows, else the batch's own pairs.
PAIR_LIMIT = 1 << 16
LEAST_WORK = 2000  # rows; fewer cost as much as these, in calls


@dataclass(eq=False)
class NestAnalysis:
    """A batch with what all its tensors share: positions of loops, views of its chain tables."""

    batch: MappingBatch
    _position: dict[tuple[int, int], NDArray[np.int8]] = field(default_factory=dict)
    _before: dict[tuple[int, int, int], Numbers] = field(default_factory=dict)
    _which: dict[tuple[int, int, tuple[int, ...]], Ints] = field(default_factory=dict)
    _reaches: dict[tuple[int, int, int, int], Numbers] = field(default_factory=dict)
    _combinations: dict[tuple[tuple[int, ...], int], tuple[tuple[ChainTable, ...], tuple[int, ...], Ints]] = field(
        default_factory=dict
    )
    _gathered: dict[tuple[int, int], tuple[object, Numbers, Numbers | None]] = field(default_factory=dict)

    @property
    def levels(self) -> int:
        return len(self.batch.arch.levels)

    @cached_property
    def xp(self) -> Any:
        """The array library of the batch: what its arrays say of themselves."""
        return self.batch.rows.__array_namespace__()

    @property
    def numbers(self) -> type:
        """What is summed up and multiplied (ChainTable)."""
        return self.batch.numbers

    def zeros(self) -> Numbers:
        """0 of every mapping. # (mapping,)"""
        zeros: Numbers = self.xp.zeros(len(self.batch), dtype=self.numbers)
        return zeros

    def together(self, columns: Sequence[NDArray[Any]], *shape: int) -> NDArray[Any]:
        """So many columns as one array, each whole in memory as it is read. # (mapping, *shape)"""
        stacked: NDArray[Any] = self.xp.stack(columns).reshape(*shape, len(self.batch))
        return self.xp.moveaxis(stacked, -1, 0)  # type: ignore[no-any-return]

    def no(self) -> Bools:
        """False of every mapping. # (mapping,)"""
        none: Bools = self.xp.zeros(len(self.batch), dtype=bool)
        return none

    @cached_property
    def dims(self) -> list[int]:
        """Dims that have loops at all: those of size over 1."""
        return [d for d, size in enumerate(self.batch.workload.sizes) if size > 1]

    def position(self, level: int, d: int) -> NDArray[np.int8]:
        """Where in the loop order of `level` the loop of dim d stands, 0 outermost. # (mapping,)"""
        key = (level, d)
        if key not in self._position:
            self._position[key] = self.batch.position(level, d)
        return self._position[key]

    def fans_out(self, parent: int, child: int) -> bool:
        """Whether one instance of `parent` has several of `child` below it."""
        return any(self.batch.arch.axes[parent:child])

    def before(self, level: int, e: int, d: int) -> Numbers:
        """1 where the loop of dim e lies outside that of dim d at `level`, else 0. # (mapping,)"""
        key = (level, e, d)
        if key not in self._before:
            self._before[key] = (self.position(level, e) < self.position(level, d)).astype(self.numbers)
        return self._before[key]

    def which(self, level: int, dims: tuple[int, ...], d: int) -> Ints:
        """Which of `dims` have their loop of `level` outside that of dim d, as a binary number. # (mapping,)"""
        key = (level, d, dims)
        if key not in self._which:
            number = self.xp.zeros(len(self.batch), dtype=np.int64)
            for e in dims:
                number = 2 * number + (self.position(level, e) < self.position(level, d))
            self._which[key] = number
        return self._which[key]

    def at_cut(self, owner: object, columns: Numbers, row: Ints, level: int, e: int, d: int) -> Numbers:
        """columns[0] at `row`, columns[1] where the loop of dim e lies outside that of dim d at `level`: the cut
        of e at the increments of that loop of d; of d itself the difference. # (mapping,)

        What is gathered is kept for all flows that read the same columns of the same owner.
        """
        key = (id(owner), level)
        if key not in self._gathered:
            outside = take_rows(columns[0], row)
            more = take_rows(columns[1], row) - outside if self.repeats(level, e) else None
            self._gathered[key] = owner, outside, more  # the owner is kept, and with it its id
        _, outside, more = self._gathered[key]
        if more is None:
            return outside if e != d else self.zeros()
        if e == d:
            return more
        # the arithmetic form of a choice: a random mask costs a select more than these two passes
        chosen: Numbers = more * self.before(level, e, d)
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
                row = self.xp.zeros(len(self.batch), dtype=np.int64)
                for d, (table, which) in zip(dims, seen, strict=True):
                    row = row * len(table.bounds) + take_rows(which, self.row(d))
                self._combinations[key] = tuple(t for t, _ in seen), shape, row
        return self._combinations[key]

    def active(self, d: int, c: int) -> Numbers:
        """Coordinates of dim d that ever hold a tile at boundary c. # (mapping,)"""
        return take_rows(self.view(d, c, 0, c).times[0], self.row(d))

    def cycles(self) -> Numbers:
        """Compute cycles: temporal steps in which the spatial origin has work. # (mapping,)"""
        views = {d: self.view(d, self.levels, 0, 0) for d in self.dims}
        return self.product(take_rows(view.times[self.levels], self.row(d)) for d, view in views.items())

    def instances(self) -> Numbers:
        """Active instances of each level and, last, MAC units. # (mapping, level + 1)"""
        columns = [self.product(self.active(d, c) for d in self.dims) for c in range(self.levels + 1)]
        return self.together(columns, self.levels + 1)

    def reach(self, level: int, d: int, coef: int, more: int) -> Numbers:
        """coef * (extent - 1) + more, of the largest tile of `level` along dim d. # (mapping,)"""
        key = (level, d, coef, more)
        if key not in self._reaches:
            extent = np.minimum(self.view(d, level, 0, 0).tile, self.batch.workload.sizes[d])
            self._reaches[key] = take_rows(coef * (extent - 1).astype(self.numbers) + more, self.row(d))
        return self._reaches[key]

    def tile(self, level: int, tensor: Tensor) -> Numbers:
        """Words of the largest tile of `tensor` at `level`, kept there or not. # (mapping,)"""
        index = {dim: d for d, dim in enumerate(self.batch.workload.dims)}
        ranks = [[(index[t.dim], t.coef) for t in rank if index[t.dim] in self.dims] for rank in tensor.ranks]
        # along a rank, 1 and the reaches of its dims; the 1 goes with the first
        sides = ([self.reach(level, d, coef, int(i == 0)) for i, (d, coef) in enumerate(terms)] for terms in ranks)
        return self.product(reduce(add, side) for side in sides if side)

    def distinct(self, tensor: Tensor, level: int, origin: bool = False) -> Numbers:
        """Distinct words of the output that the instances of `level` (or the spatial origin alone) ever hold."""
        workload = self.batch.workload
        times, found = 1, []
        for d in self.dims:
            if workload.dims[d] not in tensor.dims:
                if not origin:
                    found.append(self.active(d, level))
            elif origin:
                found.append(take_rows(self.view(d, level, 0, 0).extents, self.row(d)))
            else:
                times *= workload.sizes[d]
        return times * self.product(found)

    def product(self, factors: Iterable[NDArray[Any]]) -> Numbers:
        """The product of arrays, 1 of none. # (mapping,)"""
        found = list(factors)
        if not found:
            ones: Numbers = self.xp.ones(len(self.batch), dtype=self.numbers)
            return ones
        total: Numbers = found[0].astype(self.numbers, copy=len(found) == 1)
        if found[1:]:
            total = total * found[1]
        for factor in found[2:]:
            total *= factor
        return total


@dataclass(eq=False)
class DataMovement:
    """Words of one tensor that move into boundary `child`.

    Without a parent: what all instances receive (rule 2). With one: what the parent level hands out, where
    identical sets for children of one instance count once (rule 3). `origin`: for the spatial origin alone.
    """

    nest: NestAnalysis
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
        exact: Bools = self.nest.xp.ones(len(self.nest.batch), dtype=bool)
        for rank in self.ranks:
            exact &= take_rows(rank.view.exact, rank.row)
        return exact

    def words(self) -> Numbers:
        """Words moved. # (mapping,)"""
        nest = self.nest
        total = nest.product(take_rows(rank.view.sizes, rank.row) for rank in self.ranks)
        total *= nest.product(take_rows(view.times[self.child], nest.row(d)) for d, view in self.irrelevant)
        if self.child < self.nest.levels:  # MACs hold nothing between steps
            for level in range(self.child):
                for d in self.nest.loops(level):
                    total -= self.stays(level, d)
        return total

    def stays(self, level: int, d: int) -> Numbers | int:
        """Words that stay in place at the increments of the loop of dim d at `level`. # (mapping,)"""
        nest = self.nest
        own = next((rank for rank in self.ranks if d in rank.dims), None)
        if own is not None and len(own.dims) == 1:
            return 0  # the tile moves by at least its own length
        times = [
            nest.at_cut(view, view.times[level : level + 2], nest.row(e), level, e, d) for e, view in self.irrelevant
        ]
        if not any(rank.view.shared for rank in self.ranks):
            return nest.product([*times, *(rank.words(nest, level, d) for rank in self.ranks)])
        sums = {}
        for name in ("words", "kept", "kept_by_all"):
            picked = [rank.pick(nest, level, d, name) for rank in self.ranks]
            sums[name] = nest.product([*times, *picked])
        return sums["words"] + sums["kept_by_all"] - sums["kept"]


@dataclass(eq=False)
class RankColumns:
    """A rank's sums with, per mapping, the row to take."""

    view: RankView
    dims: tuple[int, ...]
    row: Ints  # (mapping,)

    @classmethod
    def of(
        cls, nest: NestAnalysis, terms: list[tuple[int, int]], child: int, lo: int, hi: int, parent: int | None
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

        # in the first table's cache, with the others, so that their ids stay theirs: the table itself would be a cycle
        key = ("rank", nest.batch.arch.axes, *map(id, tables), coefs, child, lo, hi, parent)
        cache, others, every = tables[0].cache, tables[1:], prod(shape)
        known: RankView | int = cache.get(key, (others, 0))[1]  # type: ignore[index]
        if isinstance(known, RankView):
            return cls(known, dims, row)
        # A table of all combinations pays once as much work has gone into the combinations of single batches
        work = known + max(len(row), LEAST_WORK)
        if nest.xp is np and len(dims) > 1 and (every > PAIR_LIMIT or work < every):
            cache[key] = others, work
            pairs, row = np.unique(row, return_inverse=True)
            return cls(best(np.unravel_index(pairs, shape)), dims, row)
        whole = best(np.unravel_index(np.arange(every), shape))
        cache[key] = others, whole
        return cls(whole, dims, row)

    def words(self, nest: NestAnalysis, level: int, d: int) -> Numbers:
        """Overlaps at the increments of dim d's loop at `level`. # (mapping,)"""
        if len(self.dims) > 1:
            return self.pick(nest, level, d, "words")
        (e,) = self.dims
        return nest.at_cut(self.view, self.view.overlap(None, level, 1).words, self.row, level, e, d)

    def pick(self, nest: NestAnalysis, level: int, d: int, name: str) -> Numbers:
        """One of the sums of an Overlap, for the increments of dim d's loop at `level`. # (mapping,)"""
        moving = self.dims.index(d) if d in self.dims else None
        others = tuple(e for e in self.dims if e != d)
        columns: Numbers = getattr(self.view.overlap(moving, level, len(others)), name)
        return take_rows(columns.reshape(-1), nest.which(level, others, d) * columns.shape[1] + self.row)


def _shared_level(nest: NestAnalysis, child: int, parent: int | None) -> int | None:
    """The innermost level with a fanout between parent and child."""
    if parent is None:
        return None
    levels = nest.batch.arch.levels
    return next((level for level in range(child - 1, parent - 1, -1) if levels[level].fanout), None)
