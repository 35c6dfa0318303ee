"""Plans of networks: as text, as JSON, and as tables."""

from .network_plan import Decision, NetworkPlan
from .plan_json import part_json, plan_json, resident_json
from .plan_table import front_file, levels_file, levels_table, plan_file, plan_table, tiles_text
from .plan_text import (
    PARTLY_TRIED,
    front_text,
    limits_text,
    part_name,
    plan_parts,
    proof_text,
    resident_names,
    room_text,
    widest_gaps,
)

__all__ = [
    "PARTLY_TRIED",
    "Decision",
    "NetworkPlan",
    "front_file",
    "front_text",
    "levels_file",
    "levels_table",
    "limits_text",
    "part_json",
    "part_name",
    "plan_file",
    "plan_json",
    "plan_parts",
    "plan_table",
    "proof_text",
    "resident_json",
    "resident_names",
    "room_text",
    "tiles_text",
    "widest_gaps",
]
