"""What a running proof has used of its effort, counted in its statistics, and of its time."""

import time

from ..problem import Effort
from ..runtime import TimeUp
from ..search import Recorder
from ..search.outcome import Ended
from .turns import RemainingEffort


class EffortUsed:
    """The effort of a proof: all its long work asks it."""

    def __init__(self, limits: Effort, recorder: Recorder) -> None:
        self.limits, self.recorder = limits, recorder
        self.began = time.monotonic()

    def begin(self) -> None:
        """Begin, or go on after the seconds of the statistics."""
        self.began = time.monotonic() - self.recorder.statistics.seconds

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.began

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit is reached."""
        return self.limits.seconds is not None and self.seconds >= self.limits.seconds

    def late(self) -> bool:
        """Test whether steps or time are used up, and set the reason of the end if they are."""
        statistics = self.recorder.statistics
        if self.out_of_time:
            statistics.stop(Ended.TIME_LIMIT)
        elif self.limits.steps is not None and statistics.steps >= self.limits.steps:
            statistics.stop(Ended.EFFORT)
        else:
            return False
        return True

    def check(self, steps: int) -> None:
        """Count steps that follow. Raises TimeUp where steps or time are used up."""
        self.recorder.statistics.steps += steps
        if self.late():
            raise TimeUp

    @property
    def remaining(self) -> RemainingEffort:
        """What is left of both."""
        steps, seconds = self.limits.steps, self.limits.seconds
        ends = None if seconds is None else self.began + seconds + time.time() - time.monotonic()
        return RemainingEffort(None if steps is None else max(0, steps - self.recorder.statistics.steps), ends)
