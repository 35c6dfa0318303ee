"""Limits of the words that an instance of a memory reads, writes, or both, in a cycle, and of the rows it opens."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

Kind = Literal["read", "write", "shared", "row"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """So many words per cycle of an instance: of those it reads, of those it writes, or of both together. Or so many
    rows of a DRAM that are opened."""

    kind: Kind
    rate: float

    @property
    def key(self) -> str:
        """Its name in a machine's file, and as a field of a level."""
        return f"{self.kind}_bandwidth"

    @property
    def words(self) -> str:
        """What it limits: reads, writes, or accesses, which are both; or rows."""
        return "accesses" if self.kind == "shared" else f"{self.kind}s"

    def of(self, reads: Any, writes: Any, rows: Any = 0) -> Any:
        """Those words that it limits, of numbers or arrays of words read and written; or the rows of those opened."""
        if self.kind == "row":
            return rows
        if self.kind == "shared":
            return reads + writes
        return reads if self.kind == "read" else writes
