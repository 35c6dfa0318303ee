"""What `--search optimal` looks for: the least of one objective, or the front of energy and delay.

Both tell the branch and bound the same two things: one number per lower bound, and the limit at which it is ruled out.
For the front that number is the *reach* of a point (energy, cycles): the largest factor by which the energy and cycles
of some mapping found may both be multiplied without leaving the point behind. Reach 1: that mapping is as good on both
axes. It grows with energy and with cycles, so that of a lower bound holds for all that is above the bound.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...mapping import Bools, Floats, Ints, MappingBatch, covered
from ...model import Objective
from ...model.bounds import ROUNDING
from ..outcome import Point, reach


class Incumbents(Protocol):
    """What is looked for."""

    @property
    def best(self) -> MappingBatch | None:
        """The mapping with the least objective, as a batch of one."""

    @property
    def least(self) -> float:
        """Its objective; inf before there is one."""

    @property
    def cutoff(self) -> float:
        """What is not below it is of no use."""

    @property
    def by_energy(self) -> bool:
        """Whether energy matters."""

    def merit(self, energy_pj: Floats, cycles: Floats) -> Floats:
        """One number for each pair of lower bounds, to be compared with `cutoff`; later ones may be larger."""

    def promising(self, energy_pj: Floats, cycles: Floats) -> Ints:
        """Which of some mappings to offer, most promising first. # (mapping,)"""

    def offer(self, batch: MappingBatch, energy_pj: float, cycles: float) -> bool:
        """Take one mapping if it is of use; whether it is the new least of the objective."""


@dataclass(eq=False)
class BestIncumbent:
    """The least of one objective."""

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
        """The objective itself."""
        return self.objective.value(energy_pj, cycles)

    def promising(self, energy_pj: Floats, cycles: Floats) -> Ints:
        """The least of them."""
        return self.merit(energy_pj, cycles).argmin(keepdims=True)

    def offer(self, batch: MappingBatch, energy_pj: float, cycles: float) -> bool:
        (value,) = self.objective.value(np.array([energy_pj]), np.array([cycles])).tolist()
        if value < self.least:
            self.best, self.least = batch, value
            return True
        return False


@dataclass(eq=False)
class FrontIncumbents:
    """Mappings that none other found beats on energy or cycles without losing on the other, by their cycles.

    The least of any objective is among them, for each objective grows with energy and cycles.
    """

    objective: Objective
    cutoff: float = 1.0
    by_energy: bool = True
    # batches, cycles, energy_pj: in one attribute, so that Ctrl-C finds all of a front or all of the next
    _front: tuple[tuple[MappingBatch, ...], Floats, Floats] = ((), np.empty(0), np.empty(0))

    @property
    def batches(self) -> tuple[MappingBatch, ...]:
        """Batches of one."""
        return self._front[0]

    @property
    def cycles(self) -> Floats:
        """Of each, ascending."""
        return self._front[1]

    @property
    def energy_pj(self) -> Floats:
        """Of each, descending."""
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
        """The reach of each point; before anything is found below 0, the larger the EDP."""
        return reach(self.energy_pj, self.cycles, energy_pj, cycles)

    def promising(self, energy_pj: Floats, cycles: Floats) -> Ints:
        """Those out of reach, the farthest first."""
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
        """Lower bounds of whatever has at least this reach: one of these points is below it on both axes."""
        return [(factor * c, factor * e) for c, e in zip(self.cycles.tolist(), self.energy_pj.tolist(), strict=True)]


def without_equals(energy_pj: Floats, cycles: Floats) -> Bools:
    """Which points of a front # (point,), by cycles, stay when those within rounding of another are left out."""
    stay = np.zeros(len(cycles), bool)
    least = np.inf
    for i, energy in enumerate(energy_pj.tolist()):
        if energy < least * (1 - ROUNDING):
            stay[i], least = True, energy
    return stay
