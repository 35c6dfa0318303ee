"""Which files a command may write: none that it reads, and only with `--force` one that it did not write itself.

A file is recognised as a command's own by how it begins, and in a folder by a manifest: the names of the files that the
command wrote there, with a hash of each, so that a file changed since then is the user's.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..faults import Fault
from .inputs import is_input, kind_of

HEAD = 1 << 12  # bytes by which a file is recognised
OTHER = "name another file, or give --force to replace it"


@dataclass(frozen=True)
class OutputFile:
    """A file that an option of a command names, to be written there."""

    option: str
    path: Path
    kind: str  # what is written, as "a certificate"; empty: a command never knows such a file as its own
    own: Callable[[bytes], bool] = lambda _: False  # whether a file that begins so is of this kind
    force: bool = False

    def faults(self) -> list[Fault]:
        """Say why nothing can be written there."""
        message = self._fault()
        return [Fault(self.option, None, str(self.path), message)] if message else []

    def _fault(self) -> str:
        if "\0" in str(self.path):
            return "has a null character in its name"
        try:
            exists = os.path.lexists(self.path)
            if not exists or not self.path.exists():
                above = Path(os.path.realpath(self.path)).parent
                writable = above.is_dir() and os.access(above, os.W_OK)
                return "" if writable else f"cannot be written: {above} is not a folder that you may write to"
            if other := kind_of(self.path):
                return f"cannot be written: it is {other}"
            if is_input(self.path):
                return "is read by this command: name another file"
            if not os.access(self.path, os.W_OK):
                return "cannot be written: you may not write to it"
            if self.force:
                return ""
            with self.path.open("rb") as file:
                head = file.read(HEAD)
        except OSError as error:
            return f"cannot be written: {error.strerror}"
        rule = f"exists, and is not {self.kind}: {OTHER}" if self.kind else f"exists already: {OTHER}"
        return "" if not head or self.own(head) else rule


def output_faults(outputs: Iterable[OutputFile]) -> list[Fault]:
    """Say why files cannot be written, also as two of them would be one."""
    faults, options = list[Fault](), dict[str, str]()
    for output in outputs:
        faults += output.faults()
        other = options.setdefault(os.path.realpath(output.path), output.option)
        if other != output.option:
            faults.append(Fault(output.option, None, str(output.path), f"is written by {other}, too: name another"))
    return faults


def begins_with(*beginnings: str) -> Callable[[bytes], bool]:
    """Recognise a file by how it begins."""
    return lambda head: head.startswith(tuple(text.encode() for text in beginnings))


@dataclass(frozen=True)
class Manifest:
    """The files that a command has written into a folder: a hash of each by its name."""

    command: str
    hashes: Mapping[str, str]

    @classmethod
    def read(cls, folder: Path, command: str) -> "Manifest":
        """Read that of a folder; empty where there is none, or none that can be read."""
        try:
            content = json.loads((folder / manifest_name(command)).read_bytes())
            files = content["files"] if content["command"] == command else {}
            plain = [name for name in files if Path(name).name == name]  # no other folder's
            return cls(command, {name: str(files[name]) for name in plain})
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return cls(command, {})

    def unchanged(self, folder: Path) -> set[str]:
        """The names of the files that are as they were written."""
        return {name for name in self.hashes if not self._fault(folder / name, force=False)}

    def faults(self, option: str, folder: Path, names: Iterable[str], force: bool) -> list[Fault]:
        """Say which files of these names cannot be replaced."""
        checks = ((folder / name, self._fault(folder / name, force)) for name in sorted(names))
        return [Fault(option, None, str(path), message) for path, message in checks if message]

    def _fault(self, path: Path, force: bool) -> str:
        if not os.path.lexists(path):
            return ""
        if path.exists() and (other := kind_of(path)):
            return f"cannot be written: it is {other}"
        if is_input(path):
            return "is read by this command: name another folder"
        if force:
            return ""
        if path.name not in self.hashes:
            return f"exists, and {self.command} did not write it: name another folder, or give --force to replace it"
        with suppress(OSError):
            if file_hash(path) == self.hashes[path.name]:
                return ""
        return f"was changed since {self.command} wrote it: name another folder, or give --force to replace it"


def manifest_name(command: str) -> str:
    """The name of the manifest of a command's files."""
    return f".{command}.json"


def manifest_text(command: str, files: Iterable[Path], before: Mapping[str, str]) -> str:
    """The manifest of `files`, and of those that were written before and are still there."""
    hashes = {**before, **{path.name: file_hash(path) for path in files}}
    return json.dumps({"command": command, "files": hashes}, indent=1) + "\n"


def file_hash(path: Path) -> str:
    """The SHA-256 of a file's content. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
