"""What can be minimised: the table of objectives."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..mapping import Floats

ROUNDING = 1e-9  # relative; float sums and products in two orders differ by far less


@dataclass(frozen=True)
class Objective:
    """One objective, energy ** a * cycles ** b: less is better, and it grows with both, as bounds and proofs need."""

    name: str  # of options and files
    column: str  # attribute of costs and results, key of JSON and tables
    title: str  # in sentences
    short: str  # in tables and on axes of pictures
    unit: str
    powers: tuple[int, int]  # a of the energy, b of the cycles; each 0 or 1, not both 0

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

    def of(self, costs: object) -> Floats:
        """Its values in the costs of mappings, which have its column. # (mapping,)"""
        values: Floats = getattr(costs, self.column)
        return values

    def value(self, energy_pj: Floats, cycles: Floats) -> Floats:
        """Its values from energies and cycles. # (mapping,)"""
        by_energy, by_cycles = self.powers
        if by_energy and by_cycles:
            return energy_pj * cycles
        return energy_pj if by_energy else cycles


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
