"""Verifies equations between graphs of tensor operators, from a table of properties (TASO, section 3)."""

from .check import VALUES, executed, typed
from .lift import lifted
from .properties import LEMMAS, PROPERTIES, Property
from .solver import Prover

__all__ = ["LEMMAS", "PROPERTIES", "Property", "Prover", "VALUES", "executed", "lifted", "typed"]
