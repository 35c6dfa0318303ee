"""Results of fused groups."""

from .group_result import Alone, GroupResult

__all__ = ["Alone", "GroupResult"]
