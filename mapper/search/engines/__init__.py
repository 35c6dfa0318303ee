"""The array libraries that run the model."""

from .engine import ENGINES, Engine, Sight, engine_faults, space_faults

__all__ = [
    "ENGINES",
    "Engine",
    "Sight",
    "engine_faults",
    "space_faults",
]
