"""Explores a layer or a network: from two inputs to a result."""

from .api import evaluate, explore
from .diagnose import misfits
from .inputs import alike, layers_of, load, spaces
from .layer import Progress

__all__ = [
    "Progress",
    "alike",
    "evaluate",
    "explore",
    "layers_of",
    "load",
    "misfits",
    "spaces",
]
