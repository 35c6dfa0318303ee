"""Plans: groups with the mappings of their stages, as files."""

from .file import (
    FIGURES,
    GroupShape,
    PlanFile,
    PlanStage,
    group_faults,
    is_plan,
    keeper_faults,
    shaped_group,
)
from .read import Plan, read_mappings, read_plan

__all__ = [
    "FIGURES",
    "GroupShape",
    "Plan",
    "PlanFile",
    "PlanStage",
    "group_faults",
    "is_plan",
    "keeper_faults",
    "read_mappings",
    "read_plan",
    "shaped_group",
]
