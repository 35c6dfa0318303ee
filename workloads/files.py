"""Files: read where they are regular ones of a bearable size, written whole or not at all, alone or together."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .faults import Fault, InputError

PART = ".part"  # while results are being written
KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def expanded(name: str) -> Path:
    """The path of a name that may begin with `~` or `~user`. Raises InputError where there is no such user."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        raise _failed(name, f"no home of {name.split('/')[0]} on this machine: write the path out") from None


def read_bytes(path: Path, most: int) -> bytes:
    """The content of a file of at most `most` bytes.

    Raises InputError where it is missing, unreadable or larger, and for what is no regular file: to read a pipe may
    take for ever, a device has no end.
    """
    try:
        if other := _kind(path):
            raise _failed(path, f"a file is expected, this is {other}")
        with path.open("rb") as file:
            content = file.read(most + 1)
    except FileNotFoundError:
        raise _failed(path, "no such file") from None
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise _failed(path, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(content) > most:
        raise _failed(path, f"a file of at most {most} bytes is expected")
    return content


def write_whole(path: Path, content: str | bytes) -> None:
    """Put a file of `content` at `path` in one step. Raises InputError where that cannot be, with nothing changed."""
    part = path.parent / f".ruby-map-{os.getpid()}.part"
    try:
        if path.exists() and (other := _kind(path)):
            raise _failed(path, f"cannot be written: it is {other}")
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        part.replace(path)
    except OSError as error:
        raise _failed(path, f"cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):  # gone to its place, or never there
            part.unlink()


@contextmanager
def written_together(folder: Path, last: str, again: str) -> Iterator[Path]:
    """A folder to write files in that are to stand in `folder`: they are put there once all are written, `last` last.

    Of those that are there already none is touched before. Raises InputError where something cannot be written, with
    `again`, how the user comes by the files all the same.
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
    """What `path` is, where it is no regular file."""
    return KINDS.get(stat.S_IFMT(path.stat().st_mode), "")


def _failed(path: Path | str, message: str) -> InputError:
    return InputError(Fault(str(path), None, "", message))
