"""The table of tensor operators, by their names."""

from collections.abc import Mapping

from . import arrangement, constants, elementwise, products
from .operator import Operator

OPERATORS: Mapping[str, Operator] = {
    **elementwise.OPERATORS,
    **arrangement.OPERATORS,
    **products.OPERATORS,
    **constants.OPERATORS,
}
