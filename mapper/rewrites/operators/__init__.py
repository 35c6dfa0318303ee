"""The table of tensor operators: the parameters of each, its types, and what it computes."""

from collections.abc import Mapping

from . import arrangement, constants, elementwise, products
from .operator import Array, Operator

OPERATORS: Mapping[str, Operator] = {
    **elementwise.OPERATORS,
    **arrangement.OPERATORS,
    **products.OPERATORS,
    **constants.OPERATORS,
}

__all__ = ["OPERATORS", "Array", "Operator"]
