"""Searches the parts of a set of combinations of chains turn by turn, here or in other processes."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, override

import numpy as np

from ...mapping import Bools, Floats, Ints, MappingBatch
from ...model.bounds import Geometric
from ...runtime import TimeUp
from ..coverage import Coverage
from ..recorder import Recorder, Stop
from ..statistics import Statistics
from ..strategy import Task
from .branch_and_bound import Branching
from .chain_tree import Tree
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
        kind, number = np.int64 if part.left.number < SAFE else object, len(part.left.rows)
        return cls(np.zeros((1, number), np.int64), np.array([part.least]), np.array([part.left.number], kind))

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
    left: Coverage  # of the combinations that are in no open node any more, or in none of the parts
    parts: tuple[Part, ...] | None  # that the part is divided into; None: it is not
    best: MappingBatch | None  # a mapping better than the limit, as a batch of one
    unresolved: float  # the least bound of chains whose best order is uncertain
    statistics: Statistics


@dataclass(frozen=True)
class TimeLeft:
    """When time is up; never, where both are None."""

    ends: float | None = None  # by time.time(), which all processes of a machine share
    seconds: float | None = None  # from the beginning of a turn, on another machine, whose clock may be another

    def late(self) -> Callable[[], bool]:
        """Return the test whether time is up, for a turn that begins now."""
        ends = self.ends if self.seconds is None else time.time() + self.seconds
        return lambda: ends is not None and time.time() >= ends


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

    def search(self, turn: Turn, left: TimeLeft, beside: Beside = lambda best: None) -> Searched:
        """Open nodes until none is left, the turn is over or time is up; or divide the part.

        Calls `beside` between steps with the best mapping so far.
        """
        late, incumbent = left.late(), turn.incumbent.to_beat()
        leaves = LeafEvaluator(self.task, incumbent, Recorder(Stop(None)), late)
        still, opened, gone, parts = turn.open, 0, Coverage(), None
        with self._timed(late), suppress(TimeUp):
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
        forest = self._forest(turn.part, incumbents)

        branching = Branching(forest, start=(start.nodes, start.bounds))
        while len(branching.state.bounds) and branching.opened < turn.most:
            beside(incumbents.best)
            branching.step(
                lambda: incumbents.cutoff, lambda rows, bounds: leaves.see(rows, bounds, self.geometric.relaxed)
            )
            if leaves.late():
                break
        return OpenNodes.of(branching), branching.opened, branching.state.left

    def _forest(self, part: Part, incumbents: Incumbents) -> Forest:
        """Return the trees of a part, which are the same in every process. May raise TimeUp."""
        if part.number not in self._forests:
            rows = sum(map(len, part.left.rows))
            while self._forests and rows + sum(each.rows for each in self._forests.values()) > FORESTS:
                del self._forests[next(iter(self._forests))]
            trees = None if part.number else self.whole
            self._forests[part.number] = Forest(self.geometric.relaxed, incumbents, self.weights, part.left, trees)
        found = self._forests[part.number] = self._forests.pop(part.number)  # the last in use is the last to go
        found.incumbents = incumbents
        return found

    @contextmanager
    def _timed(self, late: Callable[[], bool]) -> Iterator[None]:
        """Have all work on the groups' chains raise TimeUp where time is up."""

        def check() -> None:
            if late():
                raise TimeUp

        before = [group.deadline for group in self.geometric.relaxed.groups]
        try:
            for group in self.geometric.relaxed.groups:
                group.deadline = check
            yield
        finally:
            for group, deadline in zip(self.geometric.relaxed.groups, before, strict=True):
                group.deadline = deadline


def search_turns(search: PartSearch, turns: Sequence[Turn], left: TimeLeft) -> list[Searched]:
    """Search some turns one after the other, as the work of a process."""
    return [search.search(turn, left) for turn in turns]
