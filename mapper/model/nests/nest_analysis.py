"""A batch of mappings analysed: what all its tensors share, computed once and handed on from function to function.

The columns of a chain table are NumPy arrays. What is done per mapping is written against the Python array API, in
the library that the batch's own arrays name, so that another library can run it. Words and numbers of contexts have
the type that the tables name, so that a batch of one can be counted in Python integers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....workloads import Tensor
from ...mapping import Bools, ChainTable, Ints, Mappings, Numbers, take_rows
from .contexts import Prefixes, prefixes
from .level_slots import level_slots, outside
from .ranks import RankView

# The tables of a rank's dims, their lengths, and which combination of their rows each mapping has # (mapping,)
Combinations = tuple[tuple[ChainTable, ...], tuple[int, ...], Ints]


@dataclass(eq=False)
class LoopPositions:
    """Where the loops of a batch stand in the loop orders of their levels, and so which loop lies outside which."""

    batch: Mappings
    _position: dict[tuple[int, int], NDArray[np.int8]] = field(default_factory=dict)
    _before: dict[tuple[int, int, int], Numbers] = field(default_factory=dict)
    _which: dict[tuple[int, int, tuple[int, ...]], Ints] = field(default_factory=dict)

    def position(self, level: int, d: int) -> NDArray[np.int8]:
        """Where in the loop order of `level` the loop of dim d stands, 0 outermost. # (mapping,)"""
        key = (level, d)
        if key not in self._position:
            self._position[key] = self.batch.position(level, d)
        return self._position[key]

    def before(self, level: int, e: int, d: int) -> Numbers:
        """1 where the loop of dim e lies outside that of dim d at `level`, else 0. # (mapping,)"""
        key = (level, e, d)
        if key not in self._before:
            outer = self.position(level, e) < self.position(level, d)
            self._before[key] = outer.astype(self.batch.numbers)
        return self._before[key]

    def which(self, level: int, dims: tuple[int, ...], d: int) -> Ints:
        """Which of `dims` have their loop of `level` outside that of dim d, as a binary number. # (mapping,)"""
        key = (level, d, dims)
        if key not in self._which:
            number = self.batch.rows.__array_namespace__().zeros(len(self.batch), dtype=np.int64)
            for e in dims:
                number = 2 * number + (self.position(level, e) < self.position(level, d))
            self._which[key] = number
        return self._which[key]


@dataclass(eq=False)
class NestAnalysis:
    """A batch with what all its tensors share: views of its chain tables, positions of loops."""

    batch: Mappings
    _combinations: dict[tuple[tuple[int, ...], int], Combinations] = field(default_factory=dict)
    _gathered: dict[tuple[Prefixes | RankView, int], tuple[Numbers, Numbers | None]] = field(default_factory=dict)

    @cached_property
    def positions(self) -> LoopPositions:
        """Which loop lies outside which; the only part that depends on loop orders."""
        return LoopPositions(self.batch)

    @property
    def levels(self) -> int:
        """The number of storage levels; as a boundary, the MACs."""
        return len(self.batch.arch.levels)

    @cached_property
    def xp(self) -> Any:
        """The array library of the batch, as its arrays name it."""
        return self.batch.rows.__array_namespace__()

    @property
    def numbers(self) -> type:
        """The type of what is summed up and multiplied (ChainTable)."""
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

    def product(self, factors: Iterable[NDArray[Any]]) -> Numbers:
        """The product of arrays, 1 of none, in an array of its own. # (mapping,)"""
        arrays = list(factors)
        if not arrays:
            ones: Numbers = self.xp.ones(len(self.batch), dtype=self.numbers)
            return ones
        total: Numbers = arrays[0].astype(self.numbers, copy=len(arrays) == 1)
        if arrays[1:]:
            total = total * arrays[1]
        for factor in arrays[2:]:
            total *= factor
        return total

    @cached_property
    def dims(self) -> list[int]:
        """Dims that have loops at all: those of size over 1."""
        return [d for d, size in enumerate(self.batch.workload.sizes) if size > 1]

    def fans_out(self, parent: int, child: int) -> bool:
        """Whether one instance of `parent` has several of `child` below it."""
        return any(self.batch.arch.axes[parent:child])

    def row(self, d: int) -> Ints:
        """The chain of dim d. # (mapping,)"""
        return self.batch.rows[:, d]

    def view(self, d: int, c: int, lo: int, hi: int) -> Prefixes:
        """The tiles of dim d at boundary `c`, over the spatial coordinates of levels lo..hi-1."""
        return prefixes(self.batch.tables[d], self.batch.arch, c, lo, hi)

    def repeats(self, level: int, d: int) -> bool:
        """Whether some chain of dim d has a temporal loop of bound over 1 at `level`."""
        return level_slots(self.batch.tables[d], self.batch.arch)[level].repeats

    def loops(self, level: int) -> list[int]:
        """Dims with a temporal loop of bound over 1 at `level` in some chain."""
        return [d for d in self.dims if self.repeats(level, d)]

    def at_cut(self, owner: Prefixes | RankView, columns: Numbers, row: Ints, level: int, e: int, d: int) -> Numbers:
        """columns[0] at `row`, columns[1] where the loop of dim e lies outside that of dim d at `level`: the cut
        of e at the increments of that loop of d; of d itself the difference. # (mapping,)

        Data movements that read the same columns of the same `owner` share what is gathered.
        """
        key = (owner, level)
        if key not in self._gathered:
            inside = take_rows(columns[0], row)
            more = take_rows(columns[1], row) - inside if self.repeats(level, e) else None
            self._gathered[key] = inside, more
        inside, more = self._gathered[key]
        if more is None:
            return inside if e != d else self.zeros()
        if e == d:
            return more
        # the arithmetic form of a choice: a random mask costs a select more than these two passes
        chosen: Numbers = more * self.positions.before(level, e, d)
        chosen += inside
        return chosen

    def combinations(self, dims: tuple[int, ...], c: int) -> Combinations:
        """The tables of a rank's dims as boundary c sees them, and the combination of their rows of each mapping."""
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

    def steps(self, c: int) -> Numbers:
        """Steps of the temporal loops outside boundary `c` in which the spatial origin has work. # (mapping,)"""
        views = {d: self.view(d, c, 0, 0) for d in self.dims}
        return self.product(take_rows(view.times[c], self.row(d)) for d, view in views.items())

    def starts(self) -> Numbers:
        """Cycles in which tiles of memories begin. # (mapping,)"""
        return sum((cycles * self.steps(level) for level, cycles in self.batch.arch.starts), self.zeros())

    def cycles(self) -> Numbers:
        """Compute cycles: temporal steps in which the spatial origin has work, and where tiles begin. # (mapping,)"""
        return self.steps(self.levels) + self.starts()

    def instances(self) -> Numbers:
        """Active instances of each level and, last, MAC units. # (mapping, level + 1)"""
        columns = [self.product(self.active(d, c) for d in self.dims) for c in range(self.levels + 1)]
        return self.together(columns, self.levels + 1)

    def distinct(self, tensor: Tensor, level: int, origin: bool = False) -> Numbers:
        """Distinct words of the output that the instances of `level` (or the spatial origin alone) ever hold.
        # (mapping,)"""
        workload = self.batch.workload
        times, factors = 1, []
        for d in self.dims:
            if workload.dims[d] not in tensor.dims:
                if not origin:
                    factors.append(self.active(d, level))
            elif origin:
                factors.append(take_rows(self.view(d, level, 0, 0).extents, self.row(d)))
            else:
                times *= workload.sizes[d]
        return times * self.product(factors)
