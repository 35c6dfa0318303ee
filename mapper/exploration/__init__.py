"""Explores a layer or a network: from two inputs to a result."""

from .api import evaluate, explore, one_layer_faults
from .diagnose import misfits
from .drawn import drawn
from .inputs import alike, layers_of, load, spaces
from .layer import Progress
from .neighbours import ONE_LAYER, Steps, why, why_faults
from .start_mappings import Beginnings, level_names
from .time_slices import Study
from .transfer import Entries, Transfer, first_layers

__all__ = [
    "Beginnings",
    "Entries",
    "ONE_LAYER",
    "Progress",
    "Steps",
    "Study",
    "Transfer",
    "alike",
    "drawn",
    "evaluate",
    "explore",
    "first_layers",
    "layers_of",
    "level_names",
    "load",
    "misfits",
    "one_layer_faults",
    "spaces",
    "why",
    "why_faults",
]
