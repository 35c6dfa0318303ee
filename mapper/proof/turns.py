"""Opens nodes of trees turn by turn, here or in other processes."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from ..mapping import Bools, Floats, Ints, MappingBatch
from ..runtime import TimeUp
from ..search import Recorder, Stop, Task
from ..search.outcome import Coverage, Statistics
from .branch_and_bound import Branching
from .forest import Forest
from .incumbents import BestIncumbent
from .leaves import LeafEvaluator

Beside = Callable[[MappingBatch | None], object]  # called with the best mapping of a turn so far


@dataclass(frozen=True, eq=False)
class OpenNodes:
    """Open nodes, and their bounds."""

    nodes: Ints  # (node, group)
    bounds: Floats  # (node,)
    sizes: Ints  # (node,) combinations, as Python integers where there are many: nodes that get lost are missed

    @classmethod
    def of(cls, branching: Branching) -> "OpenNodes":
        """Return those of a branch and bound."""
        state = branching.state
        return cls(state.nodes, state.bounds, branching.forest.sizes(state.nodes))

    @property
    def number(self) -> int:
        """The number of combinations."""
        return int(self.sizes.sum())

    def take(self, places: Ints | Bools) -> "OpenNodes":
        """Return some of them."""
        return OpenNodes(self.nodes[places], self.bounds[places], self.sizes[places])

    def __len__(self) -> int:
        return len(self.bounds)


@dataclass(frozen=True, eq=False)
class Turn:
    """Some open nodes, how many to open, and what to beat."""

    open: OpenNodes
    most: int  # nodes to open
    incumbent: BestIncumbent


@dataclass(frozen=True, eq=False)
class Searched:
    """What came of a turn."""

    open: OpenNodes  # what is open of the nodes
    closed_coverage: Coverage  # of the combinations that are in no open node any more
    best: MappingBatch | None  # a mapping better than the limit, as a batch of one
    unresolved: float  # the least bound of chains whose best order is uncertain
    statistics: Statistics


@dataclass(frozen=True)
class RemainingEffort:
    """What effort is left for a turn; no limit, where all are None."""

    steps: int | None = None  # when the round began, so that it does not matter in which process a turn is
    ends: float | None = None  # by time.time(), which all processes of a machine share
    seconds: float | None = None  # from the beginning of a turn, on another machine, whose clock may be another

    @property
    def on_another_machine(self) -> "RemainingEffort":
        """The same by seconds from now."""
        return self if self.ends is None else RemainingEffort(self.steps, None, max(0.0, self.ends - time.time()))

    def late(self, statistics: Statistics) -> Callable[[], bool]:
        """Return the test whether effort is used up, for a turn that begins now and counts its steps there."""
        ends = self.ends if self.seconds is None else time.time() + self.seconds

        def late() -> bool:
            return (self.steps is not None and statistics.steps >= self.steps) or (
                ends is not None and time.time() >= ends
            )

        return late


@dataclass(frozen=True, eq=False)
class TreeSearch:
    """What all turns of a choice of kept tensors share: its trees."""

    task: Task
    forest: Forest

    def search(self, turn: Turn, effort: RemainingEffort, beside: Beside = lambda best: None) -> Searched:
        """Open nodes until none is left, the turn is over or effort is used up.

        Calls `beside` between steps with the best mapping so far.
        """
        recorder, incumbent = Recorder(Stop(None)), turn.incumbent.to_beat()
        leaves = LeafEvaluator(self.task, incumbent, recorder, effort.late(recorder.statistics))
        self.forest.incumbents = incumbent
        branching = Branching(self.forest, start=(turn.open.nodes, turn.open.bounds))
        with self._counted(leaves), suppress(TimeUp):
            try:
                while len(branching.state.bounds) and branching.opened < turn.most and not leaves.late():
                    beside(incumbent.best)
                    branching.step(
                        lambda: incumbent.cutoff, lambda rows, bounds: leaves.see(rows, bounds, self.forest.relaxation)
                    )
            except KeyboardInterrupt:  # what the step has found is not lost
                beside(incumbent.best)
                raise
        best, state = None if incumbent.best is None else incumbent.best.own(), branching.state
        return Searched(OpenNodes.of(branching), state.closed_coverage, best, leaves.unresolved, recorder.statistics)

    @contextmanager
    def _counted(self, leaves: LeafEvaluator) -> Iterator[None]:
        """Have all work on the groups' chains count its steps, and raise TimeUp where effort is used up."""

        def check(steps: int) -> None:
            leaves.count(steps)
            if leaves.late():
                raise TimeUp

        groups = self.forest.relaxation.groups
        before = [group.deadline for group in groups]
        try:
            for group in groups:
                group.deadline = check
            yield
        finally:
            for group, deadline in zip(groups, before, strict=True):
                group.deadline = deadline


def search_turns(search: TreeSearch, turns: Sequence[Turn], effort: RemainingEffort) -> list[Searched]:
    """Search some turns one after the other, as the work of a process."""
    return [search.search(turn, effort) for turn in turns]
