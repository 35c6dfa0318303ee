"""A single mapping with its exact costs: what results, fronts and networks hold of it."""

from dataclasses import dataclass, replace
from typing import Self

from ....energy import stacked_table
from ...mapping import MappingBatch, Numbers
from ...problem import OBJECTIVES, Problem
from ..cost import Costs, evaluate
from ..exactness import exactly
from ..recount import recount
from ..sanity import check_physical
from .by_memory import by_memory


@dataclass(frozen=True, eq=False)
class Mapped:
    """A mapping, as a batch of one, with its exact costs by memory."""

    batch: MappingBatch
    costs: Costs

    @classmethod
    def of(cls, problem: Problem, batch: MappingBatch) -> Self:
        """Count and cost the single mapping of `batch` exactly. Raises InternalError where the figures are impossible.

        Its machine is that of the problem, or has several levels for a memory of it.
        """
        batch = exactly(batch)
        costs = evaluate(batch, stacked_table(problem.energies, batch.arch), problem.charges, recount(batch))
        check_physical(batch, costs)
        return cls(batch, by_memory(costs, batch.arch))

    def own(self) -> Self:
        """Return the same with a batch that has only its own chains, not all of a mapspace."""
        return replace(self, batch=self.batch.own())

    def named(self, name: str) -> Self:
        """Return the same of an equal layer of another name."""
        return replace(self, batch=replace(self.batch, workload=replace(self.batch.workload, name=name)))

    def value(self, objective: str) -> float:
        """Its value by an objective: pJ, cycles or pJ * cycles."""
        return _number(OBJECTIVES[objective].of(self.costs))

    @property
    def cycles(self) -> float:
        """Its cycles, bandwidths counted; a whole number."""
        return _number(self.costs.cycles)

    @property
    def energy_pj(self) -> float:
        return _number(self.costs.energy_pj)

    @property
    def edp(self) -> float:
        """Its energy-delay product, in pJ * cycles."""
        return _number(self.costs.edp)


def _number(column: Numbers) -> float:
    """The only number of a column; cycles stay whole."""
    (number,) = column.tolist()
    return number  # type: ignore[no-any-return]
