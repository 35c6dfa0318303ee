"""What a search is told by a store, and tells of it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Self, override

from ..problem import Json
from .rows import StoredMapping, StoredProof


@dataclass(frozen=True)
class StoreHistory:
    """Where the mapping of a result comes from, and what a store held about its problem before the search."""

    origin: str  # of the mapping: the name of a strategy, hand...
    since: str  # when the store first had it; empty: this search found it
    number: int  # of mappings that the search could begin with
    proof: StoredProof | None  # of the same mapspace

    @classmethod
    def of(cls, strategy: str, answer: StoredMapping | None, number: int, proof: StoredProof | None) -> Self:
        """Tell the origin of an answer that the store held, or of one of its own search."""
        if answer is None:
            return cls(strategy, "", number, proof)
        return cls(answer.origins[0].name, answer.date, number, proof)

    @override
    def __str__(self) -> str:
        """The line of a report."""
        held = f"held since {self.since}, from {self.origin}" if self.since else f"found by this search ({self.origin})"
        before = f"{self.number} mapping{'s'[: self.number != 1]} known before"
        return f"store        {held}; {before}{self._proven()}"

    def _proven(self) -> str:
        """Say what is held as proven, which this run has not checked."""
        if self.proof is None:
            return ""
        who = f"({self.proof.origin}, {self.proof.date}; no evidence is held)"
        if self.proof.optimal:
            return f"; said to be proven: the best of {self.proof.mapspace} was known {who}"
        return f"; said to be proven: none of {self.proof.mapspace} is below {self.proof.lower_bound:.6g} {who}"

    def json(self) -> Json:
        """The entries of `--json`."""
        proof = None if self.proof is None else asdict(self.proof)
        return {"origin": self.origin, "store": {"known": self.number, "since": self.since or None, "proof": proof}}


def known_line(layers: Sequence[tuple[str, StoreHistory | None]]) -> str:
    """Say which layers of a network have mappings that a store held; empty without a store. `layers`: with names."""
    stored_layers = [(name, known) for name, known in layers if known is not None]
    if not stored_layers:
        return ""
    held = [f"{name} ({known.origin})" for name, known in stored_layers if known.since]
    what = ", ".join(held) if len(held) < 9 else f"{len(held)} of {len(stored_layers)} layers"
    return f"store        held mappings are the answer for {what or 'no layer'}"
