"""Energy and area per action, each figure with its source."""

from .ert import ERT_HEADER, read_art, read_ert, write_art, write_ert
from .given import GIVEN
from .grid import EnergyWarning
from .spec import ComputeEnergy, EnergyTable, LevelEnergy
from .stacks import as_written, stacked_table
from .store import CacheWarning
from .table import BY_COMPONENT, ENGINES, area_um2, default_table, energy_table, no_energies

__all__ = [
    "BY_COMPONENT",
    "ENGINES",
    "ERT_HEADER",
    "GIVEN",
    "CacheWarning",
    "ComputeEnergy",
    "EnergyTable",
    "EnergyWarning",
    "LevelEnergy",
    "area_um2",
    "as_written",
    "default_table",
    "energy_table",
    "no_energies",
    "read_art",
    "read_ert",
    "write_art",
    "write_ert",
    "stacked_table",
]
