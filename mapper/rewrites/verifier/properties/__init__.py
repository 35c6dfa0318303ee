"""Properties of tensor operators, from which substitutions are proven. `check.py` checks them by execution."""

from .lemmas import LEMMAS
from .property import ALIKE, BOTH, LEFT, NO, RIGHT, Property
from .table import PROPERTIES

__all__ = ["ALIKE", "BOTH", "LEFT", "LEMMAS", "NO", "PROPERTIES", "RIGHT", "Property"]
