"""Explores a layer or a network: from two inputs to a result."""

from .api import evaluate, explore, one_layer_faults
from .beginnings import Beginnings, level_names
from .diagnose import misfits
from .drawn import drawn
from .inputs import alike, layers_of, load, spaces
from .layer import Progress
from .neighbours import ONE_LAYER, Steps, why, why_faults

__all__ = [
    "Beginnings",
    "ONE_LAYER",
    "Progress",
    "Steps",
    "alike",
    "drawn",
    "evaluate",
    "explore",
    "layers_of",
    "level_names",
    "load",
    "misfits",
    "one_layer_faults",
    "spaces",
    "why",
    "why_faults",
]
