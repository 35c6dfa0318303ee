"""Explores a layer or a network: from two inputs to a result."""

from .api import FUSE, Request, evaluate, explore, explored, one_layer_faults, study_faults
from .diagnose import exceeded_limits
from .draw_valid import draw_valid
from .group import GroupProgress, explore_group, group_faults
from .inputs import distinct_layers, equal_layers, layers_of, load, load_without_machine
from .layer import Progress
from .neighbours import ChangeProgress, why, why_faults
from .plan import evaluate_plan, executed_plan, plan_document
from .plans import PlanProgress
from .start_mappings import StartMappings, level_names
from .time_slices import Study
from .transfer import Entries, Transfer

__all__ = [
    "FUSE",
    "PlanProgress",
    "StartMappings",
    "Entries",
    "Progress",
    "Request",
    "ChangeProgress",
    "Study",
    "Transfer",
    "distinct_layers",
    "equal_layers",
    "draw_valid",
    "evaluate",
    "evaluate_plan",
    "executed_plan",
    "explore",
    "GroupProgress",
    "explore_group",
    "group_faults",
    "explored",
    "layers_of",
    "level_names",
    "load",
    "load_without_machine",
    "exceeded_limits",
    "one_layer_faults",
    "plan_document",
    "study_faults",
    "why",
    "why_faults",
]
