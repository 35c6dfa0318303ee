"""Standard output and standard error, which may be full, closed, or a pipe that nobody reads any more."""

import os
import sys
from contextlib import suppress

from ...workloads import Fault, InputError


def shown(text: str) -> str:
    r"""`text` with what a terminal would obey, or show as nothing, as numbers: a name from a file may hold such
    characters.

    >>> print(shown("a\x1b[2Jb\u200bc"))
    a\x1b[2Jb\u200bc
    """
    if text.replace("\n", "").isprintable():
        return text
    return "".join(one if one in "\n\t" or one.isprintable() else ascii(one)[1:-1] for one in text)


def csv_cell(value: object) -> object:
    """A cell of a CSV file: a text that a spreadsheet would compute begins with an apostrophe there, numbers do not.

    >>> csv_cell("=1+1"), csv_cell("-1.5"), csv_cell(-1.5)
    ("'=1+1", '-1.5', -1.5)
    """
    if not isinstance(value, str) or value[:1] not in tuple("=+-@\t\r"):
        return value
    with suppress(ValueError):
        float(value)
        return value
    return f"'{value}"


class UnreadError(InputError):
    """Nobody reads standard output any more, as after `| head`."""


def print_result(text: str, nl: bool = True) -> None:
    """Write results to standard output. Raises InputError where they cannot be written.

    Characters that its encoding lacks are written as their numbers.
    """
    if sys.stdout is None:
        raise _unwritten("it is closed")
    text = shown(text) + "\n" * nl
    try:
        try:
            sys.stdout.write(text)
        except UnicodeEncodeError:
            sys.stdout.write(text.encode("ascii", "backslashreplace").decode())
        sys.stdout.flush()
    except BrokenPipeError as error:
        _let_go()
        raise UnreadError(_unwritten(error.strerror).faults) from None
    except OSError as error:
        _let_go()
        raise _unwritten(error.strerror) from None


def print_message(text: str) -> None:
    """Write all else to standard error. What cannot be written there is dropped, and the run goes on."""
    with suppress(OSError):
        if sys.stderr is not None:
            sys.stderr.write(f"{shown(text)}\n")
            sys.stderr.flush()


def refused(error: OSError | MemoryError) -> None:
    """Report what the system refused, and let go of standard output, which may be the cause."""
    _let_go()
    print_message(f"not enough memory: {error}" if isinstance(error, MemoryError) else f"the system refused: {error}")


def _let_go() -> None:
    """Let go of what standard output still holds: Python would try once more to write it, and end with status 120."""
    with suppress(OSError):  # in a test it is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _unwritten(why: str | None) -> InputError:
    return InputError(Fault("standard output", None, "", f"cannot be written: {why}"))
