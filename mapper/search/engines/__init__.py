"""The array libraries that run the model."""

from .table import ENGINES, score

__all__ = [
    "ENGINES",
    "score",
]
