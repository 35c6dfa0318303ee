"""A running search whose scores a recorder takes, chunk by chunk: it saves its state and ends by a rule or Ctrl-C."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import override

from ..mapping import MappingBatch
from ..runtime import State
from .outcome import Ended, Outcome
from .recorder import Recorder
from .strategy import Observers, Task
from .variation import Individuals


class Recording(ABC):
    """The common part of searches that record chunks."""

    def __init__(self, recorder: Recorder, observers: Observers) -> None:
        self.recorder, self.observers = recorder, observers

    @abstractmethod
    def state(self) -> State:
        """Return the state from which a later run goes on."""

    def follow(self, record: Callable[[float], bool], end: Ended) -> None:
        """Record until a rule or Ctrl-C ends the search, or all is recorded, which is the reason `end`.

        `record` gets the beginning, by the monotonic clock, and returns False where a rule ended the search.
        """
        statistics = self.recorder.statistics
        began = time.monotonic() - statistics.seconds
        try:
            if record(began):
                statistics.stop(end)
            statistics.seconds = time.monotonic() - began
            if self.observers.part:
                self.observers.part.save(self.state())
        except KeyboardInterrupt:  # --resume goes on from the state saved last
            statistics.stop(Ended.INTERRUPTED)
            statistics.seconds = time.monotonic() - began

    def go_on(self) -> bool:
        """Report progress and offer the state; False where a rule ended the search."""
        if self.observers.progress:
            self.observers.progress(self.recorder)
        if self.recorder.statistics.ended:
            return False
        if self.observers.part:
            self.observers.part.offer(self.state)
        return True


class Proposing(Recording):
    """The common part of searches that can make every mapping of their record again, from chunk and place."""

    @abstractmethod
    def batch(self, chunk: int, place: int) -> MappingBatch:
        """Return the mapping at a place of a chunk, as a batch of one."""

    def outcome(self) -> Outcome:
        """Return the best mapping and the front."""
        recorder = self.recorder
        if recorder.where is None:
            return Outcome(None, recorder.statistics)
        points = sorted(recorder.front, key=lambda point: point.values)
        front = tuple(self.batch(point.chunk, point.index) for point in points)
        return Outcome(self.batch(*recorder.where), recorder.statistics, front=front)


class RetainingSearch(Proposing):
    """The common part of searches that keep the mappings of their record, as they could not propose them again."""

    def __init__(self, task: Task, recorder: Recorder, observers: Observers) -> None:
        super().__init__(recorder, observers)
        self.task = task
        self.kept: dict[tuple[int, int], Individuals] = {}  # by chunk and place

    def keep(self, chunk: int, mappings: Mapping[int, Individuals]) -> None:
        """Keep those of a chunk that has been recorded, by place, and of those before what the record still has."""
        if mappings:
            used = {self.recorder.where, *((point.chunk, point.index) for point in self.recorder.front)}
            every = self.kept | {(chunk, place): one for place, one in mappings.items()}
            self.kept = {key: one for key, one in every.items() if key in used}

    @override
    def batch(self, chunk: int, place: int) -> MappingBatch:
        return self.kept[chunk, place].batch(self.task.space)

    @override
    def state(self) -> State:
        named = [[chunk, place, one.plain()] for (chunk, place), one in self.kept.items()]
        return self.recorder.state() | {"named": named}

    def restore(self, state: State) -> None:
        """Go on from `state`."""
        self.recorder.restore(state)
        self.kept = {(chunk, place): Individuals.of_plain(one) for chunk, place, one in state["named"]}
