"""What a search strategy is, and what it is given. registry.py lists them."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from ...energy import EnergyTable
from ...workloads import Fault
from ..mapping import MappingBatch
from ..mapspace import Mapspace
from ..model import CostOptions
from ..runtime import Part
from .options import SearchOptions
from .outcome import Outcome
from .recorder import Recorder, Stop


@dataclass(frozen=True)
class Task:
    """What is searched, for what, and how."""

    space: Mapspace
    table: EnergyTable
    options: SearchOptions
    costs: CostOptions = CostOptions()


@dataclass(frozen=True)
class Watch:
    """Who follows a search: `progress` is called after each step, `part` holds the state from which it goes on."""

    progress: Callable[[Recorder], None] | None = None
    part: Part | None = None


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
    def extends(self) -> frozenset[str]:
        """The options that may have other values where a search goes on."""

    def faults(self, options: SearchOptions) -> list[Fault]:
        """The options that do not go with it."""

    def ignored(self, given: Collection[str]) -> list[Fault]:
        """The options of those `given` by a user that it would ignore."""

    def stop(self, options: SearchOptions) -> Stop:
        """When it ends."""

    def first_batch(self, task: Task) -> MappingBatch:
        """Mappings that it looks at first: where none is valid, they show why."""

    def run(self, task: Task, watch: Watch) -> Outcome:
        """Search. Ctrl-C ends it with the best so far. Raises InputError where the task is too large for it, or its
        state cannot be written."""
