"""What several commands say and do of machines and energies."""

from collections.abc import Collection

from ...arch import Architecture, placed
from ...workloads import Fault, option_fault

CHARGES = ("leakage", "wire_pj_per_bit_mm", "tile_mm", "hop_pj")  # of options


def placed_as(arch: Architecture, placement: str) -> Architecture:
    """Return `arch` with the placement that an option asks for, if it does. Raises InputError for another word."""
    return placed(arch, placement) if placement else arch


def energy_clashes(given: Collection[str]) -> list[Fault]:
    """What of the options `given` says something of energies, where --no-energy says that nothing is known."""
    names = [name for name in (*CHARGES, "ert", "art", "energy", "beside") if name in given]
    return [option_fault(name.replace("_", "-"), "says something of energies: leave out --no-energy") for name in names]
