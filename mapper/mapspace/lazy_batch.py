"""Mappings as they are drawn: their loop orders are arranged, and even drawn, when first asked for.

Most mappings of a search are ruled out before anything depends on their loop orders.
"""

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from ...arch import Architecture
from ...workloads import Workload
from ..mapping import Bools, ChainTable, Ints, MappingBatch
from .orders import Order, Orders, Positions

Digits = Callable[[Ints], Order]  # of the mappings at these places; what nobody asks for is not drawn
OverOne = Callable[[Sequence[ChainTable], Ints], Bools | None]  # see Orders.arrange


class LazyBatch(MappingBatch):
    """A MappingBatch whose loop orders are made from their digits when first asked for."""

    def __init__(
        self,
        arch: Architecture,
        workload: Workload,
        tables: tuple[ChainTable, ...],
        rows: Ints,
        keep: Bools,
        orders: Orders,
        digits: Digits,
        over_one: OverOne,
    ) -> None:
        self.arch, self.workload, self.tables, self.rows, self.keep = arch, workload, tables, rows, keep
        self.orders, self._digits, self._over_one = orders, digits, over_one
        self._positions: dict[int, Positions | None] = {}  # by level

    def arranged(self) -> MappingBatch:
        """The same with its loop orders."""
        return MappingBatch(self.arch, self.workload, self.tables, self.rows, self.order, self.keep)

    @cached_property
    def digits(self) -> Order:
        """What the orders are made from. # (digit, mapping)"""
        return self._digits(np.arange(len(self)))

    @cached_property
    def order(self) -> Order:  # type: ignore[override]
        """# (mapping, level, position)"""
        return self.orders.arrange(self.digits, len(self), self._over_one(self.tables, self.rows))

    def position(self, level: int, d: int) -> Order:
        """Where in the loop order of `level` the loop of dim d stands, 0 outermost. # (mapping,)"""
        if level not in self._positions:
            self._positions[level] = self.orders.positions(self.digits, level)
        found = self._positions[level]
        return super().position(level, d) if found is None else found.of(d)

    def take(self, index: Ints | slice | Sequence[int]) -> "LazyBatch":
        """The mappings at `index`, sharing the tables."""
        where = np.arange(len(self))[index]
        rows = self.rows.T.take(where, axis=1).T
        return self._with(rows, self.keep[where], lambda places: self._digits(where[places]))

    @classmethod
    def joined(cls, batches: "Sequence[LazyBatch]") -> "LazyBatch":
        """All mappings of `batches`, of one mapspace with one table of chains per dim, in turn."""
        rows, keep = np.concatenate([one.rows.T for one in batches], axis=1).T, [one.keep for one in batches]
        first = np.cumsum([0, *map(len, batches)])

        def digits(places: Ints) -> Order:
            sort = np.argsort(places, kind="stable")
            parts = np.split(places[sort], np.searchsorted(places[sort], first[1:-1]))
            found = [one._digits(part - start) for one, part, start in zip(batches, parts, first, strict=False)]
            return np.concatenate(found, axis=1).take(np.argsort(sort, kind="stable"), axis=1)

        return batches[0]._with(rows, np.concatenate(keep), digits)

    def _with(self, rows: Ints, keep: Bools, digits: Digits) -> "LazyBatch":
        return LazyBatch(self.arch, self.workload, self.tables, rows, keep, self.orders, digits, self._over_one)
