"""Opens the nodes of a choice of kept tensors in rounds, by one or several processes, with the same outcome.

A round has some turns, each with the value to beat that is known as the round begins, so that it does not matter which
process is done first, nor how many there are.
"""

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import InitVar, dataclass, field

import numpy as np

from ..mapping import MappingBatch
from ..problem import ROUNDING
from ..runtime import Workers
from ..search.outcome import Coverage
from .branch_and_bound import MOST_OPEN, Branching
from .branch_and_bound import OPENED as MOST
from .incumbents import BestIncumbent
from .leaves import LeafEvaluator
from .turns import Beside, OpenNodes, RemainingEffort, Searched, TreeSearch, Turn, search_turns

ROUND = 16  # turns
NODES = 2**14  # opened in a turn: half a second at most, as others wait for its end
FEWEST = 2**14  # open nodes for each turn: a long round of few nodes opens many that a better mapping would rule out


@dataclass(frozen=True, eq=False)
class _State:
    """The open nodes, in sets, and the coverage of the combinations that are in none of them."""

    nodes: tuple[OpenNodes, ...]
    closed_coverage: Coverage


@dataclass(eq=False)
class Rounds:
    """The open nodes of a choice of kept tensors. The state is replaced as a whole, as Ctrl-C may come at any time."""

    search: TreeSearch
    branching: InitVar[Branching]  # what has been opened
    state: _State = field(init=False)
    steps: int = 0  # of the proof, so far

    def __post_init__(self, branching: Branching) -> None:
        self.state = _State((OpenNodes.of(branching),), branching.state.closed_coverage)
        options = self.search.task.options
        self._workers = Workers(search_turns, self.search, options.cluster or options.jobs)

    @property
    def least(self) -> float:
        """The least bound of the open nodes; inf when there are none."""
        return min((float(own.bounds.min(initial=np.inf)) for own in self.state.nodes), default=np.inf)

    @property
    def open(self) -> int:
        """The number of open nodes."""
        return sum(map(len, self.state.nodes))

    @property
    def coverage(self) -> Coverage:
        """The coverage of all combinations."""
        return self.state.closed_coverage + Coverage(open=sum(own.number for own in self.state.nodes))

    def round(self, leaves: LeafEvaluator, effort: RemainingEffort, tell: Callable[[], object]) -> Generator[Searched]:
        """Open the nodes with the least bounds, and yield what came of each turn once `leaves` has it.

        Effort is used up after the `effort`. `tell` is called between steps.
        """
        incumbent, current_best = leaves.incumbents, list[MappingBatch]()
        assert isinstance(incumbent, BestIncumbent), "a front has no weighted products"

        def beside(best: MappingBatch | None) -> None:
            current_best[:] = [] if best is None else [best]
            tell()

        self._evaluate(leaves)
        turns = [Turn(own, NODES, incumbent.to_beat()) for own in self._chosen(incumbent.cutoff * (1 - ROUNDING))]
        try:
            with closing(self._searched(turns, effort, beside)) as results:
                for turn, searched in zip(turns, results, strict=True):
                    leaves.add(searched.best, searched.unresolved, searched.statistics)  # before nodes are closed
                    self.steps += searched.statistics.steps
                    self._take(turn, searched)
                    yield searched
        except KeyboardInterrupt:  # the best of a turn that did not end is not lost
            for best in current_best:
                leaves.offer(best)
            raise

    def close(self) -> None:
        """Have no workers, until the next round."""
        self._workers.close()

    def _evaluate(self, leaves: LeafEvaluator) -> None:
        """Evaluate the single combinations, which wait in each turn until they are many: they may be the best.

        All open nodes are one set then.
        """
        names, forest = ("nodes", "bounds", "sizes"), self.search.forest
        every = OpenNodes(*(np.concatenate([getattr(own, name) for own in self.state.nodes]) for name in names))
        single = forest.single(every.nodes) & (every.bounds < leaves.incumbents.cutoff * (1 - ROUNDING))
        chosen = every.take(single)
        order = np.argsort(chosen.bounds, kind="stable")
        seen = leaves.see(forest.rows_of(chosen.nodes)[order], chosen.bounds[order], forest.relaxation)
        self.state = _State((every.take(~single),), self.state.closed_coverage + seen)

    def _chosen(self, limit: float) -> list[OpenNodes]:
        """Choose the nodes of a round from the one set, in sets alike, one for each turn; drop those with bounds of
        `limit` or more.

        With too many open nodes they are those next to being ruled out.
        """
        (every,) = self.state.nodes
        below = every.bounds < limit
        gone, every = every.take(~below), every.take(below)
        order = np.argsort(every.bounds, kind="stable")
        number = min(ROUND, -(-len(order) // FEWEST))
        order = order[-number * MOST :] if self.open > MOST_OPEN else order[: number * MOST]
        unchosen = np.ones(len(every), bool)
        unchosen[order] = False
        chosen = [every.take(order[i::number]) for i in range(number)]
        closed = self.state.closed_coverage + Coverage(ruled_out=gone.number)
        self.state = _State((*chosen, every.take(unchosen)), closed)
        return chosen

    def _take(self, turn: Turn, searched: Searched) -> None:
        """Take what came of a turn."""
        unopened = tuple(own for own in self.state.nodes if own is not turn.open)
        self.state = _State((*unopened, searched.open), self.state.closed_coverage + searched.closed_coverage)

    def _searched(self, turns: list[Turn], effort: RemainingEffort, beside: Beside) -> Generator[Searched]:
        if self._workers.jobs == 1 or len(turns) == 1:
            return (self.search.search(turn, effort, beside) for turn in turns)
        return self._workers.in_order(turns, most=1, learnt=lambda: self._elsewhere(effort))

    def _elsewhere(self, effort: RemainingEffort) -> RemainingEffort:
        """Return what is left for another process or, with the time in seconds, for another machine."""
        return effort.on_another_machine if isinstance(self._workers.jobs, str) else effort
