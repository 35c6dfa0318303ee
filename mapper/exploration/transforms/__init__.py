"""Other problems that compute the same as the one given."""

from .registry import TRANSFORMATIONS, Transformation, transformed

__all__ = [
    "TRANSFORMATIONS",
    "Transformation",
    "transformed",
]
