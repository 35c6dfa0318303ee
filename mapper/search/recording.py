"""A running search whose scores a recorder takes, chunk by chunk: it saves its state and ends by a rule or Ctrl-C."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable

from ..runtime import State
from .outcome import Ended
from .recorder import Recorder
from .strategy import Watch


class Recording(ABC):
    """The common part of searches that record chunks."""

    def __init__(self, recorder: Recorder, watch: Watch) -> None:
        self.recorder, self.watch = recorder, watch

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
            if self.watch.part:
                self.watch.part.save(self.state())
        except KeyboardInterrupt:  # --resume goes on from the state saved last
            statistics.stop(Ended.INTERRUPTED)
            statistics.seconds = time.monotonic() - began

    def go_on(self) -> bool:
        """Report progress and offer the state; False where a rule ended the search."""
        if self.watch.progress:
            self.watch.progress(self.recorder)
        if self.recorder.statistics.ended:
            return False
        if self.watch.part:
            self.watch.part.offer(self.state)
        return True
