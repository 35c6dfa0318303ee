"""A machine as parts, each with what it adds to the description of a design, and the description that parts add up to.

Designs share most of their parts: of 10 sizes of a buffer and 10 of an array there are 20 parts and 100 designs.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ....arch import Architecture
from ....energy import ComputeEnergy, EnergyTable, LevelEnergy
from ...problem import Charges, digest, plain
from ..relaxed import (
    axis_figures,
    blank_axis,
    blank_compute,
    blank_level,
    compute_figures,
    energy_figures,
    size_figures,
)


class LevelPart(NamedTuple):
    """A level without its axes."""

    kind: str  # a hash of what decides mappings and costs
    sizes: tuple[float, ...]  # figures in front of those of its axes
    energies: tuple[float, ...]  # figures behind them
    leakage: float  # of an instance, pJ per cycle
    area_um2: float


class AxisPart(NamedTuple):
    """An axis."""

    kind: str
    figures: tuple[float, ...]
    size: int


class ComputePart(NamedTuple):
    """A MAC unit."""

    kind: str
    figures: tuple[float, ...]
    leakage: float
    area_um2: float


class Parts(NamedTuple):
    """All parts of a machine: each level with its axes, outermost first, and the MAC units."""

    levels: Sequence[tuple[LevelPart, Sequence[AxisPart]]]
    compute: ComputePart

    @classmethod
    def of(cls, arch: Architecture, table: EnergyTable, charges: Charges) -> "Parts":
        """Take a machine apart."""
        leasts = iter([slot.least for slot in arch.slots if slot.spatial])
        levels = []
        for level, energies in zip(arch.levels, table.levels, strict=True):
            axes = [
                AxisPart(
                    digest(plain(blank_axis(axis, charges))),
                    tuple(figure.value for figure in axis_figures(axis, next(leasts))),
                    axis.size,
                )
                for axis in level.fanout
            ]
            sizes, behind = ([own.value for own in every] for every in (size_figures(level), energy_figures(energies)))
            kind = digest(plain(blank_level(level)))
            levels.append((LevelPart(kind, tuple(sizes), tuple(behind), *_shares(energies)), axes))
        figures = tuple(own.value for own in compute_figures(table.compute))
        return cls(levels, ComputePart(digest(blank_compute(arch, table)), figures, *_shares(table.compute)))

    @property
    def kinds(self) -> tuple[str, ...]:
        """What the kind of the machine depends on, but for what is the same of all designs of a file."""
        every = ((level.kind, *(axis.kind for axis in axes), "") for level, axes in self.levels)
        return (*(kind for kinds in every for kind in kinds), self.compute.kind)

    def figures(self) -> list[float]:
        """The figures of the machine, in the order of `relaxed.figures`."""
        figures, copies = list[float](), 1
        for level, axes in self.levels:
            figures += level.sizes
            leakage = level.leakage * copies
            for axis in axes:
                figures += axis.figures
                copies *= axis.size
            figures += level.energies
            figures.append(leakage)
        figures.append(self.compute.leakage * copies)
        figures += self.compute.figures
        return figures

    def area_um2(self) -> float:
        """The area of all instances, added up in the order of `energy.area_um2`: the same to the last bit."""
        areas, copies = list[float](), 1
        for level, axes in self.levels:
            areas.append(level.area_um2 * copies)
            for axis in axes:
                copies *= axis.size
        return sum(areas) + self.compute.area_um2 * copies


def _shares(energies: LevelEnergy | ComputeEnergy) -> tuple[float, float]:
    """The leakage and the area of an instance."""
    return energies.leak_pj_per_cycle, energies.area_um2
