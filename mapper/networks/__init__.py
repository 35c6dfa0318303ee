"""Plans of networks: parts in an order, and tensors that stay in one memory; executed, counted and costed."""

from .costs import PartCosts, PlanCosts, overfull_bits
from .execute import COPY, INSIDE, OFF_CHIP, ExecutedPlan, execute_plan, reference
from .graph import Graph, Node, Read
from .movements import Flow, Movement, movements
from .pipeline import Cores, Pipeline, Stage, why_no_chain
from .plan import Part, PlacedPart, Plan, PlanFault, Resident, applies
from .plan_file import MappedPlan, NetworkPlanFile, is_network_plan, read_network_plan

__all__ = [
    "COPY",
    "Cores",
    "INSIDE",
    "OFF_CHIP",
    "ExecutedPlan",
    "Flow",
    "Graph",
    "MappedPlan",
    "Movement",
    "NetworkPlanFile",
    "Node",
    "Part",
    "PartCosts",
    "Pipeline",
    "PlacedPart",
    "Plan",
    "PlanCosts",
    "PlanFault",
    "Read",
    "Resident",
    "Stage",
    "applies",
    "execute_plan",
    "is_network_plan",
    "movements",
    "overfull_bits",
    "read_network_plan",
    "reference",
    "why_no_chain",
]
