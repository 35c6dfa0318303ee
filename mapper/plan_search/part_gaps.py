"""How far each part of a plan is from what is proven of it: where a search that goes on may find more."""

from collections.abc import Sequence
from dataclasses import replace

from ..networks import PlanCosts
from .goal import PlanGoal
from .search import PlanSearch
from .states import nameless


def part_gaps(search: PlanSearch, plan: PlanCosts, goal: PlanGoal, slopes: Sequence[float]) -> tuple[float | None, ...]:
    """Bound by how much less the plan may cost with another choice for one part, in the same place of the same plan.

    As shares of the objective of the plan, each part alone, within the limits; from what is proven of the part at these
    ascending positive slopes. None where nothing was asked about a part, or the plan is beyond the limits.
    """
    if not goal.limits.kept(plan.cycles, plan.energy_pj):
        return (None,) * len(plan.parts)
    value = goal.objective.value(plan.energy_pj, float(plan.cycles))
    if not value:
        return (0.0,) * len(plan.parts)
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
        beside = plan.cycles - count * part.layers.cycles, plan.energy_pj - count * part.layers.energy_pj
        proven = price.floor.envelope(slopes, count, beside)
        gaps.append(max(0.0, 1 - proven.least(goal.objective, goal.limits).value / value))
    return tuple(gaps)
