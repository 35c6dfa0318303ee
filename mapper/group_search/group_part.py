"""A group at one slope: its layers, solved one by one, and what their sum says of it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from ..fusion import GroupCosts, Standing, StepLayer
from ..search.outcome import Statistics
from .entries import LeastSum, Open
from .solver import Solved


class NoMappingError(Exception):
    """A layer of a group has no mapping in the room that the group leaves."""


@dataclass(frozen=True, eq=False)
class GroupPart:
    """A group whose layers are solved for energy + `slope` x cycles, or for cycles where it is None."""

    entry: Open
    slope: float | None
    statistics: Statistics  # to which is added what solving takes

    @cached_property
    def standing(self) -> Standing:
        """What stands in the keeper."""
        return Standing(self.entry.group, self.entry.space.family.arch)

    @property
    def numbers(self) -> dict[StepLayer, int]:
        """The layers, each with the number of its steps."""
        return self.standing.layers

    def solved(self, layer: StepLayer, *, root_only: bool) -> Solved:
        """Solve a layer, or bound it as a whole: see Solver.solve. Raises NoMappingError."""
        solver = self.entry.space.solver
        solved = solver.solve(self.standing, layer, self.slope, self.statistics, root_only=root_only)
        if solved is None:
            work = layer.workload(self.entry.group)
            sizes = ", ".join(f"{dim}={size}" for dim, size in zip(work.dims, work.sizes, strict=True))
            raise NoMappingError(f"{work.name} with {sizes} has no mapping in the room that a group leaves")
        return solved

    def costs(self, layers: Mapping[StepLayer, Solved]) -> GroupCosts:
        """Compute the costs of the group with the mappings of these layers."""
        family, mapped = self.entry.space.family, {layer: own.mapped for layer, own in layers.items()}
        return GroupCosts(self.standing, family.energies, family.charges, self.numbers, mapped)

    def summed(self, layers: Mapping[StepLayer, Solved], costs: GroupCosts, *, rough: bool) -> Open:
        """Add to the group what the sum of these layers is not below, in place of a rough one at this slope."""
        beside = costs.beside_cycles if self.slope is None else costs.beside_pj + self.slope * costs.beside_cycles
        least = beside + sum(self.numbers[layer] * own.least for layer, own in layers.items())
        every = tuple((own, self.numbers[layer]) for layer, own in layers.items())
        known = (own for own in self.entry.sums if not (own.rough and own.slope == self.slope))
        return replace(self.entry, sums=(*known, LeastSum(self.slope, least, every, rough)))
