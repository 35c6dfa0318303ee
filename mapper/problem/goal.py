"""What a search is to minimise."""

from dataclasses import dataclass

from .objectives import OBJECTIVES, Objective

EXACT = "exact"  # the counts of docs/model.md; else the command of a cost model
COST_MODEL = "cost_model"  # the objective of a search by the answers of a cost model


@dataclass(frozen=True)
class Goal:
    """Objectives of ours, or the answers of a cost model of a user; and the front of objectives to keep.

    With a cost model the objectives are those by which our own model proposes and ranks what it is asked about.
    """

    objectives: tuple[str, ...] = ("edp",)  # the first; among equals the second, and so on
    front: tuple[str, ...] = ()  # the axes of a Pareto front; empty: none is kept
    model: str = EXACT

    @property
    def answered(self) -> bool:
        """Whether values are the answers of a cost model."""
        return self.model != EXACT

    @property
    def text(self) -> str:
        """What is minimised, as options and files have it: delay,energy."""
        return COST_MODEL if self.answered else ",".join(self.objectives)

    @property
    def minimised(self) -> tuple[Objective, ...]:
        """The objectives, in turn."""
        return tuple(OBJECTIVES[name] for name in self.objectives)

    def values(self, energy_pj: float, cycles: int) -> tuple[float, ...]:
        """Compute the objectives of a mapping, in turn."""
        every = {(1, 1): energy_pj * cycles, (1, 0): energy_pj, (0, 1): cycles}
        return tuple(float(every[objective.powers]) for objective in self.minimised)
