"""What programs compute, by NumPy: the definition."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...mapping import Floats, Ints


class Bounding(Protocol):
    """Computes a bound of sets of rows of some tables."""

    def packed(self, table: int, columns: Sequence[Floats] | Floats) -> Floats:
        """The columns # (row,) each that it needs of a table, row by row. # (row, column)"""

    def run(self, tables: Sequence[Floats], rows: Ints) -> Floats:
        """The bounds of rows of each table # (set, table), each table `packed`. # (set, 1)"""


@dataclass(frozen=True)
class PlainBounds:
    """A bound as a function of the entries of columns, by table and column, for so many sets."""

    bound: Callable[[Callable[[int, int], Floats], int], Floats]

    def packed(self, table: int, columns: Sequence[Floats] | Floats) -> Floats:
        """All columns."""
        return np.stack(list(columns), axis=1)

    def run(self, tables: Sequence[Floats], rows: Ints) -> Floats:
        """The bounds, each of arrays as long as the sets are many."""
        return self.bound(lambda g, column: tables[g][rows[:, g], column], len(rows))[:, None]
