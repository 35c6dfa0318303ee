"""Deadlines of long steps: a step calls its deadline now and then, which raises `TimeUp` once time is up."""

from collections.abc import Callable

Deadline = Callable[[], None]


class TimeUp(Exception):
    """Time is up in the middle of a step, which returns nothing."""


def no_deadline() -> None:
    """A deadline that never comes."""
