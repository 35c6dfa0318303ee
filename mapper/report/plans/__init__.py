"""Plans of networks: as text, as JSON, and as tables."""

from .network_plan import Decision, NetworkPlan
from .plan_json import plan_json
from .plan_table import HEAD, plan_rows, tiles_text
from .plan_text import plan_parts, proof_text

__all__ = [
    "HEAD",
    "Decision",
    "NetworkPlan",
    "plan_json",
    "plan_parts",
    "plan_rows",
    "proof_text",
    "tiles_text",
]
