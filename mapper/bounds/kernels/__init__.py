"""Programs that compute bounds of many sets of chains at once; NumPy computes the same without them."""

from .program import Engine, Program, compiled, engine
from .symbols import take

__all__ = ["Engine", "Program", "compiled", "engine", "take"]
