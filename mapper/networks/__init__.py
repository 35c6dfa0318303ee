"""Plans of networks: parts in an order, and tensors that stay in one memory; executed, counted and costed."""

from .costs import PartCosts, PlanCosts, overfull_bits
from .execute import COPY, INSIDE, OFF_CHIP, ExecutedPlan, execute_plan, reference
from .graph import Graph, Node, Read
from .movements import Flow, Movement, movements
from .plan import Part, PlacedPart, Plan, Resident, applies

__all__ = [
    "COPY",
    "INSIDE",
    "OFF_CHIP",
    "ExecutedPlan",
    "Flow",
    "Graph",
    "Movement",
    "Node",
    "Part",
    "PartCosts",
    "PlacedPart",
    "Plan",
    "PlanCosts",
    "Read",
    "Resident",
    "applies",
    "execute_plan",
    "movements",
    "overfull_bits",
    "reference",
]
