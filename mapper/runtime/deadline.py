"""Deadlines of long work: it tells its deadline how many steps follow, which raises `TimeUp` once no more may.

A step is about a microsecond of one core, by fixed weights of what is computed and never by a clock: so the same work
has the same steps on every machine, whatever else runs there.
"""

from collections.abc import Callable

Deadline = Callable[[int], None]  # called with the steps that follow


class TimeUp(Exception):
    """Effort or time is up in the middle of some work, which returns nothing."""


def no_deadline(steps: int) -> None:
    """A deadline that never comes."""
