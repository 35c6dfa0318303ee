"""What can be minimised: the table of objectives."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import ceil
from operator import mul
from typing import Protocol

from ..mapping import Floats, Numbers, floats

Point = tuple[float, float]  # cycles, energy in pJ
ROUNDING = 1e-9  # relative; float sums and products in two orders differ by far less


class EnergyAndCycles(Protocol):
    """What objectives are values of."""

    @property
    def energy_pj(self) -> Floats:
        """The energy of each mapping. # (mapping,)"""

    @property
    def cycles(self) -> Numbers:
        """The cycles of each mapping. # (mapping,)"""


@dataclass(frozen=True)
class Objective:
    """One objective, energy ** a * cycles ** b: less is better, and it grows with both, as bounds and proofs need."""

    name: str  # of options and files
    column: str  # attribute of costs and results, key of JSON and tables
    title: str  # in sentences
    short: str  # in tables and on axes of pictures
    unit: str
    powers: tuple[int, int]  # a of the energy, b of the cycles; whole numbers, not both 0

    @property
    def label(self) -> str:
        """Its short name with its unit."""
        return f"{self.short} [{self.unit}]"

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers."""
        return not self.powers[0]

    @property
    def in_pj(self) -> bool:
        """Whether its values are energies."""
        return not self.powers[1]

    def of(self, costs: EnergyAndCycles) -> Floats:
        """Its values of the costs of mappings. # (mapping,)"""
        return self.value(costs.energy_pj, costs.cycles if self.whole else floats(costs.cycles))

    def value[Figure: (float, Floats)](self, energy_pj: Figure, cycles: Figure) -> Figure:
        """Its value of an energy and cycles, or its values of many. # (mapping,)"""
        by_energy, by_cycles = self.powers
        return reduce(mul, [energy_pj] * by_energy + [cycles] * by_cycles)

    def power_of[Number: (float, Fraction)](self, by_energy: Number, by_cycles: Number) -> Number | None:
        """Return p, above 0, where energy ** by_energy * cycles ** by_cycles is this ** p; None where there is none."""
        pairs = list(zip((by_energy, by_cycles), self.powers, strict=True))
        exponents = {own / whole for own, whole in pairs if whole}
        if any(own and not whole for own, whole in pairs) or len(exponents) > 1:
            return None
        (power,) = exponents
        return power if power > 0 else None

    def slope_at(self, energy_pj: float, cycles: float) -> float | None:
        """The pJ that a cycle is worth where energy and cycles are these; None: only cycles count."""
        by_energy, by_cycles = self.powers
        return by_cycles / by_energy * energy_pj / cycles if by_energy else None


@dataclass(frozen=True)
class WeightedSum:
    """Energy + slope x cycles in pJ, or cycles alone where the slope is None: an objective of parts of a whole."""

    slope: float | None

    def value[Figure: (float, Floats)](self, energy_pj: Figure, cycles: Figure) -> Figure:
        """Its value of an energy and cycles, or its values of many. # (mapping,)"""
        return cycles if self.slope is None else energy_pj + self.slope * cycles

    def slope_at(self, energy_pj: float, cycles: float) -> float | None:
        """The slope, whatever energy and cycles are."""
        return self.slope


OBJECTIVES: Mapping[str, Objective] = {
    objective.name: objective
    for objective in (
        Objective("edp", "edp", "EDP", "EDP", "pJ cycles", (1, 1)),
        Objective("energy", "energy_pj", "energy", "energy", "pJ", (1, 0)),
        Objective("delay", "cycles", "number of cycles", "delay", "cycles", (0, 1)),
    )
}


def first_objective(names: str) -> Objective:
    """The first of a list of objectives: what proofs and traces are about. Raises KeyError for an unknown name."""
    return OBJECTIVES[names.split(",")[0].strip()]


def at_most(gap: float) -> str:
    """Format a share that something is at most: rounded up, as what is proven is no less.

    >>> at_most(0.12341), at_most(1e-7), at_most(0.25)
    ('12.35%', '0.01%', '25.00%')
    """
    return f"{ceil(gap * 1e4 - 1e-9) / 1e4:.2%}"
