"""Plans of networks: as text and as JSON."""

from .network_plan import Decision, NetworkPlan
from .plan_json import plan_json
from .plan_text import plan_parts

__all__ = ["Decision", "NetworkPlan", "plan_json", "plan_parts"]
