"""Limits of the words that an instance of a memory reads, writes, or both, in a cycle."""

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["read", "write", "shared"]


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """So many words per cycle of an instance: of those it reads, of those it writes, or of both together."""

    kind: Kind
    rate: float

    @property
    def key(self) -> str:
        """Its name in a machine's file, and as a field of a level."""
        return f"{self.kind}_bandwidth"

    @property
    def words(self) -> str:
        """What it limits: reads, writes, or accesses, which are both."""
        return "accesses" if self.kind == "shared" else f"{self.kind}s"

    def of(self, reads: Any, writes: Any) -> Any:
        """Those words that it limits, of numbers or arrays of words read and written."""
        if self.kind == "shared":
            return reads + writes
        return reads if self.kind == "read" else writes
