"""Expressions in input files: numbers that are computed, and index expressions of tensors."""

from .index import linear
from .numeric import arithmetic, is_expression, names_in, parse, value_of

__all__ = [
    "arithmetic",
    "is_expression",
    "linear",
    "names_in",
    "parse",
    "value_of",
]
