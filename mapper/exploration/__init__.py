"""Explores a layer or a network: from two inputs to a result."""

from .api import Request, evaluate, explore, explored, one_layer_faults
from .diagnose import misfits
from .drawn import drawn
from .inputs import alike, layers_of, load
from .layer import Progress
from .neighbours import ONE_LAYER, Steps, why, why_faults
from .start_mappings import Beginnings, level_names
from .time_slices import Study
from .transfer import Entries, Transfer

__all__ = [
    "Beginnings",
    "Entries",
    "ONE_LAYER",
    "Progress",
    "Request",
    "Steps",
    "Study",
    "Transfer",
    "alike",
    "drawn",
    "evaluate",
    "explore",
    "explored",
    "layers_of",
    "level_names",
    "load",
    "misfits",
    "one_layer_faults",
    "why",
    "why_faults",
]
