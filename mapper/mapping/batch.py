"""A batch of mappings as a structure of arrays, and the chains of bounds it points into."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from math import prod
from operator import add
from typing import Any, Self, override

import numpy as np
from numpy.typing import NDArray

from ...arch import Architecture
from ...workloads import Workload

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Numbers = NDArray[Any]  # of the type `ChainTable.numbers`


@dataclass(eq=False)
class ChainTable:
    """Chains of bounds P of one dim: a row per chain, a column per slot, outermost slot first.

    A canonical chain has 1 <= P_i <= N_i, where N is `size` at the innermost slot and ceil(N/P) outwards, and
    leaves 1 at the top. The residuals are the mixed-radix digits of size-1 in radices P, plus one. Bounds of layers of
    many sizes have a table whose chains have a `size` each.
    Whatever the model derives from a chain alone is kept in `cache`, so a table that serves many batches
    pays for it once.

    Indices, positions and numbers of tiles along one rank are int64. Words, and what is multiplied over ranks and dims,
    may be more than that holds and are of the type `numbers`: float64, which rounds beyond 2**53, or object, for Python
    integers.
    """

    size: int | Ints  # (chain,) where they differ
    bounds: Ints  # (chain, slot)
    numbers: type = np.float64
    cache: dict[object, object] = field(default_factory=dict, repr=False)

    @override
    def __reduce__(self) -> tuple[type["ChainTable"], tuple[Any, ...]]:
        """Pickle the chains alone: what is derived of them is larger by far, and quickly made again."""
        return ChainTable, (self.size, self.bounds, self.numbers)

    @cached_property
    def digits(self) -> Ints:
        """The digits of size-1: the last index at each slot on the last path. # (chain, slot)"""
        digits = np.empty_like(self.bounds)
        rest = np.full(len(self.bounds), self.size - 1, np.int64)
        for slot in range(self.bounds.shape[1] - 1, -1, -1):
            rest, digits[:, slot] = np.divmod(rest, self.bounds[:, slot])
        if rest.any():
            raise ValueError(f"chain {self.bounds[rest.argmax()].tolist()} does not cover a dim of size {self.size}")
        return digits

    @cached_property
    def widest(self) -> Ints:
        """The largest bound of each slot. # (slot,)"""
        return self.bounds.max(axis=0, initial=1)

    @property
    def residuals(self) -> Ints:
        """R of each slot: the trip count on the last path. # (chain, slot)"""
        return self.digits + 1

    @cached_property
    def strides(self) -> Ints:
        """How far one step of each slot moves: the product of the bounds inside it. # (chain, slot)"""
        inner = np.cumprod(self.bounds[:, :0:-1], axis=1)[:, ::-1]
        return np.concatenate([inner, np.ones((len(self.bounds), 1), np.int64)], axis=1)


class Mappings(ABC):
    """Mappings of one workload on one architecture, in whatever way a batch holds their loop orders.

    Axes in this order: mapping, level (or slot), dim or tensor.
    """

    arch: Architecture
    workload: Workload
    tables: tuple[ChainTable, ...]  # one per dim of the workload
    rows: Ints  # (mapping, dim): the row of the dim's table
    keep: Bools  # (mapping, level, tensor)

    @override
    def __repr__(self) -> str:
        """How many mappings, and of what."""
        what = f"{self.workload.name} on {self.arch.name}"
        return f"<{type(self).__name__} of {len(self):,} mapping{'s' * (len(self) != 1)} of {what}>"

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def factors(self) -> Ints:
        """The bounds P. # (mapping, slot, dim)"""
        return np.stack([table.bounds[self.rows[:, d]] for d, table in enumerate(self.tables)], axis=2)

    @property
    def residuals(self) -> Ints:
        """The residuals R. # (mapping, slot, dim)"""
        return np.stack([table.residuals[self.rows[:, d]] for d, table in enumerate(self.tables)], axis=2)

    @property
    def kept(self) -> Bools:
        """What each memory keeps: of a stack of levels, what any of them does. # (mapping, memory, tensor)"""
        stacks = self.arch.stacks
        if len(stacks) == len(self.arch.levels):
            return self.keep
        return np.stack([self.keep[:, stack.start : stack.stop].any(axis=1) for stack in stacks], axis=1)

    def stands(self, level: int) -> bool:
        """Whether a level has a place of its own in the nest of the first mapping, as files and reports show it.

        Of a stack the levels that keep a tensor have one, and the last, whose loops there may be without any.
        """
        storage, after = self.arch.levels[level], self.arch.levels[level + 1 : level + 2]
        last = not storage.memory or storage.memory not in [next_level.memory for next_level in after]
        return last or bool(self.keep[0, level].any())

    @property
    def numbers(self) -> type:
        """The type that the figures of the mappings have (ChainTable)."""
        return self.tables[0].numbers

    @abstractmethod
    def position(self, level: int, d: int) -> NDArray[np.int8]:
        """Where in the loop order of `level` the loop of dim d stands, 0 outermost. # (mapping,)"""

    @abstractmethod
    def arranged(self) -> "MappingBatch":
        """The same mappings with their loop orders in one array."""

    @abstractmethod
    def take(self, index: Ints | slice | Sequence[int]) -> Self:
        """The mappings at `index`, sharing the tables."""

    @classmethod
    @abstractmethod
    def joined(cls, batches: Sequence[Self]) -> Self:
        """All mappings of `batches`, in turn; they share their tables."""


@dataclass(eq=False, repr=False)
class MappingBatch(Mappings):
    """Mappings with their loop orders in one array."""

    arch: Architecture
    workload: Workload
    tables: tuple[ChainTable, ...]
    rows: Ints
    order: NDArray[np.int8]  # (mapping, level, position): the dim at each loop position, outermost first
    keep: Bools

    @override
    def position(self, level: int, d: int) -> NDArray[np.int8]:
        """Where in the loop order of `level` the loop of dim d stands, 0 outermost. # (mapping,)"""
        return position_in(self.order[:, level], d)

    @override
    def take(self, index: Ints | slice | Sequence[int]) -> "MappingBatch":
        """The mappings at `index`, sharing the tables."""
        if not isinstance(index, slice):
            index = np.asarray(index)
            index = np.flatnonzero(index) if index.dtype == bool else index.astype(np.int64, copy=False)
            # dim by dim and position by position in memory, as they are read
            rows = self.rows.T.take(index, axis=1).T
            order = self.order.transpose(1, 2, 0).take(index, axis=2).transpose(2, 0, 1)
            return MappingBatch(self.arch, self.workload, self.tables, rows, order, self.keep[index])
        return MappingBatch(
            self.arch, self.workload, self.tables, self.rows[index], self.order[index], self.keep[index]
        )

    @classmethod
    @override
    def joined(cls, batches: "Sequence[MappingBatch]") -> "MappingBatch":
        """All mappings of `batches`, in turn; they share their tables."""
        rows, order, keep = (np.concatenate([getattr(b, name) for b in batches]) for name in ("rows", "order", "keep"))
        return cls(batches[0].arch, batches[0].workload, batches[0].tables, rows, order, keep)

    @override
    def arranged(self) -> "MappingBatch":
        """The mappings with their loop orders at hand: these."""
        return self

    def own(self, numbers: type | None = None) -> "MappingBatch":
        """The same with tables of its own chains alone, perhaps with other `numbers`."""
        numbers = numbers or self.numbers
        return MappingBatch.of(self.arch, self.workload, self.factors, self.order, self.keep, numbers)

    @classmethod
    def of(
        cls,
        arch: Architecture,
        workload: Workload,
        factors: Ints,
        order: NDArray[np.int8],
        keep: Bools,
        numbers: type = np.float64,
    ) -> "MappingBatch":
        """A batch from explicit bounds `factors` # (mapping, slot, dim)."""
        tables, rows = [], np.empty((len(factors), len(workload.dims)), np.int64)
        for d, size in enumerate(workload.sizes):
            chains, rows[:, d] = unique_rows(factors[:, :, d])
            tables.append(ChainTable(size, chains.astype(np.int64), numbers))
        return cls(arch, workload, tuple(tables), rows, order.astype(np.int8), keep.astype(bool))


def position_in(order: NDArray[np.int8], d: int) -> NDArray[np.int8]:
    """Where dim d stands in each loop order # (mapping, position) of a level, 0 outermost. # (mapping,)"""
    return reduce(add, (np.int8(i) * (order[:, i] == d) for i in range(order.shape[1])))


def keeper_pairs(keep: Bools) -> Iterator[tuple[int, int, Ints]]:
    """(parent, child, mappings) for the neighbouring levels that keep a tensor, of `keep` # (mapping, level).

    The MACs are child len(levels). Every mapping keeps the tensor at level 0.
    """
    n, levels = keep.shape
    if n > 1 and (keep == keep[0]).all():  # mostly; then the pairs of one mapping are those of all
        yield from ((parent, child, np.arange(n)) for parent, child, _ in keeper_pairs(keep[:1]))
        return
    columns = np.concatenate([keep, np.ones((n, 1), bool)], axis=1)
    for parent in range(levels):
        free = columns[:, parent].copy()
        for child in range(parent + 1, levels + 1):
            where = np.flatnonzero(free & columns[:, child])
            if len(where):
                yield parent, child, where
            free &= ~columns[:, child]


def take_rows(column: NDArray[Any], row: Ints) -> NDArray[Any]:
    """column[row] of a NumPy array, in the library that `row` names; every row has to be there. # (mapping,)"""
    xp = row.__array_namespace__()
    # without a mode jax masks what is out of bounds, at a third of the time of all that the model does
    taken: NDArray[Any] = column.take(row) if xp is np else xp.take(xp.asarray(column), row, mode="clip")
    return taken


def floats(figures: Numbers) -> Floats:
    """Figures as float64, rounded where they are Python integers that it does not hold."""
    return figures.astype(np.float64, copy=False)


def unique_rows[Number: np.generic](rows: NDArray[Number]) -> tuple[NDArray[Number], Ints]:
    """The different rows # (row, ...) of whole numbers or bools, in lexicographic order, and which each is # (row,).

    As np.unique with axis=0, which compares rows as records: there Ctrl-C comes out as a TypeError.
    """
    columns = rows.reshape(len(rows), prod(rows.shape[1:])).T.astype(np.int64, copy=False)  # (column, row)
    if not columns.size:
        return rows[:1], np.zeros(len(rows), np.int64)
    low = columns.min(axis=1)
    spans = [int(high) - int(least) + 1 for high, least in zip(columns.max(axis=1), low, strict=True)]
    if prod(spans) < 2**63:  # a row is one number
        key = np.zeros(len(rows), np.int64)
        for column, least, span in zip(columns, low, spans, strict=True):
            if span > 1:
                key = key * span + (column - least)
        _, first, which = np.unique(key, return_index=True, return_inverse=True)
        return rows[first], which
    order = np.lexsort(columns[::-1])
    new = np.concatenate([[True], (columns[:, order[1:]] != columns[:, order[:-1]]).any(axis=0)])
    which = np.empty(len(rows), np.int64)
    which[order] = np.cumsum(new) - 1
    return rows[order[new]], which


def by_number(numbers: Ints, rows: Ints) -> list[Ints]:
    """Divide rows by their numbers, the least first; rows of one number stay in order. # (row,)

    >>> [own.tolist() for own in by_number(np.array([1, 0, 1, 1]), np.array([0, 1, 3]))]
    [[1], [0, 3]]
    """
    if not len(rows):
        return []
    order = rows[np.argsort(numbers[rows], kind="stable")]
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)


def together(batches: Sequence[MappingBatch]) -> MappingBatch:
    """Make one batch of several of one mapspace, each with tables of its own."""
    parts = ([getattr(batch, name) for batch in batches] for name in ("factors", "order", "keep"))
    factors, order, keep = map(np.concatenate, parts)
    return MappingBatch.of(batches[0].arch, batches[0].workload, factors, order, keep)
