"""Long steps ask now and then whether time is up; whoever set the limit raises `TimeUp` there, and catches it again."""

from collections.abc import Callable

Check = Callable[[], None]


class TimeUp(Exception):
    """Time is up in the middle of a step; what it was about to make is not there."""


def on_time() -> None:
    """The check without a limit."""
