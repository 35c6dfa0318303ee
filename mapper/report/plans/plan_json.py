"""Plans of networks as values of JSON."""

from typing import Any

from ...networks import PlanCosts
from ...problem import Json
from .network_plan import NetworkPlan, shown_shared


def plan_json(plan: NetworkPlan) -> Json:
    """Write the keys that a plan adds to the object of a network."""
    own = plan.costs.plan
    return {
        "plan": {
            "keeper": own.keeper,
            "groups": [
                {
                    "layers": list(decision.placed.part.layers),
                    "operations": [*decision.placed.part.between, *decision.placed.part.operations],
                    "count": decision.count,
                    "shared": [[dim, tile] for dim, tile in shown_shared(decision.placed)],
                    "halo": {} if decision.placed.part.group is None else decision.placed.part.group.halo,
                    "held": sorted(decision.placed.held),
                    "held_bits": decision.placed.room_bits(decision.costs.arch),
                    "energy_pj": decision.costs.energy_pj,
                    "cycles": decision.costs.cycles,
                    "alone": {"energy_pj": decision.alone_pj, "cycles": decision.alone_cycles},
                    "saved": decision.saved,
                }
                for decision in plan.decisions
            ],
            "resident": [
                {"tensor": stays.tensor, "until": stays.until, "copied": stays.copied} for stays in own.residents
            ],
            "order": [name for part in own.parts for name in part.names],
            "most_held": plan.most_held,
            "searched": plan.searched,
            "seconds": plan.statistics.seconds,
            "ended_by": plan.statistics.stopped_by or None,
        },
        "layer_by_layer": _totals(plan.alone),
        "saved": plan.saved,
    }


def _totals(costs: PlanCosts) -> dict[str, Any]:
    return {"edp": costs.edp, "energy_pj": costs.energy_pj, "cycles": costs.cycles}
