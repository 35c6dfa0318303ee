"""The energies and cycles that least sums leave: a convex region, and the least objective in it.

No plan or choice of mappings has E + s C below a proven sum at any slope s, an energy or cycles below their bounds:
what is left is convex, and its lower left edge is a chain of lines. An objective that grows with energy and cycles and
is quasi-concave, as energy, cycles and their product, is least at a corner, also where cycles or energy are limited.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isclose
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
        """Test whether cycles and energy are within them: energies but for rounding, cycles are whole numbers."""
        return cycles <= self.cycles and energy_pj <= self.energy_pj * (1 + ROUNDING)

    def beyond(self, cycles: float, energy_pj: float) -> float:
        """Compute how far cycles and energy are beyond them, as the larger factor; 1: they are within."""
        if self.kept(cycles, energy_pj):
            return 1.0
        return max(cycles / self.cycles if self.cycles else inf, energy_pj / self.energy_pj if self.energy_pj else inf)


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

    def distinct_corners(self) -> Iterator[Point]:
        """Yield the corners from the fewest cycles to the most, of those that differ by rounding alone the first."""
        before = None
        for corner in reversed(self.corners):
            if before is None or not all(isclose(*both, rel_tol=ROUNDING) for both in zip(corner, before, strict=True)):
                yield corner
                before = corner

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

    def least_sum(self, slope: float) -> float:
        """The least energy + slope x cycles."""
        return min(energy_pj + slope * cycles for cycles, energy_pj in self.corners)

    @classmethod
    def of_all(cls, every: "Sequence[Envelope]") -> "Envelope":
        """What is proven where any of these holds."""
        if len(every) == 1:
            return every[0]
        slopes = sorted({own.slope for one in every for own in one.sums})
        sums = tuple(LeastSum(slope, min(one.least_sum(slope) for one in every)) for slope in slopes)
        return cls(min(one.energy_pj for one in every), min(one.cycles for one in every), sums)

    def gap(self, front: Sequence[Point]) -> float:
        """The largest share by which something may be below all of a front, in cycles and in energy.

        What no point of the front covers has fewer cycles than one and less energy than the one before: it is below
        a corner between both. The front goes from the fewest cycles to the most.
        """
        cycles, energies = zip(*front, strict=True)
        factors = [self.factor(more, pj) for more, pj in zip(cycles[1:], energies[:-1], strict=True)]
        factors += [self.cycles / cycles[0] if cycles[0] else 1.0]
        factors += [self.energy_pj / energies[-1] if energies[-1] else 1.0]
        return max(0.0, 1 - min(factors))

    def least(self, objective: Objective, limits: Limits) -> LeastPoint:
        """The least value of an objective within limits."""
        limits = Limits(limits.cycles * (1 + ROUNDING), limits.energy_pj * (1 + ROUNDING))  # sums have rounding errors
        points = list(self.corners)
        if limits.cycles < inf:
            points.append((limits.cycles, self.least_energy(limits.cycles)))
        if limits.energy_pj < inf:
            points.append((self.least_cycles(limits.energy_pj), limits.energy_pj))
        points = [point for point in points if max(point) < inf and limits.kept(*point)]
        values = [(objective.value(energy_pj, cycles), (cycles, energy_pj)) for cycles, energy_pj in points]
        return LeastPoint(*min(values)) if values else LeastPoint(inf, None)
