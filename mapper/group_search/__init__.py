"""Searches fused groups: tiles, loops, what stays, and the mappings of all stages, with what is proven."""

from .entries import Space
from .family import MOST_ROWS, Family, Known
from .search import Extent, GroupOutcome, GroupSearch
from .solver import Solver, UnsolvedError, refitted

__all__ = [
    "MOST_ROWS",
    "Extent",
    "Family",
    "GroupOutcome",
    "GroupSearch",
    "Known",
    "Solver",
    "Space",
    "UnsolvedError",
    "refitted",
]
