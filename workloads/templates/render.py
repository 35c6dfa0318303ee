"""Renders templates, within limits of time, memory and size."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from warnings import warn

from ..faults import Fault, InputError, InputWarning
from ..files import read_bytes
from ..reading import near

SECONDS = 20.0  # by the clock
OUTPUT = 1 << 24  # characters
WORKER = Path(__file__).with_name("worker.py")
Values = Mapping[str, str | int | float | bool]
_VALUES: ContextVar[Values | None] = ContextVar("_VALUES", default=None)
_NAMES: ContextVar[set[str]] = ContextVar("_NAMES")  # of the templates that were read
_ALIKE: ContextVar[dict[object, dict[str, Any]] | None] = ContextVar("_ALIKE", default=None)


@dataclass(frozen=True)
class Rendered:
    """The YAML that a template makes, and the files whose content stands for each of its marks `!included N`."""

    text: str
    included: tuple[tuple[tuple[Path, ...], str, bool], ...] = ()  # files, keys within, whether there may be several
    search: tuple[Path, ...] = ()  # the folders that the template added


@contextmanager
def template_values(values: Values) -> Iterator[None]:
    """Give values to the names of all templates that are read meanwhile. An InputWarning tells of names that none of
    them has."""
    token, names = _VALUES.set(values), _NAMES.set(set())
    try:
        yield
        for name in values.keys() - _NAMES.get():
            rule = f"no template that was read has this name{near(name, _NAMES.get())}"
            warn(f"template: {name} has no effect: {rule}", InputWarning, stacklevel=3)
    finally:
        _VALUES.reset(token)
        _NAMES.reset(names)


@contextmanager
def alike_rendered_once() -> Iterator[None]:
    """Render templates of one text in one folder once meanwhile: a folder of layers has many that are alike."""
    token = _ALIKE.set({})
    try:
        yield
    finally:
        _ALIKE.reset(token)


def is_template(text: str) -> bool:
    """Whether a text has marks of Jinja."""
    return any(mark in text for mark in ("{{", "{%", "{#"))


def rendered(path: Path, folders: tuple[Path, ...] = (), search: tuple[Path, ...] = ()) -> Rendered:
    """Render the template at `path`.

    It may read below `folders`; without them below the folder above its own, and below the current folder if it is
    there. Raises InputError: a name without a value, a file that is missing or elsewhere,
    no end after a few seconds, too much text.
    """
    whole = path.resolve()
    request = {
        "path": str(whole),
        "folders": [*map(str, folders or folders_of(whole))],
        "search": [*map(str, search)],
        "values": dict(_VALUES.get() or {}),
    }
    known, key = _ALIKE.get(), None
    if known is not None:
        key = (read_bytes(whole, OUTPUT), whole.parent, json.dumps({**request, "path": ""}))
    answer = known[key] if known is not None and key in known else _answered(path, request)
    if known is not None and "fault" not in answer:
        known[key] = answer
    if "fault" in answer:
        file = str(path) if answer["file"] in ("", str(whole)) else answer["file"]
        raise InputError(Fault(file, answer["line"], "", answer["fault"]))
    if (names := _NAMES.get(None)) is not None:
        names.update(answer["names"])
    if len(answer["text"]) > OUTPUT:
        raise InputError(Fault(str(path), None, "", f"makes {len(answer['text']):,} characters, over {OUTPUT:,}"))
    included = tuple((tuple(map(Path, files)), keys, several) for files, keys, several in answer["included"])
    return Rendered(answer["text"], included, tuple(map(Path, answer["search"])))


def _answered(path: Path, request: Mapping[str, object]) -> dict[str, Any]:
    """What the process that renders `path` answers. Raises InputError where it ends without an answer."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", str(WORKER)],  # not its folder, but the packages of this process
            input=json.dumps(request),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InputError(Fault(str(path), None, "", f"the template is not done after {SECONDS:g} s")) from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        why = "takes too much time or memory" if done.returncode < 0 else f"cannot be rendered: {last}"
        raise InputError(Fault(str(path), None, "", f"the template {why}"))
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def folders_of(path: Path) -> tuple[Path, ...]:
    """The folders that a template at an absolute `path` may read."""
    working_folder = Path.cwd()
    return (path.parent.parent, working_folder) if path.is_relative_to(working_folder) else (path.parent.parent,)
