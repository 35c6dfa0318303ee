"""Records a search: the best so far, the front, counts by reason, the convergence trace; and applies the stop rules.

Scores arrive chunk by chunk, in order. The rules apply mapping by mapping: the mapping that ends the search cuts its
chunk, and later mappings do not count.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..mapping import Bools, Floats, Ints, dominated, frontier, uncovered_by_earlier
from ..problem import STEPS_A_SECOND, Effort
from .options import GIVE_UP
from .outcome import Ended, Statistics

Rows = list[tuple[int, tuple[float, ...]]]  # (mapping, objectives)

EMPTY = 128  # chunks without a mapping in a row that end a search: about as many mappings were drawn


@dataclass(frozen=True, eq=False)
class Scores:
    """The data of one chunk that the record needs, and no more: it may come from another machine.

    Only a mapping better than all earlier mappings of its chunk can be better than all earlier mappings of the search;
    likewise for the front.
    """

    chunk: int
    reasons: NDArray[np.int8]  # (mapping,) 0 valid, else an index of REASONS
    records: Ints  # (record,) mappings better than all before them
    values: Floats  # (record, objective)
    candidates: Ints  # (candidate,) mappings that none before them dominates; empty without a front
    points: Floats  # (candidate, axis)
    pruned: int  # valid mappings that a bound ruled out
    every: Floats | None = None  # (mapping, objective) of all mappings, inf where invalid; for proposers that learn

    @classmethod
    def of(cls, chunk: int, reasons: NDArray[np.int8], values: Floats, points: Floats | None = None) -> Self:
        """Make the scores from the objectives # (mapping, objective) and axes # (mapping, axis) of all mappings; inf
        where invalid or ruled out."""
        pruned = int((np.isinf(values[:, 0]) & (reasons == 0)).sum())
        records = _records(values)
        front, chosen = np.empty(0, np.int64), np.empty((0, 0))
        if points is not None:
            finite = np.flatnonzero(np.isfinite(points).all(axis=1))
            front = finite[uncovered_by_earlier(points[finite], points[finite])]
            chosen = points[front]
        return cls(chunk, reasons, records, values[records], front, chosen, pruned)

    def with_every(self, values: Floats) -> "Scores":
        """Return the same with the objectives of all mappings."""
        return replace(self, every=values)


def _records(values: Floats) -> Ints:
    """Find the mappings with a lexicographically lower row than all before them. # (record,)"""
    first = values[:, 0]
    before = np.minimum.accumulate(np.concatenate([[np.inf], first[:-1]]))
    if values.shape[1] == 1:
        return np.flatnonzero(first < before)
    least, records = (np.inf,), []
    for index in np.flatnonzero((first <= before) & np.isfinite(first)):
        row = tuple(values[index].tolist())
        if row < least:
            least = row
            records.append(index)
    return np.array(records, np.int64)


@dataclass(frozen=True)
class RecordThreshold:
    """The best values and the front of earlier chunks: a chunk's mappings must beat them to be recorded.

    They may be out of date: mappings that cannot beat them cannot beat later, better values either.
    """

    values: tuple[float, ...] = (np.inf,)  # all objectives of the best
    front: tuple[tuple[float, ...], ...] = ()  # points of the front

    def after(self, scores: Scores) -> "RecordThreshold":
        """Return what mappings after the chunk of `scores` must beat."""
        rows = [self.values, *map(tuple, scores.values[-1:].tolist())]
        points = scores.points[~dominated(scores.points, self.front)]
        return RecordThreshold(min(rows), (*self.front, *map(tuple, points.tolist())))


@dataclass(frozen=True)
class Stop:
    """The stop rules of a search; None: the rule does not apply."""

    victory: int | None  # consecutive valid mappings without improvement
    samples: int | None = None
    time_limit: float | None = None  # seconds
    give_up: int | None = GIVE_UP  # consecutive invalid mappings
    valid: int | None = None  # valid mappings
    patience: tuple[float, int] | None = None  # consecutive valid mappings without that relative improvement
    target: float | None = None  # of the first objective
    effort: Effort = Effort()  # of which mappings count here; seconds are in time_limit


@dataclass(frozen=True)
class FrontPoint:
    """A mapping that no other beats on one axis without losing on another; of equal mappings the first."""

    chunk: int
    index: int
    values: tuple[float, ...]  # one per axis


class Recorder:
    """Records scores in chunk order and sets `statistics.ended` when a rule ends the search."""

    def __init__(self, stop: Stop) -> None:
        self.stop = stop
        self.statistics = Statistics()
        self.chunks = 0  # the number of the next chunk to record
        self.best = np.inf  # the first objective
        self.values: tuple[float, ...] = (np.inf,)  # all objectives of the best
        self.where: tuple[int, int] | None = None  # (chunk, index) of the best; of equal mappings the first
        self.front: list[FrontPoint] = []
        # valid mappings of this run's chunks, and those of them that a bound ruled out
        self.bounded, self.pruned = 0, 0
        self._since = 0  # valid mappings since the last improvement
        self._idle = 0  # valid mappings since the last improvement by the fraction of `patience`
        self._mark = np.inf  # the first objective at that improvement
        self._dry = 0  # invalid mappings since the last valid mapping
        self._empty = 0  # chunks without a mapping since the last with one
        self.proven = ""  # the state of a proof, as text

    @property
    def since(self) -> int:
        """The number of valid mappings since the last improvement, which the victory rule counts."""
        return self._since

    @property
    def expected_seconds(self) -> float | None:
        """The seconds that a proof may still take, at its pace so far; None: it has no end."""
        seen = self.statistics
        seconds = [] if self.stop.time_limit is None else [max(self.stop.time_limit - seen.seconds, 0.0)]
        if self.stop.effort.steps is not None:
            pace = seen.seconds / seen.steps if seen.steps >= STEPS_A_SECOND else 1 / STEPS_A_SECOND
            seconds.append(max(self.stop.effort.steps - seen.steps, 0) * pace)
        return min(seconds, default=None)

    def known(self) -> RecordThreshold:
        """Return what later chunks must beat."""
        return RecordThreshold(self.values, tuple(point.values for point in self.front))

    def record(self, scores: Scores, seconds: float) -> None:
        """Record the mappings of one chunk, up to the mapping that ends the search."""
        valid = scores.reasons == 0
        better = [(int(i), tuple(row.tolist())) for i, row in zip(scores.records, scores.values, strict=True)]
        better = [(i, row) for i, row in better if row < self.values]
        leaps = self._leaps(better)
        since = _run(valid, _at(better, len(valid)), self._since)
        idle = _run(valid, _at(leaps, len(valid)), self._idle)
        dry = _run(~valid, valid, self._dry)
        end = self._end(valid, since, idle, dry, better)
        self._improve(scores.chunk, [improvement for improvement in better if improvement[0] < end])
        self._extend(scores, end)
        self.statistics.count(scores.reasons[:end])
        self.bounded, self.pruned = self.bounded + int(valid.sum()), self.pruned + scores.pruned
        self._mark = next((mark for i, mark in reversed(leaps) if i < end), self._mark)
        if end:
            self._since, self._idle, self._dry = int(since[end - 1]), int(idle[end - 1]), int(dry[end - 1])
        self._empty = 0 if len(valid) else self._empty + 1
        if self._empty >= EMPTY:
            self.statistics.stop(Ended.NOTHING_PROPOSED)
        self.chunks = scores.chunk + 1
        self.statistics.seconds = seconds
        if not self.statistics.ended and self.stop.time_limit is not None and seconds >= self.stop.time_limit:
            self.statistics.stop(Ended.TIME_LIMIT)

    def _leaps(self, better: Rows) -> list[tuple[int, float]]:
        """List the improvements by the fraction of `patience` since the last such improvement."""
        fraction = self.stop.patience[0] if self.stop.patience else 0.0
        mark, leaps = self._mark, []
        for index, (value, *_) in better:
            if value <= mark * (1 - fraction):
                mark = value
                leaps.append((index, value))
        return leaps

    def _end(self, valid: Bools, since: Ints, idle: Ints, dry: Ints, better: Rows) -> int:
        """Count the mappings of the chunk up to and including the first that meets a rule, and set the reason."""
        stop = self.stop
        numbers = ((stop.samples, Ended.SAMPLES), (stop.effort.mappings, Ended.EFFORT))
        remaining = [(most - self.statistics.evaluated, name) for most, name in numbers if most is not None]
        ends = [(mappings, name) for mappings, name in remaining if mappings <= len(since)]
        ends += [(i + 1, Ended.TARGET) for i, row in better if stop.target is not None and row[0] <= stop.target][:1]
        for run, limit, name in (
            (since, stop.victory, Ended.VICTORY),
            (idle, stop.patience[1] if stop.patience else None, Ended.PATIENCE),
            (dry, stop.give_up, Ended.NOTHING_VALID),
            (self.statistics.valid + np.cumsum(valid), stop.valid, Ended.VALID),
        ):
            if limit is not None and (run >= limit).any():
                ends.append((int((run >= limit).argmax()) + 1, name))
        if not ends:
            return len(since)
        end, reason = min(ends)
        self.statistics.stop(reason)
        return end

    def _improve(self, chunk: int, better: Rows) -> None:
        for index, row in better:
            if row[0] < self.best:
                self.statistics.trace.append((self.statistics.evaluated + index + 1, row[0]))
            self.best, self.values, self.where = row[0], row, (chunk, index)

    def _extend(self, scores: Scores, end: int) -> None:
        """Add the candidates that no point of the front equals or beats, and drop the points that they beat."""
        number = int(np.searchsorted(scores.candidates, end))  # candidates up to the mapping that ends the search
        if not number:
            return
        new = np.flatnonzero(~dominated(scores.points[:number], [point.values for point in self.front]))
        new = new[frontier(scores.points[new])]  # no candidate covers a later one
        points = scores.points[new]
        if self.front:
            stay = ~dominated(np.array([point.values for point in self.front]), points)
            self.front = [point for point, stays in zip(self.front, stay.tolist(), strict=True) if stays]
        indices = scores.candidates[new].tolist()
        self.front += [FrontPoint(scores.chunk, i, tuple(p)) for i, p in zip(indices, points.tolist(), strict=True)]

    def state(self) -> dict[str, Any]:
        """Return the state from which a later run goes on, as plain values; `restore` reads it."""
        return {
            "statistics": self.statistics.plain(),
            "chunks": self.chunks,
            "best": self.best,
            "values": self.values,
            "where": self.where,
            "front": [asdict(point) for point in self.front],
            "runs": (self._since, self._idle, self._dry),
            "empty": self._empty,
            "mark": self._mark,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from `state`."""
        self.statistics = Statistics.of_plain(state["statistics"])
        self.chunks, self.best, self._mark = state["chunks"], state["best"], state["mark"]
        self.values = tuple(state["values"])
        self.where = None if state["where"] is None else (state["where"][0], state["where"][1])
        self.front = [FrontPoint(point["chunk"], point["index"], tuple(point["values"])) for point in state["front"]]
        self._since, self._idle, self._dry = state["runs"]
        self._empty = state.get("empty", 0)  # a state may be from before it was there


def _at(events: list[tuple[int, Any]], length: int) -> Bools:
    """Mark the mappings of the events. # (mapping,)"""
    places = np.zeros(length, bool)
    places[[index for index, _ in events]] = True
    return places


def _run(counted: Bools, resets: Bools, before: int) -> Ints:
    """Count, at each mapping, those `counted` since the last reset; `before` of them in earlier chunks. # (mapping,)"""
    total = np.cumsum(counted)
    return total - np.maximum.accumulate(np.where(resets, total, -before))
