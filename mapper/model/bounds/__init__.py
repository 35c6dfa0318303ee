"""What no mapping can beat: lower bounds of energy and cycles."""

from .charges import Charge, charges, handed_out
from .dim_groups import DimGroup, grouped
from .geometric import Factors, Geometric
from .ideal import Ideal, ideal, least_between, least_outermost, touched_words
from .limits import Limit, exceeds
from .relaxation import ROUNDING, Bound, Relaxation

__all__ = [
    "Bound",
    "Charge",
    "Factors",
    "Geometric",
    "DimGroup",
    "Ideal",
    "Limit",
    "ROUNDING",
    "Relaxation",
    "charges",
    "exceeds",
    "grouped",
    "handed_out",
    "ideal",
    "least_between",
    "least_outermost",
    "touched_words",
]
