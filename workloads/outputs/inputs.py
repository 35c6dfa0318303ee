"""The files that a command has read, known under every name."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}
Place = tuple[int, int]  # device and inode: the same under every name, by links and on disks that ignore case
_INPUTS: ContextVar[set[Place] | None] = ContextVar("_INPUTS", default=None)


@contextmanager
def inputs_noted() -> Iterator[None]:
    """Note every file that is read meanwhile: none of them can be written."""
    token = _INPUTS.set(set())
    try:
        yield
    finally:
        _INPUTS.reset(token)


def note_input(path: Path | str) -> None:
    """Note that a file is read, if files are noted and there is one of this name."""
    inputs, place = _INPUTS.get(), _place(path)
    if inputs is not None and place:
        inputs.add(place)


def is_input(path: Path) -> bool:
    """Whether a file was noted, under this or another name."""
    return _place(path) in (_INPUTS.get() or ())


def kind_of(path: Path) -> str:
    """The kind of what stands at `path`; empty for a regular file."""
    return KINDS.get(stat.S_IFMT(path.stat().st_mode), "")


def _place(path: Path | str) -> Place | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # none there; a null character
        return None
    return status.st_dev, status.st_ino
