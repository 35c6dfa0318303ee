"""Chains of all dims, drawn uniformly; where bounds are counted in classes, those beyond an axis are drawn again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil

import numpy as np

from ...arch import Architecture
from ...workloads import Fault, InputError, Workload
from ..mapping import Bools, ChainTable, Ints, MappingBatch
from .chain_tables import ChainTables
from .constraints import SharedLimit
from .integers import below, different_below
from .keep_choices import KeepChoices
from .lazy_batch import LazyBatch
from .orders import Order, Orders
from .parts import Parts

_Drawn = tuple[tuple[ChainTable, ...], Ints, Ints]  # tables, the rows in them # (mapping, dim), parts # (mapping,)

MOST_AT_ONCE = 2**16  # combinations drawn before those within the axes are selected
MOST_IN_VAIN = 2**22  # without any within the axes: ten seconds, two minutes with fifty patterns of stacks
MOST_DRAWN = 2**20  # for one batch: from then on those found stand for the others


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws the chains of mappings. `axes` is what to look at again: nothing where each bound was counted alone."""

    arch: Architecture
    workload: Workload
    parts: Parts
    tables: ChainTables
    orders: Orders
    keep_choices: KeepChoices
    axes: Sequence[SharedLimit]

    def batch(self, rng: np.random.Generator, n: int, *, same_keep: bool) -> LazyBatch:
        """`n` mappings, whose loop orders are drawn when first needed: `rng` is used up.

        `same_keep`: where there are stacks of levels all keep the same.
        """
        tables, rows, part = self._sample(rng, n, one_part=same_keep)

        @cache
        def drawn() -> Order:
            return self.orders.draw(rng, n, self.orders.over_one(tables, rows))

        def digits(places: Ints) -> Order:
            return drawn().take(places, axis=1) if len(places) else np.empty((self.orders.digits, 0), np.int8)

        if self.keep_choices.number > 1:
            drawn()  # what is kept is drawn after them
        keep = self.parts.sample_keep(rng, part, same_keep=same_keep and bool(self.keep_choices.stacks))
        return LazyBatch(self.arch, self.workload, tables, rows, keep, self.orders, digits)

    def within(self, batch: MappingBatch) -> Bools:
        """Whether the bounds of each mapping are together within the axes. # (mapping,)"""
        return self._within(batch.tables, batch.rows)

    def _within(self, tables: Sequence[ChainTable], rows: Ints) -> Bools:
        """The same of rows # (mapping, dim) of `tables`."""
        within = np.ones(len(rows), bool)
        for axis in self.axes:
            places = np.ones(len(rows))  # exact up to 2**53: no rounding brings a larger product within an axis
            for d in axis.members:
                places *= tables[d].bounds[rows[:, d], axis.slot]
            within &= (places >= axis.least) & (places <= axis.most)
        return within

    def _sample(self, rng: np.random.Generator, n: int, *, one_part: bool) -> _Drawn:
        """The tables of `n` mappings, the rows in them # (mapping, dim), and the part of each # (mapping,).

        `one_part`: all of one part. Where few are within the axes, those found among MOST_DRAWN are drawn again.
        Raises InputError where none of MOST_IN_VAIN is.
        """
        own = self._part(rng) if one_part and self.axes and n else None
        drawn = self._drawn(rng, n, one_part=one_part, part=own)
        if not self.axes or not n:
            return drawn
        rounds, remaining, seen = [], n, 0
        while True:
            tables, rows, part = drawn
            within = np.flatnonzero(self._within(tables, rows))[:remaining]
            rounds.append(_taken(self.tables, drawn, within))
            remaining, seen = remaining - len(within), seen + len(rows)
            if not remaining:
                return _joined(self.tables, rounds)
            if remaining == n:
                self._again(seen)
            elif seen > MOST_DRAWN:
                accepted = np.arange(n - remaining)
                return _taken(
                    self.tables, _joined(self.tables, rounds), np.append(accepted, rng.choice(accepted, remaining))
                )
            more = min(MOST_AT_ONCE, 16 + ceil(1.1 * remaining * seen / (1 + n - remaining)))
            drawn = self._drawn(rng, more, part=own)

    def _part(self, rng: np.random.Generator) -> int:
        """The part of a mapping within the axes: each is as likely as it has mappings."""
        number, seen = 1, 0
        while True:
            tables, rows, part = self._drawn(rng, number)
            within = self._within(tables, rows)
            if within.any():
                return int(part[within.argmax()])
            seen, number = self._again(seen + number), min(2 * number, MOST_AT_ONCE)

    def _again(self, seen: int) -> int:
        """Return the number of mappings seen, none within the axes; InputError where that does not pay any more."""
        if seen > MOST_IN_VAIN:
            source = f"{self.workload.name} on {self.arch.name}"
            rule = f"none of {seen:,} mappings drawn is within the axes and their min_utilization"
            raise InputError([Fault(source, None, "", f"{rule}; constrain the dims that axes take")])
        return seen

    def _drawn(self, rng: np.random.Generator, n: int, *, one_part: bool = False, part: int | None = None) -> _Drawn:
        groups, parts = self.parts.sample(rng, n, one_part=one_part, part=part)
        ranks = [
            # one chain in each group takes no random numbers
            below(rng, space.counts[groups[:, d]]) if space.counts.max() > 1 else np.zeros(n, np.int64)
            for d, space in enumerate(self.tables.spaces)
        ]
        return *self.tables.rows(groups, ranks), parts


def _taken(shared: ChainTables, drawn: _Drawn, places: Ints) -> _Drawn:
    """The mappings of a draw at `places`, without the chains of the others."""
    tables, rows, part = drawn
    taken = np.empty((len(places), rows.shape[1]), np.int64, order="F")
    own = list(tables)
    for d, table in enumerate(tables):
        taken[:, d] = rows[places, d]
        if not shared.has(d):
            own[d], taken[:, d] = ChainTable(table.size, table.bounds[taken[:, d]]), np.arange(len(places))
    return tuple(own), taken, part[places]


def _joined(shared: ChainTables, rounds: Sequence[_Drawn]) -> _Drawn:
    """Make one draw of several, each without chains that it has no mapping of."""
    rows = np.concatenate([own for _, own, _ in rounds])
    tables = list(rounds[0][0])
    for d, table in enumerate(tables):
        if not shared.has(d):
            tables[d] = ChainTable(table.size, np.concatenate([own_tables[d].bounds for own_tables, _, _ in rounds]))
            rows[:, d] = np.arange(len(rows))
    return tuple(tables), np.asfortranarray(rows), np.concatenate([part for _, _, part in rounds])


def different(rng: np.random.Generator, n: int, high: int, exists: Callable[[Sequence[int]], Bools]) -> list[int]:
    """`n` numbers below `high` of which something is `exists`, in random order; every set of n is equally likely."""
    numbers = dict[int, None]()
    while len(numbers) < n:
        drawn = different_below(rng, high, min(n, high))
        numbers.update((drawn[i], None) for i in np.flatnonzero(exists(drawn)))
    return list(numbers)[:n]
