"""Searches the parts of a choice of kept tensors in rounds, by one or several processes, with the same outcome.

In a round some parts are searched with the value to beat that is known as it begins, so that it does not matter which
process is done first.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np

from ...mapping import MappingBatch
from ...model.bounds import ROUNDING
from ...runtime import in_order
from ..coverage import Coverage
from .incumbents import BestIncumbent
from .leaves import LeafEvaluator
from .part_search import Beside, PartSearch, Searched, Turn
from .parts import Part

ROUND = 16  # parts


@dataclass(frozen=True, eq=False)
class _State:
    """The open parts, and the coverage of the combinations that are in none of them."""

    parts: tuple[Part, ...]
    left: Coverage = Coverage()


@dataclass(eq=False)
class Rounds:
    """The open parts of a choice of kept tensors. The state is replaced as a whole, as Ctrl-C may come at any time."""

    search: PartSearch
    whole: Part
    state: _State = field(init=False)

    def __post_init__(self) -> None:
        self.state = _State((self.whole,))

    @property
    def least(self) -> float:
        """The least bound of the open parts; inf when there are none."""
        return min((part.least for part in self.state.parts), default=np.inf)

    @property
    def coverage(self) -> Coverage:
        """The coverage of all combinations of the whole."""
        return self.state.left + Coverage(open=sum(part.left.number for part in self.state.parts))

    def round(
        self, leaves: LeafEvaluator, ends: float | None, jobs: int, tell: Callable[[], object]
    ) -> Iterator[Searched]:
        """Search the parts with the least bounds, and yield what came of each once `leaves` has it.

        `tell` is called between steps.
        """
        incumbent, shown = leaves.incumbents, list[MappingBatch]()
        assert isinstance(incumbent, BestIncumbent), "a front has no weighted products"

        def beside(best: MappingBatch | None) -> None:  # Ctrl-C may come: the best of this part is not lost
            if best is not None and best not in shown:
                leaves.offer(best)
                shown.append(best)
            tell()

        self._rule_out(incumbent.cutoff * (1 - ROUNDING))
        chosen = sorted(self.state.parts, key=lambda part: part.least)[:ROUND]
        turns = [Turn(part, incumbent.to_beat(), ends) for part in chosen]
        with closing(self._searched(turns, jobs, beside)) as results:
            for part, searched in zip(chosen, results, strict=True):
                leaves.add(searched.best, searched.unresolved, searched.statistics)  # before the part is closed
                others = tuple(other for other in self.state.parts if other is not part)
                self.state = _State((*others, *searched.parts), self.state.left + searched.coverage)
                yield searched

    def _rule_out(self, limit: float) -> None:
        """Drop the parts whose bounds are at least `limit`."""
        parts = self.state.parts
        open_parts = tuple(part for part in parts if part.least < limit)
        gone = sum(part.left.number for part in parts) - sum(part.left.number for part in open_parts)
        self.state = _State(open_parts, self.state.left + Coverage(ruled_out=gone))

    def _searched(self, turns: list[Turn], jobs: int, beside: Beside) -> Generator[Searched]:
        if jobs == 1 or len(turns) == 1:
            return (self.search.search(turn, beside) for turn in turns)
        return in_order(PartSearch.search, self.search, turns, jobs, most=1)
