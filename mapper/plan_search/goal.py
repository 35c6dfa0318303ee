"""What is wanted of a plan, and what came of its search."""

from dataclasses import dataclass

from ..bounds.sums import Envelope, Limits
from ..networks import PlanCosts
from ..problem import ROUNDING, Objective, Point
from ..search.outcome import Statistics


@dataclass(frozen=True)
class PlanGoal:
    """What is wanted of a plan."""

    objective: Objective
    limits: Limits = Limits()
    front: bool = False  # whether plans are searched along the whole front of energy and cycles, too

    def better(self, costs: PlanCosts, other: PlanCosts) -> bool:
        """Whether a plan is less beyond the limits than another, or as much, with a lower objective.

        Of plans with equal objectives the one with the lower EDP is, then the faster one, then that of less energy.
        """
        beyond, other_beyond = (self.limits.beyond(own.cycles, own.energy_pj) for own in (costs, other))
        if beyond != other_beyond:
            return beyond < other_beyond
        value, other_value = (self.objective.value(own.energy_pj, float(own.cycles)) for own in (costs, other))
        if abs(value - other_value) > ROUNDING * other_value:
            return value < other_value
        return _figures(costs) < _figures(other)


def _figures(costs: PlanCosts) -> tuple[float, float, float]:
    return costs.energy_pj * costs.cycles, float(costs.cycles), costs.energy_pj


@dataclass(frozen=True, eq=False)
class PlanOutcome:
    """The result of a search of plans."""

    best: PlanCosts  # where no plan is known within the limits, the one that is least beyond them
    lower_bound: float  # no plan within the limits is below, of those that were tried, by the objective; inf: none is
    statistics: Statistics
    searched: int  # prices of parts that were bounded or searched
    most_held: int | None  # tensors in the memory between parts; None: as many as there was room for
    in_turn: bool  # whether only parts in the order of the network were tried
    groups: bool  # whether fused groups were among the parts: of these some shared dims and tiles alone
    part_gaps: tuple[float | None, ...]  # by how much less the plan may cost with another choice for each
    envelope: Envelope  # of energy and cycles of all plans
    front: tuple[Point, ...]  # cycles and energies of known plans that no other known beats, where these are wanted
