"""The table of tensor operators: the parameters of each, its types, and what it computes."""

from .operator import Array, Operator, Params
from .products import NONE, RELU, SAME, VALID
from .table import OPERATORS

__all__ = [
    "NONE",
    "OPERATORS",
    "RELU",
    "SAME",
    "VALID",
    "Array",
    "Operator",
    "Params",
]
