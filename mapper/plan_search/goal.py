"""What is wanted of a plan, and what came of its search."""

from dataclasses import dataclass

from ..bounds.sums import Envelope, Limits
from ..networks import PlanCosts
from ..problem import Objective, Point
from ..search.outcome import Statistics


@dataclass(frozen=True)
class PlanGoal:
    """What is wanted of a plan."""

    objective: Objective
    limits: Limits = Limits()
    front: bool = False  # whether plans are searched along the whole front of energy and cycles, too

    def order(self, costs: PlanCosts) -> tuple[float, float, float]:
        """What is less for a better plan: how far it is beyond the limits, as a factor; the objective; the EDP."""
        cycles, energy_pj = float(costs.cycles), costs.energy_pj
        return self.limits.beyond(cycles, energy_pj), self.objective.value(energy_pj, cycles), energy_pj * cycles


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
    part_gaps: tuple[float | None, ...]  # by how much less each part may cost (part_gaps.py)
    envelope: Envelope  # of energy and cycles of all plans
    front: tuple[Point, ...]  # cycles and energies of known plans that no other known beats, where these are wanted
