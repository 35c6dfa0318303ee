"""Searches the parts of a choice of kept tensors in rounds, by one or several processes, with the same outcome.

A round has some turns, each with the value to beat that is known as the round begins, so that it does not matter which
process is done first, nor how many there are.
"""

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..mapping import MappingBatch
from ..problem import ROUNDING
from ..runtime import Workers
from ..search.outcome import Coverage
from .branch_and_bound import MOST_OPEN
from .branch_and_bound import OPENED as MOST
from .incumbents import BestIncumbent
from .leaves import LeafEvaluator
from .part_search import Beside, OpenNodes, PartSearch, RemainingEffort, Searched, Turn, search_turns
from .parts import MORE, Part

ROUND = 16  # turns
NODES = 2**14  # opened in a turn: half a second at most, as others wait for its end,
ALONE = 4  # but times as many where it is the only turn of its part: trees have to be grown first
FEWEST = 2**11  # nodes of a part for each turn: opening few at once takes nearly as long


_Chosen = tuple[Part, OpenNodes | None, int]  # a turn: the part, the nodes, how many to open


@dataclass(frozen=True, eq=False)
class OpenPart:
    """A part with open nodes."""

    part: Part
    nodes: tuple[OpenNodes, ...]  # in sets; together all that are open
    closed_coverage: Coverage = Coverage()  # of the combinations that are in none of them
    opened: int = 0  # nodes so far

    @classmethod
    def fresh(cls, part: Part) -> "OpenPart":
        """Return a part with nothing opened yet."""
        return cls(part, (OpenNodes.root(part),))

    @cached_property
    def least(self) -> float:
        """The least bound of its open nodes."""
        bounds = [float(open_nodes.bounds.min(initial=np.inf)) for open_nodes in self.nodes]
        return max(self.part.least, min(bounds, default=np.inf))

    @property
    def coverage(self) -> Coverage:
        """The coverage of all its combinations."""
        return self.closed_coverage + Coverage(open=sum(open_nodes.number for open_nodes in self.nodes))

    @property
    def number(self) -> int:
        """The number of its open nodes."""
        return sum(map(len, self.nodes))

    def after(self, turn: Turn, searched: Searched) -> "OpenPart":
        """Return the part after a turn that did not divide it."""
        if turn.open is None:
            return replace(self, part=replace(self.part, patience=self.part.patience * MORE))
        assert searched.open is not None, "nodes are open or not"
        nodes = tuple(open_nodes for open_nodes in self.nodes if open_nodes is not turn.open)
        if len(searched.open):
            nodes = (*nodes, searched.open)
        return replace(
            self,
            nodes=nodes,
            closed_coverage=self.closed_coverage + searched.closed_coverage,
            opened=self.opened + searched.opened,
        )

    def cut(self, limit: float, most: int, *, highest: bool) -> tuple["OpenPart", list[OpenNodes]]:
        """Cut the nodes with the least bounds below `limit`, or the highest, into `most` sets like each other at most.

        Returns the part with its nodes in these sets and one of all others, and the sets.
        """
        every = OpenNodes(
            *(
                np.concatenate([getattr(open_nodes, name) for open_nodes in self.nodes])
                for name in ("nodes", "bounds", "sizes")
            )
        )
        order = np.argsort(every.bounds, kind="stable")
        order = order[: np.searchsorted(every.bounds[order], limit)]
        sets = min(most, -(-len(order) // FEWEST))
        order = order[-sets * MOST :] if highest else order[: sets * MOST]
        unchosen = np.ones(len(every), bool)
        unchosen[order] = False
        chosen = [every.take(order[i::sets]) for i in range(sets)]
        return replace(self, nodes=(*chosen, every.take(unchosen))), chosen


@dataclass(frozen=True, eq=False)
class _State:
    """The open parts, and the coverage of the combinations that are in none of them."""

    parts: tuple[OpenPart, ...]
    closed_coverage: Coverage = Coverage()


@dataclass(eq=False)
class Rounds:
    """The open parts of a choice of kept tensors. The state is replaced as a whole, as Ctrl-C may come at any time."""

    search: PartSearch
    whole: OpenPart
    state: _State = field(init=False)
    _workers: Workers = field(init=False)
    steps: int = 0  # of the proof, so far
    _numbered: int = 0  # parts besides the whole so far

    def __post_init__(self) -> None:
        self.state = _State((self.whole,))
        options = self.search.task.options
        self._workers = Workers(search_turns, self.search, options.cluster or options.jobs)

    @property
    def least(self) -> float:
        """The least bound of the open parts; inf when there are none."""
        return min((part.least for part in self.state.parts), default=np.inf)

    @property
    def open(self) -> int:
        """The number of open nodes."""
        return sum(part.number for part in self.state.parts)

    @property
    def coverage(self) -> Coverage:
        """The coverage of all combinations of the whole."""
        return sum((part.coverage for part in self.state.parts), self.state.closed_coverage)

    def round(self, leaves: LeafEvaluator, effort: RemainingEffort, tell: Callable[[], object]) -> Generator[Searched]:
        """Open the nodes with the least bounds, and yield what came of each turn once `leaves` has it.

        Effort is used up after the `effort`. `tell` is called between steps.
        """
        incumbent, current_best = leaves.incumbents, list[MappingBatch]()
        assert isinstance(incumbent, BestIncumbent), "a front has no weighted products"

        def beside(best: MappingBatch | None) -> None:
            current_best[:] = [] if best is None else [best]
            tell()

        limit = incumbent.cutoff * (1 - ROUNDING)
        self._rule_out(limit)
        turns = [Turn(part, open_nodes, most, incumbent.to_beat()) for part, open_nodes, most in self._chosen(limit)]
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

    def _rule_out(self, limit: float) -> None:
        """Drop the parts whose bounds are at least `limit`."""
        parts = self.state.parts
        gone = sum((part.coverage.closed() for part in parts if part.least >= limit), Coverage())
        self.state = _State(tuple(part for part in parts if part.least < limit), self.state.closed_coverage + gone)

    def _chosen(self, limit: float) -> list[_Chosen]:
        """Choose the turns of a round: parts, and the nodes to open; None: divide the part."""
        full, turns, parts = self.open > MOST_OPEN, list[_Chosen](), list[OpenPart]()
        # with too many open nodes, those next to being ruled out, of the part with the most
        for open_part in sorted(self.state.parts, key=lambda part: -part.number if full else part.least):
            part, remaining_turns = open_part, ROUND - len(turns)
            if remaining_turns and part.opened >= part.part.patience:
                turns.append((part.part, None, 0))
            elif remaining_turns:
                most = min(remaining_turns, -(-(part.part.patience - part.opened) // NODES))
                part, chosen = part.cut(limit, most, highest=full)
                turns += [(part.part, open_nodes, NODES * (ALONE if len(chosen) == 1 else 1)) for open_nodes in chosen]
            parts.append(part)
        self.state = replace(self.state, parts=tuple(parts))
        return turns

    def _take(self, turn: Turn, searched: Searched) -> None:
        """Take what came of a turn."""
        (before,) = (part for part in self.state.parts if part.part.number == turn.part.number)
        parts = tuple(part for part in self.state.parts if part is not before)
        coverage = self.state.closed_coverage
        if searched.parts is not None:
            new = [replace(part, number=self._numbered + i) for i, part in enumerate(searched.parts, 1)]
            self._numbered += len(new)
            self.state = _State((*parts, *map(OpenPart.fresh, new)), coverage + searched.closed_coverage)
            return
        after = before.after(turn, searched)
        self.state = _State((*parts, after), coverage) if after.number else _State(parts, coverage + after.coverage)

    def _searched(self, turns: list[Turn], effort: RemainingEffort, beside: Beside) -> Generator[Searched]:
        if self._workers.jobs == 1 or len(turns) == 1:
            return (self.search.search(turn, effort, beside) for turn in turns)
        return self._workers.in_order(turns, most=1, learnt=lambda: self._elsewhere(effort))

    def _elsewhere(self, effort: RemainingEffort) -> RemainingEffort:
        """Return what is left for another process or, with the time in seconds, for another machine."""
        return effort.on_another_machine if isinstance(self._workers.jobs, str) else effort
