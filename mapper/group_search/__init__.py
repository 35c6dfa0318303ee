"""Searches fused groups: tiles, loops, what stays, and the mappings of all stages, with what is proven."""

from .family import Family
from .search import GroupOutcome, GroupSearch

__all__ = ["Family", "GroupOutcome", "GroupSearch"]
