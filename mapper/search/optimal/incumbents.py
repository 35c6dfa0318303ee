"""The incumbents of `--search optimal`: the mapping with the least objective, or the front of energy and delay.

Both give the branch and bound a merit for each lower bound, and the cutoff at which it is ruled out. For the front the
merit is the *reach* of a point (energy, cycles): the largest factor by which energy and cycles of some incumbent may
both be multiplied without passing the point. With reach 1 that incumbent is as good on both axes. The reach grows with
energy and with cycles, so the reach of a lower bound is a bound for all mappings above it.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...mapping import Bools, Floats, Ints, MappingBatch, covered
from ...model import Objective
from ...model.bounds import ROUNDING
from ..outcome import Point, reach


class Incumbents(Protocol):
    """The best mappings so far, and the cutoff for bounds."""

    @property
    def best(self) -> MappingBatch | None:
        """The mapping with the least objective, as a batch of one."""

    @property
    def least(self) -> float:
        """The objective of `best`; inf before there is one."""

    @property
    def cutoff(self) -> float:
        """The limit of merits: mappings not below it are of no use."""

    @property
    def by_energy(self) -> bool:
        """Whether energy affects the merit."""

    def merit(self, energy_pj: Floats, cycles: Floats) -> Floats:
        """Convert lower bounds to merits, to compare with `cutoff`; with better incumbents they may grow."""

    def promising(self, energy_pj: Floats, cycles: Floats) -> Ints:
        """Select the mappings to offer, most promising first. # (mapping,)"""

    def offer(self, batch: MappingBatch, energy_pj: float, cycles: float) -> bool:
        """Record a mapping if it is of use; return whether its objective is the new least."""


@dataclass(eq=False)
class BestIncumbent:
    """The mapping with the least objective."""

    objective: Objective
    best: MappingBatch | None = None
    least: float = np.inf

    @property
    def cutoff(self) -> float:
        return self.least

    @property
    def by_energy(self) -> bool:
        return self.objective.powers[0] > 0

    def merit(self, energy_pj: Floats, cycles: Floats) -> Floats:
        """Return the objective."""
        return self.objective.value(energy_pj, cycles)

    def promising(self, energy_pj: Floats, cycles: Floats) -> Ints:
        """Select the mapping with the least objective."""
        return self.merit(energy_pj, cycles).argmin(keepdims=True)

    def offer(self, batch: MappingBatch, energy_pj: float, cycles: float) -> bool:
        (value,) = self.objective.value(np.array([energy_pj]), np.array([cycles])).tolist()
        if value < self.least:
            self.best, self.least = batch, value
            return True
        return False


@dataclass(eq=False)
class FrontIncumbents:
    """The mappings on the front of energy and cycles so far, by ascending cycles.

    The mapping with the least objective is on the front, as each objective grows with energy and cycles.
    """

    objective: Objective
    cutoff: float = 1.0
    by_energy: bool = True
    # batches, cycles, energy_pj: in a single attribute, so that Ctrl-C cannot separate them
    _front: tuple[tuple[MappingBatch, ...], Floats, Floats] = ((), np.empty(0), np.empty(0))

    @property
    def batches(self) -> tuple[MappingBatch, ...]:
        """The mappings, as batches of one."""
        return self._front[0]

    @property
    def cycles(self) -> Floats:
        """The cycles of each, ascending."""
        return self._front[1]

    @property
    def energy_pj(self) -> Floats:
        """The energy of each, descending."""
        return self._front[2]

    @property
    def _at(self) -> int:
        return int(self.objective.value(self.energy_pj, self.cycles).argmin())

    @property
    def best(self) -> MappingBatch | None:
        return self.batches[self._at] if self.batches else None

    @property
    def least(self) -> float:
        return float(self.objective.value(self.energy_pj, self.cycles)[self._at]) if self.batches else np.inf

    def merit(self, energy_pj: Floats, cycles: Floats) -> Floats:
        """Compute the reach of each point; while the front is empty, a negative number that grows with the EDP."""
        return reach(self.energy_pj, self.cycles, energy_pj, cycles)

    def promising(self, energy_pj: Floats, cycles: Floats) -> Ints:
        """Select the mappings out of reach, the farthest first."""
        merits = self.merit(energy_pj, cycles)
        order = np.argsort(merits)
        return order[merits[order] < 1 - ROUNDING]

    def offer(self, batch: MappingBatch, energy_pj: float, cycles: float) -> bool:
        if self.merit(np.array([energy_pj]), np.array([cycles]))[0] >= 1 - ROUNDING:
            return False
        before = self.least
        stay = ~covered(np.stack([self.cycles, self.energy_pj]).T, [(cycles, energy_pj)])
        place = int((self.cycles[stay] < cycles).sum())
        others = [other for other, stays in zip(self.batches, stay.tolist(), strict=True) if stays]
        batches = (*others[:place], batch, *others[place:])
        all_cycles = np.insert(self.cycles[stay], place, cycles)
        self._front = batches, all_cycles, np.insert(self.energy_pj[stay], place, energy_pj)
        return self.least < before

    def times(self, factor: float) -> list[Point]:
        """Multiply the front by a factor: a mapping of at least this reach is above some point on both axes."""
        return [(factor * c, factor * e) for c, e in zip(self.cycles.tolist(), self.energy_pj.tolist(), strict=True)]


def without_equals(energy_pj: Floats, cycles: Floats) -> Bools:
    """Mark the points of a front, by ascending cycles, that are not equal to another up to rounding. # (point,)"""
    stay = np.zeros(len(cycles), bool)
    least = np.inf
    for i, energy in enumerate(energy_pj.tolist()):
        if energy < least * (1 - ROUNDING):
            stay[i], least = True, energy
    return stay
