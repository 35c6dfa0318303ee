"""Energy per action and area per instance of every component of an architecture."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LevelEnergy:
    """The figures of a storage level: pJ per access of the full width (a vector), um^2 per instance."""

    name: str
    read_pj: float
    write_pj: float  # a fill
    update_pj: float
    leak_pj_per_cycle: float
    area_um2: float
    source: str  # where the figures come from: "closed form ...", "CACTI grid", "interpolated ...", "ERT file ..."


@dataclass(frozen=True)
class ComputeEnergy:
    """The figures of a MAC unit: pJ per MAC, um^2 per instance."""

    name: str
    compute_pj: float
    leak_pj_per_cycle: float
    area_um2: float
    source: str


@dataclass(frozen=True)
class EnergyTable:
    """The figures of one architecture, levels in its order (outermost first)."""

    arch: str
    levels: tuple[LevelEnergy, ...]
    compute: ComputeEnergy
