"""Reads regular files up to a size; writes files whole or not at all, one or several together."""

import filecmp
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from .faults import Fault, InputError
from .outputs import Manifest, is_input, kind_of, manifest_name, manifest_text, note_input

PIECE = 1 << 24  # bytes read at once
PART = ".ruby-map.part"  # while results are being written


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
        if other := kind_of(path):
            raise _failed(path, f"a file is expected, this is {other}")
        with path.open("rb") as file:
            content = b"".join(_pieces(file, most + 1))
        note_input(path)
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
    """Writes a file in one step; a link stays one.

    Raises InputError, and changes nothing, where it cannot be written, or the running command has read it.
    """
    part = None
    try:
        if path.exists() and (other := kind_of(path)):
            raise _failed(path, f"cannot be written: it is {other}")
        if is_input(path):
            raise _failed(path, "cannot be written: it is read by this command")
        place = Path(os.path.realpath(path))
        part = place.parent / f".ruby-map-{os.getpid()}.part"
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        part.replace(place)
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise _failed(path, f"cannot be written: {getattr(error, 'strerror', None) or error}") from None
    finally:
        with suppress(OSError):  # it is in its place, or was never written
            if part:
                part.unlink()


@contextmanager
def written_together(folder: Path, last: str, again: str, command: str = "", force: bool = False) -> Iterator[Path]:
    """A temporary folder, whose files move into `folder` once all are written, the file `last` after the others.

    Files of the same names are replaced then and not before, and all other files stay. With a `command`, only files
    that it wrote there are replaced, unless `force`, and its manifest is written. Raises InputError where
    something cannot be written; its message ends with `again`, which says how to get the files all the same.
    """
    part = folder / PART
    try:
        shutil.rmtree(part, ignore_errors=True)  # left by a run that was killed here
        part.mkdir(parents=True)
        yield part
        files = sorted((path for path in part.rglob("*") if path.is_file()), key=lambda path: path == part / last)
        targets = {path: folder / path.relative_to(part) for path in files}
        targets = {path: target for path, target in targets.items() if not _same(path, target)}
        _check_targets(targets.values(), folder, command, force)
        if command:
            before = Manifest.read(folder, command).hashes
            own = part / manifest_name(command)
            own.write_text(manifest_text(command, targets, {n: h for n, h in before.items() if (folder / n).exists()}))
            targets[own] = folder / own.name
        for path, target in targets.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)
    except OSError as error:
        message = f"the results cannot be written ({error.strerror}): {again}"
        raise InputError(Fault("out", None, str(folder), message)) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
        with suppress(OSError):  # it holds other files
            folder.rmdir()


def _same(path: Path, target: Path) -> bool:
    """Whether a file is already there with the same content, as a mapping that is written beside its own program."""
    return target.is_file() and is_input(target) and filecmp.cmp(path, target, shallow=False)


def _check_targets(targets: Iterable[Path], folder: Path, command: str, force: bool) -> None:
    """Raise InputError with every file that cannot take its place."""
    if command:
        faults = Manifest.read(folder, command).faults("out", folder, [path.name for path in targets], force)
    else:
        read = "is read by this command: name another folder"
        faults = [Fault("out", None, str(path), read) for path in targets if is_input(path)]
        rule = "cannot be written: it is a directory"
        faults += [Fault("out", None, str(path), rule) for path in targets if path.is_dir()]
    if faults:
        raise InputError(faults)


def _failed(path: Path | str, message: str) -> InputError:
    return InputError(Fault(str(path), None, "", message))
