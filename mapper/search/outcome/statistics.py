"""Counts, time and convergence of a search."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ...model import REASONS
from .ended import Ended

STEPS_A_MAPPING = 64  # of a proof, about as long as it takes to evolve a mapping
REFUSED, UNANSWERED = len(REASONS), len(REASONS) + 1  # reason codes of mappings that a cost model was asked about
ALL_REASONS = (*REASONS, "refused by the cost model", "no answer")


@dataclass
class Statistics:
    """Counts, time and convergence of a search."""

    evaluated: int = 0  # mappings seen, valid or not; with a cost model those that it was asked about
    valid: int = 0
    invalid: dict[str, int] = field(default_factory=lambda: dict.fromkeys(REASONS[1:], 0))
    seconds: float = 0.0
    steps: int = 0  # of proofs (effort.py)
    # (mappings seen so far, first objective) at each improvement
    trace: list[tuple[int, float]] = field(default_factory=list)
    ended: tuple[Ended, ...] = ()  # why it ended; for a network the reasons of all layers; empty while it runs

    @property
    def stopped_by(self) -> str:
        """Why it ended, as text; empty while it runs."""
        return "; ".join(self.ended)

    def count(self, reasons: NDArray[np.int8]) -> None:
        """Count mappings by their reason codes # (mapping,), 0 valid, else an index of ALL_REASONS."""
        numbers = np.bincount(reasons, minlength=len(ALL_REASONS)).tolist()
        self.evaluated, self.valid = self.evaluated + len(reasons), self.valid + numbers[0]
        for reason, number in zip(ALL_REASONS[1:], numbers[1:], strict=True):
            if number:
                self.invalid[reason] = self.invalid.get(reason, 0) + number

    def add(self, other: "Statistics") -> None:
        """Add the numbers of mappings and steps of a part of the search."""
        self.evaluated, self.valid = self.evaluated + other.evaluated, self.valid + other.valid
        self.steps += other.steps
        for reason, number in other.invalid.items():
            self.invalid[reason] = self.invalid.get(reason, 0) + number

    def stop(self, reason: Ended) -> None:
        """Set the reason why the search ended, in place of any other."""
        self.ended = (reason,)

    @property
    def all_steps(self) -> int:
        """Steps of proofs, and for each mapping seen as many as take about as long."""
        return self.steps + STEPS_A_MAPPING * self.evaluated

    @property
    def rate(self) -> float:
        """Mappings per second."""
        return self.evaluated / self.seconds if self.seconds else 0.0

    @property
    def interrupted(self) -> bool:
        return Ended.INTERRUPTED in self.ended

    @property
    def had_no_time(self) -> bool:
        """Whether time was up before the first mapping."""
        return not self.evaluated and bool({Ended.TIME_LIMIT, Ended.TOO_SHORT}.intersection(self.ended))

    def plain(self) -> dict[str, Any]:
        """Convert to plain values for a checkpoint; `of_plain` reads them."""
        values = asdict(self)
        del values["ended"]
        return values | {"stopped_by": self.stopped_by}

    @classmethod
    def of_plain(cls, values: Mapping[str, Any]) -> Self:
        """Read the values of `plain`. Raises ValueError for an unknown reason."""
        fields = dict(values)
        reason = fields.pop("stopped_by")
        fields["invalid"] = dict(fields["invalid"])  # counted on in place
        fields["trace"] = [(number, best) for number, best in fields["trace"]]
        return cls(**fields, ended=(Ended(reason),) if reason else ())
