"""Explores a machine that stands for a set of machines, or one of them, within limits of energy and cycles."""

from .limited import Limited, PowerLimit, explore_within
from .within import KnownLayer, KnownStudy, known_layers

__all__ = [
    "KnownLayer",
    "KnownStudy",
    "Limited",
    "PowerLimit",
    "explore_within",
    "known_layers",
]
