"""The candidates of a design space as arrays, and how a set of them is divided."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...arch import Architecture
from ...energy import EnergyTable
from ..mapping import Bools, Floats, Ints
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

    def relaxed(self, rows: Ints) -> Floats:
        """The figures of the machine of a set. # (figure,)"""
        own = self.figures[rows]
        return np.where(self.more, own.max(axis=0), own.min(axis=0))

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

    def roots(self, rows: Ints) -> list[Ints]:
        """Divide candidates by kinds."""
        return [own for number in range(len(self.kinds)) if len(own := rows[self.kind[rows] == number])]

    def by_mapspace(self, rows: Ints) -> list[Ints]:
        """Divide candidates by kinds, and by mapspaces."""
        every = (own[self.mapspace[own] == number] for own in self.roots(rows) for number in np.unique(self.mapspace))
        return [own for own in every if len(own)]

    def covered(self, rows: Ints) -> Ints:
        """List all candidates that what is proven of a set holds for, others than its own among them.

        A set is searched with all mappings that any of its machines may have, a single one with its own.
        """
        if len(rows) == 1 and self.by_machine[self.mapspace[rows[0]]]:
            return rows
        kind, number = self.kinds[self.kind[rows[0]]], self.kind[rows[0]]
        machine, every = kind.relaxed(self.row[rows]), np.flatnonzero(self.kind == number)
        own = kind.figures[self.row[every]]
        within = np.where(kind.more, own <= machine, own >= machine).all(axis=1)
        return np.asarray(every[within & np.isin(self.mapspace[every], self.mapspace[rows])])

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
