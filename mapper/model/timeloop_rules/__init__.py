"""What Timeloop counts of a mapping: its own rules, to explain its statistics beside the executed counts."""

from .nest import Arrays, TimeloopNest
from .tiles import TimeloopCounts, timeloop_counts, walked
from .walk import Rules, Walk

__all__ = [
    "Arrays",
    "Rules",
    "TimeloopCounts",
    "TimeloopNest",
    "Walk",
    "timeloop_counts",
    "walked",
]
