"""Searches the parts of a choice of kept tensors in rounds, by one or several processes, with the same outcome.

In a round some parts are searched with the value to beat that is known as it begins, so that it does not matter which
process is done first.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np

from ...runtime import in_order
from ..coverage import Coverage
from .incumbents import BestIncumbent
from .part_search import PartSearch, Searched, Turn
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

    def rule_out(self, limit: float) -> None:
        """Drop the parts whose bounds are at least `limit`."""
        parts = self.state.parts
        open_parts = tuple(part for part in parts if part.least < limit)
        gone = sum(part.left.number for part in parts) - sum(part.left.number for part in open_parts)
        self.state = _State(open_parts, self.state.left + Coverage(ruled_out=gone))

    def round(
        self, incumbent: BestIncumbent, ends: float | None, jobs: int, beside: Callable[[], object]
    ) -> Iterator[Searched]:
        """Search the parts with the least bounds, and yield what came of each; `beside` is called between steps."""
        chosen = sorted(self.state.parts, key=lambda part: part.least)[:ROUND]
        turns = [Turn(part, incumbent.to_beat(), ends) for part in chosen]
        with closing(self._searched(turns, jobs, beside)) as results:
            for part, searched in zip(chosen, results, strict=True):
                others = tuple(other for other in self.state.parts if other is not part)
                self.state = _State((*others, *searched.parts), self.state.left + searched.coverage)
                yield searched

    def _searched(self, turns: list[Turn], jobs: int, beside: Callable[[], object]) -> Generator[Searched]:
        if jobs == 1 or len(turns) == 1:
            return (self.search.search(turn, beside) for turn in turns)
        return in_order(PartSearch.search, self.search, turns, jobs, most=1)
