"""Energy and area per action, each figure with its source."""

from .cacti import EnergyWarning
from .ert import read_art, read_ert, write_art, write_ert
from .spec import ComputeEnergy, EnergyTable, LevelEnergy
from .stacks import as_written, stacked_table
from .store import CacheWarning
from .table import ENGINES, area_um2, default_table, energy_table

__all__ = [
    "ENGINES",
    "CacheWarning",
    "ComputeEnergy",
    "EnergyTable",
    "EnergyWarning",
    "LevelEnergy",
    "area_um2",
    "as_written",
    "default_table",
    "energy_table",
    "read_art",
    "read_ert",
    "write_art",
    "write_ert",
    "stacked_table",
]
