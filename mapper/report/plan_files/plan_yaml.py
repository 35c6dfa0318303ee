"""A plan of a network with its mappings as the text of a plan file, which `ruby-model` reads."""

from ...fusion import STAGE
from ...networks import PartCosts, PlacedPart, PlanCosts
from ...problem import Json
from ..groups import values_yaml, written_stages
from ..plans import resident_json


def plan_yaml(costs: PlanCosts) -> str:
    """Write the parts in their order, each with the mappings of its layers, and the tensors that stay."""
    plan = costs.plan
    parts = [_part(plan.placed(number), own) for number, own in enumerate(costs.parts)]
    return values_yaml({"keeper": plan.keeper, "parts": parts, "resident": resident_json(plan)})


def _part(placed: PlacedPart, costs: PartCosts) -> Json:
    values: Json = {}
    part, group = placed.part, placed.part.group
    if group is not None and costs.layers is not None:
        life = {name: own for name, own in group.life.items() if own != STAGE}
        loops = [[dim, tile] for dim, tile in group.shared]
        more = {"shared": loops, "halo": group.halo, "life": life}
        values["group"] = {"stages": list(part.layers)} | {key: own for key, own in more.items() if own}
        values["stages"] = written_stages(costs.layers)
    values |= {"between": list(part.between)} if part.between else {}
    return values | ({"operations": list(part.operations)} if part.operations else {})
