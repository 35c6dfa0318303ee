"""Reads YAML files, templates among them, alone or several together."""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from .faults import Fault, InputError
from .files import read_bytes
from .reading import Document, Keys, parse_yaml, path_text
from .templates import folders_of, is_template, rendered

MAX_BYTES = 16 * 2**20
MAX_INCLUDED = 200  # files, by all templates of one file


def _text(path: Path) -> str:
    content = read_bytes(path, MAX_BYTES)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"not UTF-8 text: byte {error.start} is 0x{content[error.start]:02x}"
        raise InputError(Fault(str(path), None, "", message)) from None


class _Template:
    """Reads a template, and those that it includes, by the folders of the first."""

    def __init__(self, path: Path, tags: Collection[str]) -> None:
        self.tags, self.first, self.remaining = tags, path, MAX_INCLUDED

    def document(self, path: Path, around: tuple[Path, ...], search: tuple[Path, ...] = ()) -> Document:
        """The data of a file; `around`: the files that include it. Raises InputError."""
        self.remaining -= 1
        if path in around or self.remaining < 0:
            names = " -> ".join(map(str, (*around, path)))
            problem = "a template includes itself" if path in around else f"over {MAX_INCLUDED} files are included"
            raise InputError(Fault(str(around[0]), None, "", f"{problem}: {names}"))
        text = _text(path)
        if not is_template(text):
            return parse_yaml(text, str(path), self.tags)
        made = rendered(path, folders_of(self.first.resolve()), search)

        def included(number: int) -> Document:
            files, keys, several = made.included[number]
            parts = [self.part(file, keys, (*around, path), made.search) for file in files]
            return _listed(parts) if several else parts[0]

        return parse_yaml(made.text, str(path), self.tags, included)

    def part(self, file: Path, keys: str, around: tuple[Path, ...], search: tuple[Path, ...]) -> Document:
        """What a file holds under keys such as `a.b`; all of it without."""
        document = self.document(file, around, search)
        at: Keys = tuple(keys.split(".")) if keys else ()
        try:
            data = document.get(at)
        except (KeyError, IndexError, TypeError):
            raise InputError(document.fault((), f'has no "{path_text(at)}", which {around[-1]} includes')) from None
        places = {path[len(at) :]: place for path, place in document.places.items() if path[: len(at)] == at}
        return Document(document.source, data, places)


def _listed(parts: list[Document]) -> Document:
    places = {(number, *path): place for number, part in enumerate(parts) for path, place in part.places.items()}
    return Document(parts[0].source, [part.data for part in parts], places)


def _documents(paths: Iterable[Path], tags: Collection[str], faults: list[Fault]) -> Iterator[Document]:
    for path in paths:
        try:
            yield _Template(path, tags).document(path, ())
        except InputError as error:
            faults += error.faults


def read_yaml(*paths: Path | str, tags: Collection[str] = ()) -> Document:
    """The data of a file, or of several files whose root keys are put together.

    Raises InputError with the faults of all files: those of `parse_yaml`, files that are missing, unreadable, binary or
    huge, and a root key that two files share.
    """
    faults: list[Fault] = []
    documents = list(_documents(map(Path, paths), tags, faults))
    if len(paths) == 1 and not faults:
        return documents[0]
    data: dict[str, Any] = {}
    places: dict[Keys, tuple[str, int]] = {}
    for document in documents:
        if not isinstance(document.data, dict):
            faults.append(document.fault((), "a mapping at the root is expected where several files are put together"))
            continue
        for key in document.data.keys() & data.keys():
            source, line = places[(key,)]
            faults.append(document.fault((key,), f'duplicate key "{key}", first in {source}:{line}'))
        data = document.data | data
        places = {path: place for path, place in document.places.items() if path} | places
    if faults:
        raise InputError(faults)
    return Document(" + ".join(map(str, paths)), data, places)
