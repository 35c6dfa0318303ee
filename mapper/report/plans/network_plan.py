"""The result of a search of plans: the best plan of a network, beside its layers one by one."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

from ....arch import Storage
from ...bounds.sums import Envelope, Limits
from ...networks import PartCosts, PlacedPart, PlanCosts
from ...problem import ROUNDING, Objective, Point
from ...search.outcome import Statistics


@dataclass(frozen=True)
class Decision:
    """A part of a plan, and what its layers and operations cost one by one."""

    placed: PlacedPart
    count: int
    costs: PartCosts  # once
    alone: tuple[PartCosts, ...]  # once: of its layers and operations one by one
    saved: float  # by all its occurrences, as a share of the objective of the layers one by one
    gap: float | None  # by how much less, as a share, the plan may cost with another choice for it; None: not known

    @property
    def alone_pj(self) -> float:
        """The energy of its layers and operations one by one, once."""
        return sum(part.energy_pj for part in self.alone)

    @property
    def alone_cycles(self) -> int:
        """The cycles of its layers and operations one by one, once."""
        return sum(part.cycles for part in self.alone)


@dataclass(frozen=True, eq=False)
class NetworkPlan:
    """The best plan that was found, what no plan is below, and the layers one by one."""

    costs: PlanCosts
    alone: PlanCosts  # the plan of layers one by one, operations among them
    objective: Objective
    lower_bound: float
    statistics: Statistics
    searched: int  # prices of parts that were bounded or searched
    most_held: int | None  # tensors in the memory between parts, at most; None: as many as there was room for
    in_turn: bool  # whether only parts in the order of the network were tried
    groups: bool  # whether fused groups were among the parts: of these some shared dims and tiles alone
    part_gaps: tuple[float | None, ...]  # by how much less the plan may cost with another choice for each, as shares
    limits: Limits  # that were given
    envelope: Envelope  # of energy and cycles of all plans
    front: tuple[Point, ...]  # cycles and energies of known plans that no other beats, where a front is wanted

    @property
    def keeper(self) -> Storage:
        """The memory in which tensors stay."""
        arch = self.costs.parts[0].arch
        return arch.levels[arch.number_of(self.costs.plan.keeper)]

    @property
    def value(self) -> float:
        """The objective of the plan."""
        return self.objective.value(self.costs.energy_pj, float(self.costs.cycles))

    @property
    def gap(self) -> float:
        """The share of the objective by which some plan within the limits may be lower."""
        return max(0.0, 1 - self.lower_bound / self.value) if self.value else 0.0

    @property
    def optimal(self) -> bool:
        """Whether it is proven that no plan within the limits is lower."""
        return self.within and self.gap <= ROUNDING

    @property
    def beyond(self) -> float:
        """How far cycles and energy are beyond the limits, as a factor; 1: they are within."""
        return self.limits.beyond(self.costs.cycles, self.costs.energy_pj)

    @property
    def within(self) -> bool:
        """Whether the plan is within the limits."""
        return self.limits.kept(self.costs.cycles, self.costs.energy_pj)

    @property
    def impossible(self) -> bool:
        """Whether it is proven that no plan is within the limits."""
        return self.lower_bound == inf

    @property
    def front_gap(self) -> float:
        """The largest share by which a plan may be below all of the front, in energy and in cycles."""
        return self.envelope.gap(self.front)

    @property
    def saved(self) -> float:
        """The share of the objective of the layers one by one that the plan saves."""
        before = self.objective.value(self.alone.energy_pj, float(self.alone.cycles))
        return 1 - self.value / before if before else 0.0

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        """The parts in turn, each with what it saves; the shares add up to what the plan saves."""
        decisions, (of_pj, of_cycles) = [], self._weights
        alone = {name: number for number, part in enumerate(self.alone.plan.parts) for name in part.names}
        for number, (own, count) in enumerate(zip(self.costs.parts, self.costs.counts, strict=True)):
            placed = self.costs.plan.placed(number)
            numbers = dict.fromkeys(alone[name] for name in placed.part.names if self._begins(alone, name))
            before = tuple(self.alone.parts[i] for i in numbers)
            pj, cycles = sum(part.energy_pj for part in before), sum(part.cycles for part in before)
            saved = count * (of_pj * (pj - own.energy_pj) + of_cycles * (cycles - own.cycles))
            decisions.append(Decision(placed, count, own, before, saved, self.part_gaps[number]))
        return tuple(decisions)

    @property
    def counted(self) -> bool:
        """Whether energies are known."""
        return self.costs.parts[0].energies.counted

    @property
    def components(self) -> tuple[str, ...]:
        """What energies are told apart by: the levels, the outermost first, the MACs, and what else is charged."""
        return tuple(dict.fromkeys([*self.costs.component_pj, *self.alone.component_pj]))

    @property
    def _weights(self) -> tuple[float, float]:
        """The shares of the objective, one by one, that a pJ and a cycle less save.

        Of the product E C it is E C - e c = (E - e) (C + c) / 2 + (C - c) (E + e) / 2.
        """
        by_energy, by_cycles = self.objective.powers
        energy, cycles = self.alone.energy_pj, float(self.alone.cycles)
        of_pj, of_cycles = (cycles + self.costs.cycles) / 2, (energy + self.costs.energy_pj) / 2
        if not (by_energy and by_cycles):
            of_pj, of_cycles = float(by_energy), float(by_cycles)
        whole = self.objective.value(energy, cycles)
        return (of_pj / whole, of_cycles / whole) if whole else (0.0, 0.0)

    def _begins(self, alone: dict[str, int], name: str) -> bool:
        """Whether a part one by one begins with a node: each counts for the part that has this node."""
        return self.alone.plan.parts[alone[name]].names[0] == name


def shown_shared(placed: PlacedPart) -> Sequence[tuple[str, int]]:
    """The shared loops of a part, with their tiles, the outermost first."""
    return placed.part.group.shared if placed.part.group is not None else ()
