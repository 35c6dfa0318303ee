"""The candidates of a design space as arrays, and how a set of them is divided."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...arch import Architecture
from ...energy import EnergyTable
from ..mapping import Bools, Floats, Ints, by_number
from .relaxed import set_machine

LEAST = 1e-12  # of a figure whose logarithm is taken


class Division(NamedTuple):
    """Two parts of a set, and how much tighter their machines are than that of the set."""

    score: float
    low: Ints
    high: Ints


@dataclass(frozen=True, eq=False)
class Kind:
    """Candidates that differ in figures alone that can be relaxed (relaxed.py)."""

    like: tuple[Architecture, EnergyTable]  # one of them
    figures: Floats  # (candidate of the kind, figure)
    more: Bools  # whether more allows more # (figure,)
    weights: Floats  # (figure,)

    @cached_property
    def varied(self) -> Ints:
        """The figures in which candidates differ. # (varied figure,)"""
        return np.flatnonzero((self.figures != self.figures[0]).any(axis=0))

    @cached_property
    def needs(self) -> Floats:
        """The figures in which candidates differ, more allows less. # (varied figure, candidate of the kind)"""
        own = self.figures.T[self.varied]
        return np.where(self.more[self.varied, None], -own, own)

    def relaxed(self, rows: Ints) -> Floats:
        """The figures of the machine of a set. # (figure,)"""
        figures: Floats = self.figures[0].copy()
        least = self.needs[:, rows].min(axis=1)
        figures[self.varied] = np.where(self.more[self.varied], -least, least)
        return figures

    def within(self, rows: Ints) -> Ints:
        """The candidates of the kind that the machine of a set allows as much as. # (candidate of the kind,)"""
        every = np.arange(len(self.figures))
        for needs in self.needs:
            every = every[needs[every] >= needs[rows].min()]
        return every

    def distance(self, one: Floats, other: Floats) -> float:
        """How far the figures of two machines lie apart, as a weighted sum of logarithms."""
        finite = np.isfinite(one) & np.isfinite(other)
        ends = (np.log(np.clip(np.where(finite, figures, 1.0), LEAST, None)) for figures in (one, other))
        logs = np.abs(np.subtract(*ends))
        return float((logs + (np.isfinite(one) != np.isfinite(other))) @ self.weights)


@dataclass(frozen=True, eq=False)
class Space:
    """All candidates. Those that cannot be made have the kind -1."""

    kinds: tuple[Kind, ...]
    kind: Ints  # (candidate,)
    row: Ints  # its row in the figures of its kind # (candidate,)
    places: Floats  # along each parameter; of numbers above 0 the logarithm # (candidate, parameter)
    by_size: tuple[bool, ...]  # whether places along it are numbers in order # (parameter,)
    mapspace: Ints  # the number of its mapspace # (candidate,)
    by_machine: Bools  # whether a larger machine may have fewer mappings in it # (mapspace,)

    @cached_property
    def of_kind(self) -> list[Ints]:
        """The candidates of each kind, in the order of its figures. # (kind,), each (candidate,)"""
        return by_number(self.kind, np.flatnonzero(self.kind >= 0))

    def roots(self, rows: Ints) -> list[Ints]:
        """Divide candidates by kinds."""
        return by_number(self.kind, rows)

    def by_mapspace(self, rows: Ints) -> list[Ints]:
        """Divide candidates by kinds, and by mapspaces."""
        return [own for root in self.roots(rows) for own in by_number(self.mapspace, root)]

    def covered(self, rows: Ints) -> Ints:
        """List all candidates that what is proven of a set holds for, others than its own among them.

        A set is searched with all mappings that any of its machines may have, a single one with its own.
        """
        if len(rows) == 1 and self.by_machine[self.mapspace[rows[0]]]:
            return rows
        number = self.kind[rows[0]]
        every = self.of_kind[number][self.kinds[number].within(self.row[rows])]
        return np.asarray(every[np.isin(self.mapspace[every], self.mapspace[rows])])

    def machine(self, rows: Ints) -> tuple[Architecture, EnergyTable]:
        """Make the machine of a set of one kind."""
        kind = self.kinds[self.kind[rows[0]]]
        return set_machine(kind.like, kind.relaxed(self.row[rows]))

    def divided(self, rows: Ints) -> tuple[Ints, Ints]:
        """Divide a set of one kind in two, along the parameter that makes the machines of both parts the tightest."""
        halves = Division(-1.0, rows[: len(rows) // 2], rows[len(rows) // 2 :])  # designs alike in all parameters
        best = max([halves, *self._divisions(rows)], key=lambda division: division.score)
        return best.low, best.high

    def _divisions(self, rows: Ints) -> Sequence[Division]:
        kind = self.kinds[self.kind[rows[0]]]
        whole, divisions = kind.relaxed(self.row[rows]), []
        for places in self.places[rows].T:
            distinct = np.unique(places)
            if len(distinct) > 1:
                cut = np.searchsorted(distinct, (distinct[0] + distinct[-1]) / 2, side="right")
                low = places < distinct[min(max(int(cut), 1), len(distinct) - 1)]
                parts = rows[low], rows[~low]
                tighter = sum(kind.distance(kind.relaxed(self.row[part]), whole) for part in parts)
                divisions.append(Division(tighter, *parts))
        return divisions
