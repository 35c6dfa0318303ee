"""Long steps ask now and then whether time is up; whoever set the limit raises `TimeUp` there, and catches it again."""

from collections.abc import Callable

Deadline = Callable[[], None]


class TimeUp(Exception):
    """Time is up in the middle of a step; what it was about to make is not there."""


def no_deadline() -> None:
    """The check without a limit."""
