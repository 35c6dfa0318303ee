"""Searches the parts of a set of combinations of chains turn by turn, here or in other processes."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, override

import numpy as np

from ..bounds import Geometric
from ..mapping import Bools, Floats, Ints, MappingBatch
from ..runtime import Deadline, TimeUp
from ..search import Recorder, Stop, Task
from ..search.outcome import Coverage, Statistics
from .branch_and_bound import Branching
from .chain_tree import NODE_STEPS, Tree
from .forest import SAFE, Forest
from .incumbents import BestIncumbent, Incumbents
from .leaves import LeafEvaluator
from .parts import MOST_PATIENCE, Part, divided

FORESTS = 2**17  # rows of the trees that a process keeps for its next turns, besides those of the whole

Beside = Callable[[MappingBatch | None], object]  # called with the best mapping of a turn so far


@dataclass(frozen=True, eq=False)
class OpenNodes:
    """Open nodes of a part, and their bounds."""

    nodes: Ints  # (node, group)
    bounds: Floats  # (node,)
    sizes: Ints  # (node,) combinations, as Python integers where there are many: nodes that get lost are missed

    @classmethod
    def root(cls, part: Part) -> "OpenNodes":
        """Return the node that has all of a part."""
        kind, number = np.int64 if part.remaining.number < SAFE else object, len(part.remaining.rows)
        return cls(np.zeros((1, number), np.int64), np.array([part.least]), np.array([part.remaining.number], kind))

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
    """Some open nodes of a part to open, or, with none, a part to divide; and what to beat."""

    part: Part
    open: OpenNodes | None
    most: int  # nodes to open
    incumbent: BestIncumbent


@dataclass(frozen=True, eq=False)
class Searched:
    """What came of a turn."""

    open: OpenNodes | None  # what is open of the nodes
    opened: int  # nodes
    closed_coverage: Coverage  # of the combinations that are in no open node any more, or in none of the parts
    parts: tuple[Part, ...] | None  # that the part is divided into; None: it is not
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
class PartSearch:
    """What the searches of all parts of a choice of kept tensors share."""

    task: Task
    geometric: Geometric
    weights: list[list[float]]  # of columns, for trees
    whole: list[Tree]  # of the part with the number 0
    _forests: dict[int, Forest] = field(default_factory=dict)  # of the parts of the last turns, by number

    @override
    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs: not what is kept for speed."""
        return vars(self) | {"_forests": {}}

    def search(self, turn: Turn, effort: RemainingEffort, beside: Beside = lambda best: None) -> Searched:
        """Open nodes until none is left, the turn is over or effort is used up; or divide the part.

        Calls `beside` between steps with the best mapping so far.
        """
        recorder, incumbent = Recorder(Stop(None)), turn.incumbent.to_beat()
        late = effort.late(recorder.statistics)
        leaves = LeafEvaluator(self.task, incumbent, recorder, late)
        still, opened, gone, parts = turn.open, 0, Coverage(), None
        with self._counted(leaves), suppress(TimeUp):
            if turn.open is None:
                parts, gone = self._divided(turn.part, incumbent)
            else:
                still, opened, gone = self._opened(turn, leaves, beside)
        best = None if incumbent.best is None else incumbent.best.own()
        return Searched(still, opened, gone, parts, best, leaves.unresolved, leaves.recorder.statistics)

    def _divided(self, part: Part, incumbents: Incumbents) -> tuple[tuple[Part, ...] | None, Coverage]:
        """Divide a part where that is worth it; return the parts, and the coverage of the rest. May raise TimeUp."""
        division = divided(part, self.geometric, incumbents)
        if part.whole or part.patience >= MOST_PATIENCE or division.worthwhile:
            return division.parts, Coverage(ruled_out=division.ruled_out)
        return None, Coverage()

    def _opened(self, turn: Turn, leaves: LeafEvaluator, beside: Beside) -> tuple[OpenNodes, int, Coverage]:
        """Open nodes; return what is open, the number opened, the coverage of the rest. May raise TimeUp."""
        incumbents, start = leaves.incumbents, turn.open
        assert start is not None, "there is something to open"
        with self._uncounted(leaves):  # whether this process has them is chance
            forest = self._forest(turn.part, incumbents)
        if len(start) == 1 and turn.part.number:  # the part is new
            forest.check(2 * forest.rows * NODE_STEPS)
        branching = Branching(forest, start=(start.nodes, start.bounds))
        with suppress(TimeUp):
            while len(branching.state.bounds) and branching.opened < turn.most and not leaves.late():
                beside(incumbents.best)
                branching.step(
                    lambda: incumbents.cutoff, lambda rows, bounds: leaves.see(rows, bounds, self.geometric.relaxed)
                )
        return OpenNodes.of(branching), branching.opened, branching.state.closed_coverage

    def _forest(self, part: Part, incumbents: Incumbents) -> Forest:
        """Return the trees of a part, which are the same in every process. May raise TimeUp."""
        if part.number not in self._forests:
            rows = sum(map(len, part.remaining.rows))
            while self._forests and rows + sum(kept_forest.rows for kept_forest in self._forests.values()) > FORESTS:
                del self._forests[next(iter(self._forests))]
            trees = None if part.number else self.whole
            self._forests[part.number] = Forest(self.geometric.relaxed, incumbents, self.weights, part.remaining, trees)
        forest = self._forests[part.number] = self._forests.pop(part.number)  # the last in use is the last to go
        forest.incumbents = incumbents
        return forest

    def _counted(self, leaves: LeafEvaluator) -> AbstractContextManager[None]:
        """Have all work on the groups' chains count its steps, and raise TimeUp where effort is used up."""

        def check(steps: int) -> None:
            leaves.count(steps)
            if leaves.late():
                raise TimeUp

        return self._checked(check)

    def _uncounted(self, leaves: LeafEvaluator) -> AbstractContextManager[None]:
        """Have it count none for a while."""

        def check(steps: int) -> None:
            if leaves.late():
                raise TimeUp

        return self._checked(check)

    @contextmanager
    def _checked(self, check: Deadline) -> Iterator[None]:
        before = [group.deadline for group in self.geometric.relaxed.groups]
        try:
            for group in self.geometric.relaxed.groups:
                group.deadline = check
            yield
        finally:
            for group, deadline in zip(self.geometric.relaxed.groups, before, strict=True):
                group.deadline = deadline


def search_turns(search: PartSearch, turns: Sequence[Turn], effort: RemainingEffort) -> list[Searched]:
    """Search some turns one after the other, as the work of a process."""
    return [search.search(turn, effort) for turn in turns]
