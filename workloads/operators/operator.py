"""Operators between layers: what is done to the words that one layer hands another."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Operator:
    """An operator that passes over every word: it reads and writes it where it stands, so many times."""

    reads: int
    writes: int
    rows: bool  # whether it needs all words of a row at once: those along the dims that the reader adds up over


# softmax: its maxima and sums are kept while the scores are made; one pass more exponentiates and divides
OPERATORS: Mapping[str, Operator] = MappingProxyType({"softmax": Operator(1, 1, rows=True)})


@dataclass(frozen=True)
class Causal:
    """A mask: a query sees no key after its own; the last query sees the last key."""

    query: str  # the dim of queries of the layer that reads the scores
    key: str  # its dim of keys
    queries: int  # of a head: where heads share keys, query i of head h has the index h * queries + i

    @property
    def hides(self) -> bool:
        """Whether some query sees not all keys: one alone sees all."""
        return self.queries > 1

    def seen(self, low: int, high: int, keys: int) -> int:
        """Count the keys that some query from `low` to below `high` sees, of so many `keys`; they are the first."""
        low_row, last = low % self.queries, (high - 1) % self.queries
        whole = high - low >= self.queries or last < low_row
        return keys - self.queries + 1 + (self.queries - 1 if whole else last)
