"""Faults of input: what is wrong with what a user wrote, all of it at once."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import ClassVar, override


@dataclass(frozen=True, slots=True)
class Fault:
    """A single fault of an input, with its place."""

    source: str  # the file
    line: int | None  # counted from 1; None: the file as a whole
    path: str  # `levels[1].fanout`, or empty
    message: str
    keys: tuple[str | int, ...] = field(default=(), compare=False)  # of which `path` is the text

    @override
    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return ": ".join(part for part in (place, self.path, self.message) if part)


class InputError(Exception):
    """An input has faults: all of them. The commands end with exit status 2."""

    def __init__(self, faults: Iterable[Fault] | Fault):
        self.faults = (faults,) if isinstance(faults, Fault) else tuple(faults)
        super().__init__(self.faults)

    @override
    def __str__(self) -> str:
        return "\n".join(map(str, self.faults))


class ToldWarning(UserWarning):
    """A warning that the commands print as a line on standard error, which begins with the `label`."""

    label: ClassVar[str] = "warning"


class InputWarning(ToldWarning):
    """Something in a file has no effect, or another than it may seem to have."""


class InputNote(ToldWarning):
    """How an input was taken, where a user may want to know; nothing about it is wrong."""

    label = "note"


def option_fault(option: str, message: str) -> Fault:
    """The fault of an option of a command, or of the argument that stands for it: without a line."""
    return Fault(option, None, "", message)


def collect[T](faults: list[Fault], find: Callable[[], T]) -> T | None:
    """The value of `find()`; None where it raises InputError, whose faults are added to `faults`."""
    try:
        return find()
    except InputError as error:
        faults += error.faults
        return None
