"""Explores a layer or a network: from two inputs to a result."""

from .api import evaluate, explore
from .diagnose import misfits
from .inputs import alike, layers_of, load, spaces
from .layer import Progress
from .neighbours import ONE_LAYER, Steps, why, why_faults

__all__ = [
    "ONE_LAYER",
    "Progress",
    "Steps",
    "alike",
    "evaluate",
    "explore",
    "layers_of",
    "load",
    "misfits",
    "spaces",
    "why",
    "why_faults",
]
