"""What a result says by name of its problem and of the search that it comes from."""

from dataclasses import dataclass, field

from ...arch import Architecture
from ...energy import EnergyTable
from ...workloads import Workload
from ..mapping import MappingBatch
from ..model import Costs
from ..model.figures import Mapped
from ..problem import Problem
from ..search.outcome import Ended, Statistics


@dataclass(frozen=True)
class Searched:
    """How a mapping was searched for; what is None has no part in how it was found."""

    statistics: Statistics = field(default_factory=Statistics)
    mapspace: str | None = None
    strategy: str | None = None
    seed: int | None = None
    remainders: tuple[str, ...] = ()  # the slots that may have them in this mapspace
    reason: str = ""  # why these slots


class ProblemResult:
    """A problem with a mapping, or without one, and the search that it comes from: their values by name."""

    problem: Problem
    mapped: Mapped | None
    search: Searched | None

    @property
    def batch(self) -> MappingBatch | None:
        """The mapping, as a batch of one; None where none was found."""
        return None if self.mapped is None else self.mapped.batch

    @property
    def costs(self) -> Costs | None:
        """The costs of the mapping, by memory; None where none was found."""
        return None if self.mapped is None else self.mapped.costs

    @property
    def found(self) -> bool:
        """Whether there is a valid mapping."""
        return self.mapped is not None

    @property
    def arch(self) -> Architecture:
        """The machine as it was written."""
        return self.problem.arch

    @property
    def workload(self) -> Workload:
        """The layer."""
        return self.problem.workload

    @property
    def table(self) -> EnergyTable:
        """The energies of the machine."""
        return self.problem.energies

    @property
    def objective(self) -> str | None:
        """What was minimised, as options have it; None for a mapping that was evaluated, not searched for."""
        return None if self.search is None else self.problem.goal.text

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of the front; none where none was asked for, or there is no mapping."""
        return self.problem.goal.front if self.mapped else ()

    @property
    def statistics(self) -> Statistics:
        """The counts and the time of the search, and why it ended."""
        return Statistics() if self.search is None else self.search.statistics

    @property
    def mapspace(self) -> str | None:
        """The mapspace that was searched."""
        return None if self.search is None else self.search.mapspace

    @property
    def strategy(self) -> str | None:
        """The strategy of the search."""
        return None if self.search is None else self.search.strategy

    @property
    def seed(self) -> int | None:
        """The seed of the search."""
        return None if self.search is None else self.search.seed

    @property
    def remainders(self) -> tuple[str, ...]:
        """The slots that may have remainders in the mapspace."""
        return () if self.search is None else self.search.remainders

    @property
    def reason(self) -> str:
        """Why these slots may have remainders."""
        return "" if self.search is None else self.search.reason

    @property
    def unsearched(self) -> bool:
        """Whether a budget of seconds was used up before the search."""
        return Ended.NO_TIME in self.statistics.ended
