"""Results of fused groups."""

from .executed import Comparison, compared
from .explained import group_explanation
from .group_folder import write_group_folder
from .group_result import Alone, GroupResult
from .group_text import shared_over
from .plan_result import PlanResult

__all__ = [
    "Alone",
    "Comparison",
    "GroupResult",
    "PlanResult",
    "compared",
    "group_explanation",
    "shared_over",
    "write_group_folder",
]
