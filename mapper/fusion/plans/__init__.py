"""Plans: groups with the mappings of their stages, as files."""

from .file import FIGURES, PlanFile, is_plan
from .read import Plan, read_plan

__all__ = ["FIGURES", "Plan", "PlanFile", "is_plan", "read_plan"]
