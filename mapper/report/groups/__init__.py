"""Results of fused groups."""

from .executed import Comparison, compared
from .explained import group_explanation
from .group_result import Alone, GroupResult
from .group_text import plan_yaml
from .plan_result import PlanResult

__all__ = ["Alone", "Comparison", "GroupResult", "PlanResult", "compared", "group_explanation", "plan_yaml"]
