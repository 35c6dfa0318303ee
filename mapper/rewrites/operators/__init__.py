"""The table of tensor operators: the parameters of each, its types, and what it computes."""

from .elementwise import AXES
from .operator import Array, Operator, Params
from .products import NONE, RELU, SAME, VALID, VALUES
from .table import OPERATORS

__all__ = [
    "AXES",
    "NONE",
    "OPERATORS",
    "RELU",
    "SAME",
    "VALID",
    "VALUES",
    "Array",
    "Operator",
    "Params",
]
