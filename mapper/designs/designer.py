"""Designers choose which designs are searched next, and are told what came of it."""

from dataclasses import dataclass
from typing import Protocol

from ..mapping import Ints
from .space import Space
from .standing import Standing


@dataclass(frozen=True, eq=False)
class Trial:
    """What a designer asks for: the best mappings of a candidate, or a bound that holds for a set of them."""

    number: int
    rows: Ints  # (candidate,)
    parent: int | None = None  # the trial of a set that holds this one

    @property
    def single(self) -> bool:
        """Whether it is of one candidate."""
        return len(self.rows) == 1


@dataclass(frozen=True)
class Finding:
    """What came of a trial, by workload."""

    lower: tuple[float, ...]  # no mapping of any candidate of it is below
    upper: tuple[float, ...] = ()  # the best mapping of a single candidate; inf where none is known


@dataclass(frozen=True)
class Settings:
    """How a designer works."""

    width: int = 1  # what it takes up at a time, for as many processes
    seed: int = 0
    first: int = 0  # the number of its first trial


def note(space: Space, standing: Standing, trial: Trial, finding: Finding) -> None:
    """Take note of what came of a trial: its bound holds for all candidates that its machine allows as much as."""
    covered = trial.rows if standing.wanted.apart else space.covered(trial.rows)
    standing.raise_lower(covered, finding.lower)
    if trial.single:
        standing.take(int(trial.rows[0]), finding.upper)


class Designer(Protocol):
    """Asks for trials until it needs no more. What it asks depends on what came of those before, and nothing else."""

    def ask(self) -> list[Trial]:
        """The trials that are wanted next, to be made side by side; none: it has ended."""

    def tell(self, trial: Trial, finding: Finding) -> None:
        """Take note of what came of a trial."""
