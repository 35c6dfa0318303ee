"""The energies and cycles that least sums leave: a convex region, and the least objective in it.

No plan or choice of mappings has E + s C below a proven sum at any slope s, an energy or cycles below their bounds:
what is left is convex, and its lower left edge is a chain of lines. An objective that grows with energy and cycles and
is quasi-concave, as energy, cycles and their product, is least at a corner, also where cycles or energy are limited.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import NamedTuple

import numpy as np

from ...mapping import Floats
from ...problem import ROUNDING, Objective, Point
from .layer_bounds import LeastSum, concave


@dataclass(frozen=True)
class Limits:
    """What a whole may take at most."""

    cycles: float = inf
    energy_pj: float = inf

    @property
    def none(self) -> bool:
        """Whether nothing is limited."""
        return self.cycles == self.energy_pj == inf

    def kept(self, cycles: float, energy_pj: float) -> bool:
        """Test whether cycles and energy are within them."""
        return cycles <= self.cycles and energy_pj <= self.energy_pj

    def beyond(self, cycles: float, energy_pj: float) -> float:
        """Compute how far cycles and energy are beyond them, as the larger factor; 1: they are within."""
        return max(1.0, cycles / self.cycles, energy_pj / self.energy_pj)


class LeastPoint(NamedTuple):
    """The least value of an objective in a region, and where it has it; inf where nothing is within the limits."""

    value: float
    point: Point | None


@dataclass(frozen=True)
class Envelope:
    """What is proven of energy and cycles together."""

    energy_pj: float  # at least
    cycles: float  # at least
    sums: Sequence[LeastSum] = ()  # at positive slopes, in ascending order

    @cached_property
    def lines(self) -> tuple[Floats, Floats]:
        """The slopes and sums of the lines of its edge, the least energy at slope 0 among them. # (line,)"""
        slopes = np.array([0.0, *(own.slope for own in self.sums)])
        sums = np.array([self.energy_pj, *(own.least_pj for own in self.sums)])
        sums = np.maximum.accumulate(sums - slopes * self.cycles) + slopes * self.cycles
        return concave(slopes, sums)

    @cached_property
    def corners(self) -> tuple[Point, ...]:
        """Cycles and energy of its corners, from the most cycles to the fewest."""
        slopes, sums = self.lines
        cycles = np.maximum(np.append(np.diff(sums) / np.diff(slopes), self.cycles), self.cycles)
        energies = np.maximum(sums - slopes * cycles, self.energy_pj)
        return tuple(zip(cycles.tolist(), energies.tolist(), strict=True))

    def least_energy(self, cycles: float) -> float:
        """The least energy with at most so many cycles; inf: there is none."""
        slopes, sums = self.lines
        return inf if cycles < self.cycles * (1 - ROUNDING) else float((sums - slopes * cycles).max())

    def least_cycles(self, energy_pj: float) -> float:
        """The fewest cycles with at most so much energy; inf: there is none."""
        slopes, sums = self.lines
        if energy_pj < self.energy_pj * (1 - ROUNDING):
            return inf
        return max(self.cycles, float(((sums[1:] - energy_pj) / slopes[1:]).max(initial=0.0)))

    def factor(self, cycles: float, energy_pj: float) -> float:
        """The least factor by which both can be multiplied so that the point is not below the edge."""
        slopes, sums = self.lines
        return max(self.cycles / cycles, float((sums / (energy_pj + slopes * cycles)).max()))

    def least(self, objective: Objective, limits: Limits) -> LeastPoint:
        """The least value of an objective within limits."""
        limits = Limits(limits.cycles * (1 + ROUNDING), limits.energy_pj * (1 + ROUNDING))  # sums have rounding errors
        points = [point for point in self.corners if limits.kept(*point)]
        if limits.cycles < inf and self.least_energy(limits.cycles) <= limits.energy_pj:
            points.append((limits.cycles, self.least_energy(limits.cycles)))
        if limits.energy_pj < inf and self.least_cycles(limits.energy_pj) <= limits.cycles:
            points.append((self.least_cycles(limits.energy_pj), limits.energy_pj))
        values = [(objective.value(energy_pj, cycles), (cycles, energy_pj)) for cycles, energy_pj in points]
        return LeastPoint(*min(values)) if values else LeastPoint(inf, None)
