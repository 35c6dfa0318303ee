"""Plans of networks: as text, as JSON, and as tables."""

from .network_plan import Decision, NetworkPlan
from .plan_json import part_json, plan_json, resident_json
from .plan_table import HEAD, plan_rows, tiles_text
from .plan_text import part_name, plan_parts, proof_text, resident_names, room_text

__all__ = [
    "HEAD",
    "Decision",
    "NetworkPlan",
    "part_json",
    "part_name",
    "plan_json",
    "plan_parts",
    "plan_rows",
    "proof_text",
    "resident_json",
    "resident_names",
    "room_text",
    "tiles_text",
]
