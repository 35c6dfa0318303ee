"""Mappings as they are drawn: their loop orders are arranged, and even drawn, when first asked for.

Most mappings of a search are ruled out before anything depends on their loop orders.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self, override

import numpy as np

from ...arch import Architecture
from ...workloads import Workload
from ..mapping import Bools, ChainTable, Ints, MappingBatch, Mappings, position_in
from .orders import Order, Orders, Positions

Digits = Callable[[Ints], Order]  # of the mappings at these places; what nobody asks for is not drawn


@dataclass(eq=False, repr=False)
class LazyBatch(Mappings):
    """Mappings whose loop orders are made from their digits when first asked for."""

    arch: Architecture
    workload: Workload
    tables: tuple[ChainTable, ...]
    rows: Ints
    keep: Bools
    orders: Orders
    digits_at: Digits
    _positions: dict[int, Positions | None] = field(default_factory=dict, init=False)  # by level

    @override
    def arranged(self) -> MappingBatch:
        """The same with its loop orders."""
        return MappingBatch(self.arch, self.workload, self.tables, self.rows, self.order, self.keep)

    @cached_property
    def digits(self) -> Order:
        """What the orders are made from. # (digit, mapping)"""
        return self.digits_at(np.arange(len(self)))

    @cached_property
    def order(self) -> Order:
        """The dim at each loop position, outermost first. # (mapping, level, position)"""
        return self.orders.arrange(self.digits, len(self), self.orders.over_one(self.tables, self.rows))

    @override
    def position(self, level: int, d: int) -> Order:
        """Where in the loop order of `level` the loop of dim d stands, 0 outermost. # (mapping,)"""
        if level not in self._positions:
            self._positions[level] = self.orders.positions(self.digits, level)
        positions = self._positions[level]
        return position_in(self.order[:, level], d) if positions is None else positions.of(d)

    @override
    def take(self, index: Ints | slice | Sequence[int]) -> Self:
        """The mappings at `index`, sharing the tables."""
        where = np.arange(len(self))[index]
        rows = self.rows.T.take(where, axis=1).T
        return self._with(rows, self.keep[where], lambda places: self.digits_at(where[places]))

    @classmethod
    @override
    def joined(cls, batches: Sequence[Self]) -> Self:
        """All mappings of `batches`, of one mapspace with one table of chains per dim, in turn."""
        rows, keep = np.concatenate([batch.rows.T for batch in batches], axis=1).T, [batch.keep for batch in batches]
        first = np.cumsum([0, *map(len, batches)])

        def digits(places: Ints) -> Order:
            sort = np.argsort(places, kind="stable")
            parts = np.split(places[sort], np.searchsorted(places[sort], first[1:-1]))
            drawn = [batch.digits_at(part - start) for batch, part, start in zip(batches, parts, first, strict=False)]
            return np.concatenate(drawn, axis=1).take(np.argsort(sort, kind="stable"), axis=1)

        return batches[0]._with(rows, np.concatenate(keep), digits)

    def _with(self, rows: Ints, keep: Bools, digits_at: Digits) -> Self:
        return type(self)(self.arch, self.workload, self.tables, rows, keep, self.orders, digits_at)
