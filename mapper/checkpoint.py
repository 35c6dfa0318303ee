"""The checkpoint of a run: one SQLite file, `checkpoint.sqlite`, from which a killed run goes on.

It holds who wrote it (format and program), what is searched (an identity of plain values and hashes), and the state of
each layer's search. Each save is one transaction, so a kill at any moment leaves the state before or after it. The
file is locked while a run uses it; the lock ends with the process.
"""

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from ..workloads import Fault, InputError

NAME = "checkpoint.sqlite"
FORMAT = "2"  # of the file and of the states in it; also when the same seed comes to mean other mappings
EVERY = 1.0  # seconds between saves of one search

State = dict[str, Any]


def fingerprint(value: object) -> str:
    """A hash of dataclasses, mappings, sequences, sets and plain values; the same in every process."""
    return hashlib.sha256(json.dumps(_plain(value), sort_keys=True).encode()).hexdigest()[:16]


def _plain(value: object) -> object:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        shown = {field.name: _plain(getattr(value, field.name)) for field in fields(value) if field.repr}
        return [type(value).__name__, shown]
    if isinstance(value, Mapping):
        return sorted(([_plain(key), _plain(one)] for key, one in value.items()), key=repr)
    if isinstance(value, set | frozenset):
        return sorted((_plain(one) for one in value), key=repr)
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"no fingerprint of {type(value).__name__}")


def identity(options: object, without: Sequence[str] = (), **problem: object) -> State:
    """What tells one problem from another: the options but those in `without`; of what is no plain value name, hash."""
    chosen = {field.name: getattr(options, field.name) for field in fields(options) if field.name not in without}  # type: ignore[arg-type]
    every = problem | chosen
    return {key: _named(value) if is_dataclass(value) else value for key, value in every.items()}


def _named(value: object) -> State:
    return {"name": getattr(value, "name", None), "hash": fingerprint(value)}


def _difference(key: str, there: object, here: object) -> str:
    """How a value differs, by names and not by hashes."""
    if isinstance(there, dict) and isinstance(here, dict):
        name, other = there["name"], here["name"]
        if name == other:
            return f"{key} (other contents{f' of the same name, {json.dumps(name)}' if name else ''})"
        there, here = name, other
    shown = ["none" if one is None or one == "" else json.dumps(one, ensure_ascii=False) for one in (there, here)]
    return f"{key} (there {shown[0]}, here {shown[1]})"


class Checkpoint:
    """An open checkpoint, locked until `close`; a context manager."""

    def __init__(self, folder: Path, identity: Mapping[str, object], *, resume: bool = False) -> None:
        """Make or open the checkpoint in `folder`.

        Raises InputError, and changes nothing, where it cannot be written, another run uses it, another version wrote
        it, it is of another problem, or it holds a run and `resume` is not asked for.
        """
        self.path = folder / NAME
        with self._guarded():
            folder.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, timeout=0, isolation_level=None)
        try:
            with self._guarded():
                self._open(json.loads(json.dumps(dict(identity))), resume)
        except BaseException:
            self.close()
            raise

    def _open(self, identity: dict[str, object], resume: bool) -> None:
        db = self._connection
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("BEGIN EXCLUSIVE")
        if db.execute("SELECT 1 FROM sqlite_master").fetchone():
            faults = self._differences(identity) or ([] if resume else [self._fault(f"{HELD}, or name another folder")])
            db.execute("COMMIT")
            if faults:
                raise InputError(faults)
            return
        db.execute("CREATE TABLE run (format TEXT, program TEXT, identity TEXT)")
        db.execute("CREATE TABLE search (part INTEGER PRIMARY KEY, state TEXT)")
        db.execute("INSERT INTO run VALUES (?, ?, ?)", (FORMAT, version("ruby-map"), json.dumps(identity)))
        db.execute("COMMIT")

    def _differences(self, identity: dict[str, object]) -> list[Fault]:
        form, program, theirs = self._connection.execute("SELECT format, program, identity FROM run").fetchone()
        here = version("ruby-map")
        if (form, program) != (FORMAT, here):
            said = f"was written by ruby-map {program} (format {form}), and this is {here} (format {FORMAT})"
            return [self._fault(f"{said}: finish it with that version, or name another folder")]
        other = json.loads(theirs)
        # a proof may go on with another time limit
        free = {"time_limit"} if identity.get("strategy") == "optimal" else set()
        differing = [key for key in identity | other if key not in free and identity.get(key) != other.get(key)]
        told = "; ".join(_difference(key, other.get(key), identity.get(key)) for key in differing)
        return [self._fault(f"is of another problem, and results are never mixed: {told}")] if told else []

    def part(self, number: int) -> "Part":
        """The place of the search of layer `number`."""
        return Part(self, number)

    def load(self, number: int) -> State | None:
        """The state last saved of that search."""
        found = self._connection.execute("SELECT state FROM search WHERE part = ?", (number,)).fetchone()
        return json.loads(found[0]) if found else None

    def save(self, number: int, state: State) -> None:
        """Replace the state of that search, wholly or not at all. Raises InputError where it cannot be written."""
        with self._guarded():
            self._connection.execute("INSERT OR REPLACE INTO search VALUES (?, ?)", (number, json.dumps(state)))

    def discard(self) -> None:
        """Remove the file, and its folder if nothing else is in it: of a run that found nothing to keep."""
        self.close()
        self.path.unlink(missing_ok=True)
        if not any(self.path.parent.iterdir()):
            self.path.parent.rmdir()

    def close(self) -> None:
        """Give up the lock; what was saved stays."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Errors of the file in the user's words; SQLite has then put the last transaction right."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise InputError(self._fault("is in use by another run")) from None
            raise InputError(self._fault(f"cannot be written ({error}); {INTACT}")) from None
        except OSError as error:
            raise InputError(self._fault(f"cannot be made ({error.strerror})")) from None
        except sqlite3.DatabaseError as error:
            raise InputError(self._fault(f"is no checkpoint ({error})")) from None

    def _fault(self, message: str) -> Fault:
        return Fault("out", None, str(self.path), message)


HELD = "holds a run of this problem: give --resume to go on with it"
INTACT = "what it held before is intact: make room and go on with --resume"


@dataclass
class Part:
    """Where one search keeps its state."""

    checkpoint: Checkpoint
    number: int
    saved: float = 0.0  # when, by the monotonic clock
    final: bool = False  # what has ended is told again, whatever the time limit is now

    def load(self) -> State | None:
        """The state to go on from; None at the beginning."""
        return self.checkpoint.load(self.number)

    def save(self, state: State) -> None:
        """Keep `state`."""
        self.checkpoint.save(self.number, state)
        self.saved = time.monotonic()

    def offer(self, state: Callable[[], State]) -> None:
        """Keep what `state` gives, if the last was kept long enough ago."""
        if time.monotonic() - self.saved >= EVERY:
            self.save(state())
