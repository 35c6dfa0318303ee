"""Explores a machine that stands for a set of machines, or one of them, beside machines that allow more."""

from .within import KnownLayer, KnownStudy, explore_layers, known_layers

__all__ = [
    "KnownLayer",
    "KnownStudy",
    "explore_layers",
    "known_layers",
]
