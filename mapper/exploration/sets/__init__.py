"""Explores a machine that stands for a set of machines, or one of them, within limits of energy and cycles."""

from ..api import FUSE, NONE
from ..plans import has_graph, why_no_plan
from ..stored_plans import stored_plan
from .limited import Limited, PowerLimit, explore_within, proven_empty
from .planned import explore_plans
from .within import KnownLayer, KnownStudy, known_layers

__all__ = [
    "FUSE",
    "NONE",
    "KnownLayer",
    "KnownStudy",
    "Limited",
    "PowerLimit",
    "explore_plans",
    "explore_within",
    "has_graph",
    "known_layers",
    "proven_empty",
    "stored_plan",
    "why_no_plan",
]
