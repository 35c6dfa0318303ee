"""Plans of networks as values of JSON."""

from math import inf
from typing import Any

from ...fusion import CostItem
from ...networks import PartCosts, PlacedPart, Plan, PlanCosts
from ...problem import Json
from .network_plan import NetworkPlan, shown_shared


def plan_json(plan: NetworkPlan) -> Json:
    """Write the keys that a plan adds to the object of a network."""
    own = plan.costs.plan
    return {
        "plan": {
            "keeper": own.keeper,
            "groups": [
                part_json(decision.placed, decision.count, decision.costs)
                | {
                    "alone": {"energy_pj": decision.alone_pj, "cycles": decision.alone_cycles},
                    "saved": decision.saved,
                    "gap": decision.gap,
                }
                for decision in plan.decisions
            ],
            "resident": resident_json(own),
            "order": [name for part in own.parts for name in part.names],
            "component_pj": plan.costs.component_pj,
            "limits": {"cycles": _known(plan.limits.cycles), "energy_pj": _known(plan.limits.energy_pj)},
            "within": plan.within,
            "impossible": plan.impossible,
            "front": [[cycles, energy_pj] for cycles, energy_pj in plan.front],
            "below": [[cycles, energy_pj] for cycles, energy_pj in plan.envelope.distinct_corners()],
            "most_held": plan.most_held,
            "in_turn": plan.in_turn,
            "groups_tried": plan.groups,
            "searched": plan.searched,
            "seconds": plan.statistics.seconds,
            "ended_by": plan.statistics.stopped_by or None,
        },
        "layer_by_layer": _totals(plan.alone),
        "saved": plan.saved,
    }


def part_json(placed: PlacedPart, count: int, costs: PartCosts) -> Json:
    """Write a part, with its figures of one execution."""
    part = placed.part
    return {
        "layers": list(part.layers),
        "operations": [*part.between, *part.operations],
        "count": count,
        "shared": [[dim, tile] for dim, tile in shown_shared(placed)],
        "halo": {} if part.group is None else part.group.halo,
        "held": sorted(placed.held),
        "held_bits": placed.room_bits(costs.arch),
        "energy_pj": costs.energy_pj,
        "cycles": costs.cycles,
        "costs": [_item(item) for item in costs.items],
    }


def resident_json(plan: Plan) -> list[Json]:
    """Write the tensors that stay between parts."""
    return [{"tensor": stays.tensor, "until": stays.until, "copied": stays.copied} for stays in plan.residents]


def _totals(costs: PlanCosts) -> dict[str, Any]:
    components = {"component_pj": costs.component_pj}
    return {"edp": costs.edp, "energy_pj": costs.energy_pj, "cycles": costs.cycles, **components}


def _known(limit: float) -> float | None:
    return limit if limit < inf else None


def _item(item: CostItem) -> dict[str, Any]:
    energy = {"energy_pj": item.energy_pj, "component_pj": dict(item.energies_pj)}
    return {"kind": str(item.kind), "name": item.name, "cycles": item.cycles, **energy}
