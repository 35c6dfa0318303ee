"""Plans of networks as files: written, counted, beside their executor, and explained."""

from .counted_plan import CountedPlan
from .plan_executed import compared_plan
from .plan_explained import plan_explanation
from .plan_yaml import plan_yaml

__all__ = ["CountedPlan", "compared_plan", "plan_explanation", "plan_yaml"]
