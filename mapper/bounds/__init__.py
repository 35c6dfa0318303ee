"""What no mapping of a set can be below, in energy and in cycles."""

from .charges import Charge, charges, flows, handed_out
from .dim_groups import DimGroup, grouped
from .geometric import Factors, Geometric
from .ideal import Ideal, ideal, least_between, least_outermost
from .limits import Limit, exceeds
from .relaxation import Bound, Relaxation
from .wires import word_pj

__all__ = [
    "Bound",
    "Charge",
    "DimGroup",
    "Factors",
    "Geometric",
    "Ideal",
    "Limit",
    "Relaxation",
    "charges",
    "exceeds",
    "flows",
    "grouped",
    "handed_out",
    "ideal",
    "least_between",
    "least_outermost",
    "word_pj",
]
