"""The mapspaces that populations of a search go through, with the tables that each needs."""

from dataclasses import dataclass, field
from functools import cached_property

from ...mapspace import sub_mapspace
from ..pruning import Pruning
from ..strategy import Task
from ..variation import MappingSampler


@dataclass(frozen=True, eq=False)
class PopulationSpaces:
    """The inputs of all populations of a search, made once in each process."""

    task: Task
    _prunings: dict[tuple[str, ...], Pruning] = field(default_factory=dict)

    @cached_property
    def spaces(self) -> list[MappingSampler]:
        """The mapspaces, each inside the next; the last is the task's.

        A population of ruby or ruby-t starts in the mapspace with fewer remainders inside it, whose optimum is mostly
        within a few percent: so it is hardly ever worse. One of uneven placement starts in that of even placement.
        """
        inside = sub_mapspace(self.task.space)
        every = [self.task.space] if inside is None else [inside, self.task.space]
        return [MappingSampler(space) for space in every]

    def pruning(self, aims: tuple[str, ...]) -> Pruning:
        """Return the bounds that rule children out before they are counted."""
        if aims not in self._prunings:
            task = self.task
            self._prunings[aims] = Pruning(task.space, task.table, aims, task.goal.front, task.charges)
        return self._prunings[aims]
