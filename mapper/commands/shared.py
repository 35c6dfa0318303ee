"""What several commands say and do of machines, energies and dims."""

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


def dim_sizes(given: list[str], faults: list[Fault]) -> dict[str, int]:
    """Read options `N=1` as names and sizes of dims; appends faults to `faults`."""
    sizes = {}
    for text in given:
        name, _, size = text.rpartition("=")
        if name and size.isascii() and size.isdigit() and int(size[:20]) > 0:
            sizes[name] = int(size[:20])  # more digits than any size has, but few enough for int()
        else:
            faults.append(Fault("--dim", None, "", f"must be NAME=SIZE with a size of at least 1, got {text!r}"))
    return sizes
