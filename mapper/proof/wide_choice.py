"""Choices of kept tensors that are not divided: those with too many chains, and those that wait.

The first are bounded as a whole. The second wait without their columns, which take memory: they are computed again if
need be.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from ..certificate import BOUNDED, WEIGHED, Choice
from ..mapping import Bools, Ints
from ..search.outcome import Coverage
from .coarse_bound import CoarseBound
from .policy import Form


@dataclass(frozen=True, eq=False)
class FoldedChoice:
    """A choice of kept tensors of which only a bound is held."""

    keep: Bools  # (level, tensor)
    least: float  # the lower bound of all mappings
    number: int  # combinations of chains
    open: int = 1  # sets
    rows: int = 0  # of chains with all columns
    form: Form = Form.FOLDED
    has_rounds: bool = False
    opened: int = 0

    @property
    def coverage(self) -> Coverage:
        """The coverage of all combinations of chains with this choice."""
        return Coverage(open=self.number)

    def certified(self, numbers: Sequence[Ints]) -> NoReturn:
        """Fail: a choice for a certificate is never folded."""
        raise AssertionError("certificates name what rules a choice out")


@dataclass(frozen=True, eq=False)
class WideChoice:
    """A choice of kept tensors of whose chains a coarse bound leaves too many."""

    keep: dict[str, list[str]]  # the tensors that each level keeps, by names
    coarse_bound: CoarseBound
    number: int  # combinations of chains
    open: int = 1  # sets
    rows: int = 0  # of chains with all columns
    form: Form = Form.WIDE
    has_rounds: bool = False
    opened: int = 0

    @property
    def least(self) -> float:
        """The lower bound of all mappings."""
        return max(self.coarse_bound.least, 0.0)

    @property
    def coverage(self) -> Coverage:
        """The coverage of all combinations of chains with this choice."""
        return Coverage(open=self.number)

    def sharpen(self) -> None:
        """Do nothing: there is no sharper bound."""

    def certified(self, numbers: Sequence[Ints]) -> Choice:
        """Convert it for the certificate: a single set of all chains, bounded by the weights of the first look."""
        weights = list(self.coarse_bound.looks[:1])
        return Choice(keep=self.keep, weights=weights, trees=[], verdicts=WEIGHED if weights else BOUNDED)
