"""Programs that compute bounds of many sets of chains at once; NumPy computes the same without them."""

from .plain import Bounding, PlainBounds
from .program import Program, compiled, engine
from .symbols import take

__all__ = ["Bounding", "PlainBounds", "Program", "compiled", "engine", "take"]
