"""How far each part of a plan is from what is proven of it: where a search that goes on may find more."""

from dataclasses import replace

from ..networks import PlanCosts
from ..problem import Objective
from .prices import weighted
from .search import PlanSearch
from .states import nameless


def part_gaps(search: PlanSearch, plan: PlanCosts, objective: Objective) -> tuple[float | None, ...]:
    """Bound by how much less each part may cost, in the same place of the same plan.

    As shares of the objective of the plan, all executions, to first order: of energy + slope x cycles at the slope that
    the plan has. None where nothing was asked about a part.
    """
    if not objective.value(plan.energy_pj, float(plan.cycles)):
        return (0.0,) * len(plan.parts)
    slope = objective.slope_at(plan.energy_pj, float(plan.cycles))
    whole = float(plan.cycles) if slope is None else plan.energy_pj
    gaps = list[float | None]()
    for number, (part, count) in enumerate(zip(plan.parts, plan.counts, strict=True)):
        if part.layers is None:  # words that move: there is no choice
            gaps.append(0.0)
            continue
        group = plan.plan.placed(number).group(part.arch)
        price = search.prices.every.get(nameless(replace(group, shared=(), retained=frozenset(), kept=())))
        if price is None:
            gaps.append(None)
            continue
        value = weighted((float(part.layers.cycles), part.layers.energy_pj), slope)
        gaps.append(count * max(0.0, value - price.floor.least(slope)) / whole)
    return tuple(gaps)
