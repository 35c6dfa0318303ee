"""A choice of kept tensors that waits without its columns, which take memory: they are computed again if need be."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from ..mapping import Bools, Ints
from ..search.outcome import Coverage


@dataclass(frozen=True, eq=False)
class FoldedChoice:
    """A choice of kept tensors of which only a bound is held."""

    keep: Bools  # (level, tensor)
    least: float  # the lower bound of all mappings
    number: int  # combinations of chains
    open: int = 1  # sets
    rows: int = 0  # of chains with all columns

    @property
    def coverage(self) -> Coverage:
        """The coverage of all combinations of chains with this choice."""
        return Coverage(open=self.number)

    def certified(self, numbers: Sequence[Ints]) -> NoReturn:
        """Fail: a choice for a certificate is never folded."""
        raise AssertionError("certificates name what rules a choice out")
