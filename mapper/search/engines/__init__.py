"""The array libraries that run the model."""

from .engine import Engine, EngineLine, Sight
from .table import ENGINES, score

__all__ = [
    "ENGINES",
    "Engine",
    "EngineLine",
    "Sight",
    "score",
]
