"""Reads regular files up to a size; writes files whole or not at all, one or several together."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from .faults import Fault, InputError

PIECE = 1 << 24  # bytes read at once
PART = ".part"  # while results are being written
KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def expanded(name: str) -> Path:
    """The path of `name`, which may begin with `~` or `~user`. Raises InputError where there is no such user."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        raise _failed(name, f"no home of {name.split('/')[0]} on this machine: write the path out") from None


def read_bytes(path: Path, most: int) -> bytes:
    """The content of a file of at most `most` bytes.

    Raises InputError where it is missing, unreadable or larger, and for what is no regular file: a pipe may never be
    written to, and a device has no end.
    """
    try:
        if other := _kind(path):
            raise _failed(path, f"a file is expected, this is {other}")
        with path.open("rb") as file:
            content = b"".join(_pieces(file, most + 1))
    except FileNotFoundError:
        raise _failed(path, "no such file") from None
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise _failed(path, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(content) > most:
        raise _failed(path, f"a file of at most {most} bytes is expected")
    return content


def _pieces(file: IO[bytes], most: int) -> Iterator[bytes]:
    """Read at most so many bytes; a buffer for all of them may be more than there is memory."""
    while most and (piece := file.read(min(most, PIECE))):
        most -= len(piece)
        yield piece


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes a file in one step. Raises InputError, and changes nothing, where it cannot be written."""
    part = path.parent / f".ruby-map-{os.getpid()}.part"
    try:
        if path.exists() and (other := _kind(path)):
            raise _failed(path, f"cannot be written: it is {other}")
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        part.replace(path)
    except OSError as error:
        raise _failed(path, f"cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):  # it is in its place, or was never written
            part.unlink()


@contextmanager
def written_together(folder: Path, last: str, again: str) -> Iterator[Path]:
    """A temporary folder, whose files move into `folder` once all are written, the file `last` after the others.

    Files of the same names are replaced then and not before. Raises InputError where something cannot be written; its
    message ends with `again`, which says how to get the files all the same.
    """
    part = folder / PART
    try:
        shutil.rmtree(part, ignore_errors=True)  # left by a run that was killed here
        part.mkdir(parents=True)
        yield part
        for path in sorted(part.iterdir(), key=lambda path: path.name == last):
            if os.path.isdir(folder / path.name):
                shutil.rmtree(folder / path.name)
            path.replace(folder / path.name)
    except OSError as error:
        message = f"the results cannot be written ({error.strerror}): {again}"
        raise InputError(Fault("out", None, str(folder), message)) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
        with suppress(OSError):  # it holds other files
            folder.rmdir()


def _kind(path: Path) -> str:
    """The kind of what stands at `path`; empty for a regular file."""
    return KINDS.get(stat.S_IFMT(path.stat().st_mode), "")


def _failed(path: Path | str, message: str) -> InputError:
    return InputError(Fault(str(path), None, "", message))
