"""Searches parts of a set of combinations of chains one by one, here or in other processes."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from ...mapping import MappingBatch
from ...model.bounds import Geometric
from ...runtime import TimeUp
from ..coverage import Coverage
from ..recorder import Recorder, Stop
from ..statistics import Statistics
from ..strategy import Task
from .branch_and_bound import Branching
from .forest import Forest
from .incumbents import BestIncumbent, merit_of
from .leaves import LeafEvaluator
from .parts import MORE, MOST_PATIENCE, Part, divided

Beside = Callable[[MappingBatch | None], object]  # called with the best mapping of a part so far


@dataclass(frozen=True, eq=False)
class Turn:
    """A part to search, and what to beat."""

    part: Part
    incumbent: BestIncumbent
    ends: float | None  # when time is up, by time.time(), which all processes share


@dataclass(frozen=True, eq=False)
class Searched:
    """What came of a turn."""

    parts: tuple[Part, ...]  # that are open: parts of the part, or itself where time was up
    coverage: Coverage  # of its combinations that are in none of these
    best: MappingBatch | None  # a mapping better than the limit, as a batch of one
    unresolved: float  # the least bound of chains whose best order is uncertain
    statistics: Statistics


@dataclass(frozen=True, eq=False)
class PartSearch:
    """What the searches of all parts of a choice of kept tensors share."""

    task: Task
    geometric: Geometric
    weights: list[list[float]]  # of columns, for trees

    def search(self, turn: Turn, beside: Beside = lambda best: None) -> Searched:
        """Open nodes of a part until none is left, its patience is at an end and it is divided, or time is up.

        Calls `beside` between steps with the best mapping so far.
        """
        clock = _Clock(turn.ends)
        incumbent = turn.incumbent.to_beat()
        leaves = LeafEvaluator(self.task, incumbent, Recorder(Stop(None)), clock.late)
        parts: tuple[Part, ...] = (turn.part,)
        coverage = Coverage()
        with self._timed(clock.check), suppress(TimeUp):
            parts, coverage = self._opened(turn.part, leaves, beside)
        best = None if incumbent.best is None else incumbent.best.own()
        return Searched(parts, coverage, best, leaves.unresolved, leaves.recorder.statistics)

    def _opened(self, part: Part, leaves: LeafEvaluator, beside: Beside) -> tuple[tuple[Part, ...], Coverage]:
        """Finish a part, or divide it; where time is up only raise its bound. Returns what is open, and the coverage
        of the rest. May raise TimeUp."""
        branching = None
        if part.patience:
            forest = Forest(self.geometric.relaxed, merit_of(leaves.incumbents), self.weights, part.left)
            branching = Branching(forest)
        while True:
            if branching is not None:
                part = self._branched(part, branching, leaves, beside)
                if not len(branching.state.bounds):
                    return (), branching.coverage
                if leaves.late():
                    return (part,), Coverage()
            division = divided(part, self.geometric, leaves.incumbents.cutoff)
            if branching is None or part.patience >= MOST_PATIENCE or division.worthwhile:
                return division.parts, Coverage(ruled_out=division.ruled_out)
            part = replace(part, patience=part.patience * MORE)

    def _branched(self, part: Part, branching: Branching, leaves: LeafEvaluator, beside: Beside) -> Part:
        """Open nodes until none is left, patience is at an end or time is up; return the part with a higher bound."""
        incumbents = leaves.incumbents
        while len(branching.state.bounds) and branching.opened < part.patience:
            beside(incumbents.best)
            branching.step(
                lambda: incumbents.cutoff, lambda rows, bounds: leaves.see(rows, bounds, self.geometric.relaxed)
            )
            if leaves.late():
                break
        # mappings in no open node are seen or ruled out
        return replace(part, least=max(part.least, branching.least))

    @contextmanager
    def _timed(self, check: Callable[[], None]) -> Iterator[None]:
        """Have all work on the groups' chains call `check`."""
        before = [group.deadline for group in self.geometric.relaxed.groups]
        try:
            for group in self.geometric.relaxed.groups:
                group.deadline = check
            yield
        finally:
            for group, deadline in zip(self.geometric.relaxed.groups, before, strict=True):
                group.deadline = deadline


@dataclass(frozen=True)
class _Clock:
    """Time that is up at `ends`, by time.time(); None: never."""

    ends: float | None

    def late(self) -> bool:
        """Return whether time is up."""
        return self.ends is not None and time.time() >= self.ends

    def check(self) -> None:
        """Raise TimeUp where time is up."""
        if self.late():
            raise TimeUp
