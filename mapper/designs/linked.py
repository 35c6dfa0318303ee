"""Parameters that vary together, and the values of each: a list, or numbers in equal steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .expressions import Values

MAX_VALUES = 100_000  # of one parameter, that are not in equal steps


@dataclass(frozen=True)
class SteppedRange:
    """A range of numbers in equal steps, never written out: it may be astronomically long."""

    first: int | float
    step: int | float
    count: int

    def __getitem__(self, index: int) -> int | float:
        return self.first + index * self.step


@dataclass(frozen=True)
class LinkedParameters:
    """Parameters that vary together: value number i of each goes with value number i of the others."""

    names: tuple[str, ...]
    columns: tuple[SteppedRange | Sequence[Any], ...]  # (name,) as many values each

    @property
    def stepped(self) -> bool:
        """Whether the first has numbers in equal steps, in order."""
        return isinstance(self.columns[0], SteppedRange)

    @cached_property
    def size(self) -> int:
        """How many values each parameter has."""
        column = self.columns[0]
        return column.count if isinstance(column, SteppedRange) else len(column)

    @cached_property
    def by_size(self) -> bool:
        """Whether the values of the first parameter are different numbers above 0."""
        column = self.columns[0]
        if isinstance(column, SteppedRange):
            return column.first > 0
        numbers = [value for value in column if isinstance(value, int | float) and not isinstance(value, bool)]
        return len({float(value) for value in numbers if value > 0}) == len(column)

    def values(self, index: int) -> Values:
        """Value number `index` of each parameter."""
        return {name: column[index] for name, column in zip(self.names, self.columns, strict=True)}
