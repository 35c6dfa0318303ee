"""Searches fused groups: tiles, loops, what stays, and the mappings of all stages, with what is proven."""

from .entries import Space
from .family import MOST_ROWS, Family
from .search import Extent, GroupOutcome, GroupSearch
from .solver import Solver, UnsolvedError, refitted

__all__ = [
    "MOST_ROWS",
    "Extent",
    "Family",
    "GroupOutcome",
    "GroupSearch",
    "Solver",
    "Space",
    "UnsolvedError",
    "refitted",
]
