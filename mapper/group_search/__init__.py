"""Searches fused groups: tiles, loops, what stays, and the mappings of all stages, with what is proven."""

from .family import MOST_ROWS, Family
from .search import GroupOutcome, GroupSearch

__all__ = ["MOST_ROWS", "Family", "GroupOutcome", "GroupSearch"]
