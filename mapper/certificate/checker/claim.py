"""The claim of a certificate about a layer: no mapping has a lower objective, or lies below the front."""

from dataclasses import dataclass

import numpy as np

from ...mapping import Bools, Floats
from ...problem import Objective
from ..format import TOLERANCE
from .bounds import SLACK


@dataclass(frozen=True)
class ObjectiveLimit:
    """The most that an objective of the mappings that a claim is about may be."""

    objective: Objective
    most: float

    @classmethod
    def equal_to(cls, objective: Objective, value: float) -> "ObjectiveLimit":
        """Allow what equals `value`: whole numbers exactly, others up to the tolerance."""
        return cls(objective, value if objective.whole else value * (1 + TOLERANCE))

    def exceeded(self, energy_pj: Floats, cycles: Floats) -> Bools:
        """Test whether mappings that cost at least this much are above it. # (set,)"""
        by_energy, by_cycles = self.objective.powers
        above: Bools = energy_pj**by_energy * cycles**by_cycles > self.most * (1 + SLACK)
        return above


@dataclass(frozen=True, eq=False)
class Claim:
    """A lower bound of an objective, perhaps of the mappings within limits alone; or the points of a front, with lower
    bounds of the mappings not yet ruled out."""

    powers: tuple[int, int] | None  # of energy and cycles in the objective; None: a front
    lower_bound: float
    points: tuple[tuple[float, float], ...] = ()  # of a front: (cycles, pJ) on it, and below the open mappings
    limits: tuple[ObjectiveLimit, ...] = ()  # of the mappings that the claim is about

    @property
    def least(self) -> float:
        """The value that a bound has to reach."""
        return self.lower_bound * (1 - TOLERANCE) * (1 - SLACK)

    @property
    def empty(self) -> bool:
        """Whether the claim is trivial: no energy and no number of cycles is below 0."""
        return self.powers is not None and self.lower_bound <= 0

    def settled(self, energy_pj: Floats, cycles: Floats) -> Bools:
        """Test whether mappings that cost at least this much are no better than claimed, or above a limit. # (set,)"""
        settled: Bools = np.isinf(energy_pj)
        for limit in self.limits:
            settled = settled | limit.exceeded(energy_pj, cycles)
        if self.powers is not None:
            by_energy, by_cycles = self.powers
            value = energy_pj**by_energy * cycles**by_cycles
            return settled | (value >= self.least)
        slack = (1 - TOLERANCE) * (1 - SLACK)
        for most_cycles, most_pj in self.points:
            settled = settled | (cycles >= most_cycles * slack) & (energy_pj >= most_pj * slack)
        return settled
