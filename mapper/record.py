"""The record of a search: the best so far, counts by reason, the convergence trace, and the stop rules.

Scores arrive chunk by chunk, in order; the rules are applied mapping by mapping, so a chunk is cut at the very
mapping that ends the search, and what follows it does not count.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .cost import REASONS
from .mapping import Floats

GIVE_UP = 1_000_000  # invalid mappings in a row, after which an endless search stops


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of one chunk of mappings."""

    chunk: int
    reasons: NDArray[np.int8]  # (mapping,) 0 valid, else an index of REASONS
    values: Floats  # (mapping,) the objective; inf where invalid


@dataclass(frozen=True)
class Stop:
    """When a search ends; None: that rule does not apply."""

    victory: int | None  # consecutive valid mappings without improvement
    samples: int | None = None
    time_limit: float | None = None  # seconds
    give_up: int | None = GIVE_UP  # consecutive invalid mappings


@dataclass
class Statistics:
    """How a search went."""

    evaluated: int = 0  # mappings looked at, valid or not
    valid: int = 0
    invalid: dict[str, int] = field(default_factory=lambda: dict.fromkeys(REASONS[1:], 0))
    seconds: float = 0.0
    # (number of mappings looked at so far, objective) at each improvement
    trace: list[tuple[int, float]] = field(default_factory=list)
    stopped_by: str = ""

    @property
    def rate(self) -> float:
        """Mappings per second."""
        return self.evaluated / self.seconds if self.seconds else 0.0

    @property
    def interrupted(self) -> bool:
        return "interrupted" in self.stopped_by  # of a network: the reasons of all layers


class Recorder:
    """Takes scores in chunk order and says when to stop, in `statistics.stopped_by`."""

    def __init__(self, stop: Stop) -> None:
        self.stop = stop
        self.statistics = Statistics()
        self.best = np.inf
        self.where: tuple[int, int] | None = None  # (chunk, index) of the best; the first of equals
        self._since = 0  # valid mappings since the last improvement
        self._dry = 0  # invalid mappings since the last valid one

    def record(self, scores: Scores, seconds: float) -> None:
        """Count the mappings of one chunk up to the one that ends the search."""
        valid = scores.reasons == 0
        running = np.minimum.accumulate(np.concatenate([[self.best], scores.values]))
        better = running[1:] < running[:-1]
        since = _run(valid, better, self._since)
        dry = _run(~valid, valid, self._dry)
        end = self._end(since, dry)
        self._count(scores, better, end)
        if end:
            self._since, self._dry = int(since[end - 1]), int(dry[end - 1])
        self.statistics.seconds = seconds
        if not self.statistics.stopped_by and self.stop.time_limit is not None and seconds >= self.stop.time_limit:
            self.statistics.stopped_by = "time limit"

    def _end(self, since: NDArray[np.int64], dry: NDArray[np.int64]) -> int:
        """How many mappings of the chunk count: up to and with the first that meets a rule."""
        left = None if self.stop.samples is None else self.stop.samples - self.statistics.evaluated
        ends = [(left, "samples")] if left is not None and left <= len(since) else []
        for run, limit, name in (
            (since, self.stop.victory, "victory"),
            (dry, self.stop.give_up, "nothing valid in a row"),
        ):
            if limit is not None and (run >= limit).any():
                ends.append((int((run >= limit).argmax()) + 1, name))
        end, self.statistics.stopped_by = min(ends, default=(len(since), ""))
        return end

    def _count(self, scores: Scores, better: NDArray[np.bool_], end: int) -> None:
        numbers = np.bincount(scores.reasons[:end], minlength=len(REASONS))
        self.statistics.valid += int(numbers[0])
        for code, reason in enumerate(REASONS[1:], 1):
            self.statistics.invalid[reason] += int(numbers[code])
        for index in np.flatnonzero(better[:end]):
            self.best, self.where = float(scores.values[index]), (scores.chunk, int(index))
            self.statistics.trace.append((self.statistics.evaluated + int(index) + 1, self.best))
        self.statistics.evaluated += end


def _run(counted: NDArray[np.bool_], resets: NDArray[np.bool_], before: int) -> NDArray[np.int64]:
    """At each mapping, how many were counted since the last reset; `before` of them in earlier chunks. # (mapping,)"""
    total = np.cumsum(counted)
    return total - np.maximum.accumulate(np.where(resets, total, -before))
