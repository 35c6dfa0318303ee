"""How far each part of a plan is from what is proven of it: where a search that goes on may find more."""

from dataclasses import replace
from math import isclose

from ..bounds.sums import Envelope
from ..networks import PlanCosts
from .goal import PlanGoal
from .prices import Slope, weighted
from .search import PlanSearch
from .states import nameless

NEAR = 1e-8  # relative: a point of the edge this close to a limit is at it


def part_gaps(search: PlanSearch, plan: PlanCosts, goal: PlanGoal, envelope: Envelope) -> tuple[float | None, ...]:
    """Bound by how much less each part may cost, in the same place of the same plan.

    As shares of the objective of the plan, all executions, to first order: of energy + slope x cycles at the slope that
    the plan has, or that what is proven has where a limit cuts it. None where nothing was asked about a part, or the
    plan is beyond the limits.
    """
    if not goal.limits.kept(plan.cycles, plan.energy_pj):
        return (None,) * len(plan.parts)
    if not goal.objective.value(plan.energy_pj, float(plan.cycles)):
        return (0.0,) * len(plan.parts)
    slope, whole = _weights(plan, goal, envelope)
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


def _weights(plan: PlanCosts, goal: PlanGoal, envelope: Envelope) -> tuple[Slope, float]:
    """What a cycle is worth to the plan, and the sum that a share is of."""
    limits, (by_energy, by_cycles) = goal.limits, goal.objective.powers
    cycles, energy_pj = envelope.least(goal.objective, limits).point or (0.0, 0.0)
    if by_energy and isclose(cycles, limits.cycles, rel_tol=NEAR):
        return envelope.slope_at_cycles(limits.cycles), plan.energy_pj
    if by_cycles and isclose(energy_pj, limits.energy_pj, rel_tol=NEAR):
        at_limit = envelope.slope_at_energy(limits.energy_pj)
        if at_limit:
            return at_limit, at_limit * plan.cycles
    slope = goal.objective.slope_at(plan.energy_pj, float(plan.cycles))
    return slope, float(plan.cycles) if slope is None else plan.energy_pj
