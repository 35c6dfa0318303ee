"""The interface of search strategies, and their inputs. mapper/searchers/table.py lists them."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self, runtime_checkable

from ...energy import EnergyTable, as_written, stacked_table
from ...workloads import Fault
from ..mapping import MappingBatch
from ..mapspace import Mapspace
from ..problem import OBJECTIVES, Charges, Effort, Goal, Objective, Problem
from ..runtime import Part
from .options import SearchOptions
from .outcome import Ended, Outcome
from .recorder import Recorder, Stop
from .rounds import Rounds
from .values import Valuation


@dataclass(frozen=True)
class Task:
    """The inputs of a search: the problem, a mapspace of it, options, and mappings to begin with.

    What is minimised is the goal of the problem; the options have the strategy and its stop rules. Those of `start`
    that are no valid mappings of the mapspace are left out. The answer is never worse than the best of the others.
    """

    problem: Problem  # of the machine as it was written; the mapspace may have several levels for one of its memories
    space: Mapspace
    options: SearchOptions
    start: MappingBatch | None = None
    only_start: bool = False  # answer the best of these, and search no further

    @classmethod
    def of(
        cls,
        space: Mapspace,
        table: EnergyTable,
        options: SearchOptions,
        charges: Charges | None = None,
        start: MappingBatch | None = None,
    ) -> Self:
        """Make the task of a mapspace with an energy table of its levels, or of its memories."""
        arch, energies = as_written(space.arch, stacked_table(table, space.arch))
        problem = Problem(arch, space.workload, energies, charges or Charges(), options.goal)
        return cls(problem, space, options, start)

    @cached_property
    def table(self) -> EnergyTable:
        """The energies of the levels of the mapspace."""
        return stacked_table(self.problem.energies, self.space.arch)

    @property
    def charges(self) -> Charges:
        """What is charged beside accesses and MACs."""
        return self.problem.charges

    @property
    def goal(self) -> Goal:
        """What is minimised, and the front that is kept."""
        return self.problem.goal

    @property
    def objective(self) -> Objective:
        """The first objective."""
        return self.goal.minimised[0]

    @property
    def valuation(self) -> Valuation:
        """How mappings are ranked."""
        columns = tuple(OBJECTIVES[name] for name in (*self.goal.objectives, *self.goal.front))
        return Valuation(self.table, self.charges, columns, len(self.goal.objectives))

    def towards(self, **goal: Any) -> Self:
        """Return the same task with another goal: other objectives, another front."""
        return replace(self, problem=replace(self.problem, goal=replace(self.goal, **goal)))


@dataclass(frozen=True)
class Observers:
    """The observers of a search: it calls `progress` after each step; `part` has the state from which it goes on."""

    progress: Callable[[Recorder], None] | None = None
    part: Part | None = None
    # called with each mapping, a batch of one, that a cost model answered, and the value; inf where refused. A search
    # that goes on calls it with those of before, too
    answered: Callable[[MappingBatch, float], None] | None = None


class Strategy(Protocol):
    """A way to search. Its options have been checked by `faults` before it runs."""

    @property
    def proves(self) -> bool:
        """Whether its outcome has a lower bound."""

    @property
    def shares(self) -> bool:
        """Whether several layers may take turns: its state is that of a Recorder, saved after each chunk."""

    @property
    def compiles(self) -> bool:
        """Whether it proposes mappings that a compiled engine can evaluate."""

    @property
    def asks(self) -> Callable[[Task], Rounds] | None:
        """What proposes mappings to a cost model; None: it needs bounds, of which a cost model has none."""

    @property
    def extends(self) -> frozenset[str]:
        """The options that may change where a search goes on."""

    def configured(self, settings: str) -> Self:
        """Return the same with these settings. Raises InputError with every fault of them."""

    def missing(self) -> list[str]:
        """List the packages to install, in the user's words."""

    def faults(self, options: SearchOptions) -> list[Fault]:
        """List the options that do not go with it."""

    def ignored(self, given: Collection[str]) -> list[Fault]:
        """List the options `given` by a user that it would ignore."""

    def stop(self, options: SearchOptions) -> Stop:
        """Return its stop rules."""

    def first_batch(self, task: Task) -> MappingBatch:
        """Return the mappings that it sees first: where none is valid, they show why."""

    def run(self, task: Task, observers: Observers) -> Outcome:
        """Search; Ctrl-C ends it with the best so far. Raises InputError where the task is too large for it, or its
        state cannot be written."""


@runtime_checkable
class UsesExactModel(Protocol):
    """A proposer that evaluates mappings by the exact model, to learn before the search."""

    def informed(self, task: Task) -> Self:
        """Return the same with the task, whose energies and objectives the model needs."""


def is_unfinished(state: Mapping[str, Any], limits: Effort, part: Part) -> bool:
    """Test whether the search of that state is unfinished, given these limits."""
    seen = state["statistics"]
    if not seen["stopped_by"]:
        return True
    if seen["stopped_by"] == Ended.CLOSE and not part.final:
        return bool(state["lower_bound"] < seen["trace"][-1][1] * (1 - limits.gap))
    if part.final or seen["stopped_by"] not in (Ended.TIME_LIMIT, Ended.EFFORT, Ended.TOO_SHORT):
        return False
    if limits.seconds is not None and limits.seconds <= seen["seconds"]:
        return False
    if seen["stopped_by"] == Ended.TIME_LIMIT:
        return True
    more = ((limits.mappings, seen["evaluated"]), (limits.steps, seen.get("steps", 0)))
    return any(limit is None or limit > used for limit, used in more)
