"""The checkpoint of a run: one file, `checkpoint.sqlite`, from which a killed run goes on (state_file.py).

It holds who wrote it (format and program), what is searched (an identity of plain values and hashes), and the state of
each layer's search. The file is locked while a run uses it; the lock ends with the process.
"""

import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from ...workloads import Fault, InputError
from .state_file import StateFile

NAME = "checkpoint.sqlite"
FORMAT = "3"  # of the file and of the states in it; also when the same seed comes to mean other mappings
BEFORE = "2"  # the same without checksums: it is read, and given them
EVERY = 1.0  # seconds between saves of one search
BEGUN = "begun"  # the table of mappings that searches began with; files from before it have none

State = dict[str, Any]


def _given(value: object) -> object:
    """An option that is not given: none, or an empty text; files from before it have nothing."""
    return None if value == "" else value


def _difference(key: str, stored: object, current: object) -> str:
    """Say how a value differs, by names and not by hashes."""
    if isinstance(stored, dict) and isinstance(current, dict):
        name, other = stored.get("name"), current.get("name")
        if name == other:
            return f"{key} (other contents{f' of the same name, {json.dumps(name)}' if name else ''})"
        stored, current = name, other
    values = (stored, current)
    shown = ["none" if value is None or value == "" else json.dumps(value, ensure_ascii=False) for value in values]
    return f"{key} (there {shown[0]}, here {shown[1]})"


class Checkpoint:
    """An open checkpoint, locked until `close`; a context manager."""

    def __init__(
        self,
        folder: Path,
        identity: Mapping[str, object],
        *,
        resume: bool = False,
        free: Collection[str] = (),
        added: Collection[str] = (),
    ) -> None:
        """Make or open the checkpoint in `folder`.

        Raises InputError, and changes nothing, where it cannot be written, another run uses it, another version wrote
        it, it is damaged or of another problem, or it holds a run and `resume` is not asked for.
        The parts of the identity in `free` may differ; those in `added` may be given where there were none, and are
        parts of it from then on.
        """
        self.path, self._free, self._added = folder / NAME, frozenset(free), frozenset(added)
        self._file = StateFile(self.path, "checkpoint", "make room and go on with --resume")
        try:
            with self._file.guarded():
                self._open(json.loads(json.dumps(dict(identity))), resume)
            self._file.commit()
        except BaseException:
            self.close()
            raise

    def _open(self, identity: dict[str, object], resume: bool) -> None:
        if self._file.tables:
            form = self._format()
            if faults := self._differences(form, identity):
                raise InputError(faults)
            if not resume:
                raise self._file.fault(f"{HELD}, or name another folder")
            if form == BEFORE:
                self._renew()
            stored = self._identity(FORMAT)
            whole = stored | {
                key: value for key, value in identity.items() if key in self._added and _given(value) is not None
            }
            if whole != stored:
                self._file.database.execute("DELETE FROM run")
                self._file.put("run", (FORMAT, version("ruby-map"), json.dumps(whole)))
            self._file.rows("search")  # all of them are sound, or nothing is done
            return
        self._file.database.execute("CREATE TABLE run (format TEXT, program TEXT, identity TEXT, checksum TEXT)")
        self._file.database.execute("CREATE TABLE search (part INTEGER PRIMARY KEY, state TEXT, checksum TEXT)")
        self._file.put("run", (FORMAT, version("ruby-map"), json.dumps(identity)))

    def _format(self) -> str:
        """Read the format of the file. Raises InputError where another version wrote it."""
        runs = self._file.database.execute("SELECT format, program FROM run").fetchall()
        if len(runs) != 1:
            raise self._file.damaged(f"{len(runs)} runs in it")
        ((form, program),) = runs
        own_version = version("ruby-map")
        if program != own_version or form not in (BEFORE, FORMAT):
            origin = f"was written by ruby-map {program} (format {form}), and this is {own_version} (format {FORMAT})"
            raise self._file.fault(f"{origin}: finish it with that version, or name another folder")
        return str(form)

    def _renew(self) -> None:
        """Add checksums to a file of the format before. Raises InputError where it is damaged."""
        for _, text in self._file.database.execute("SELECT part, state FROM search"):
            state = self._plain(text)
            if not isinstance(state.get("statistics"), dict) or "stopped_by" not in state["statistics"]:
                raise self._file.damaged("a search without its statistics")
        self._file.database.execute("UPDATE run SET format = ?", (FORMAT,))
        for table in ("run", "search"):
            self._file.add_checksums(table)

    def _identity(self, form: str) -> State:
        """Read what is searched there."""
        if form == BEFORE:
            ((text,),) = self._file.database.execute("SELECT identity FROM run").fetchall()
        else:
            ((_, _, text),) = self._file.rows("run")
        return self._plain(text)

    def _differences(self, form: str, identity: dict[str, object]) -> list[Fault]:
        other = self._identity(form)
        differing = [
            key
            for key in identity | other
            if key not in self._free
            and _given(identity.get(key)) != _given(other.get(key))
            and not (key in self._added and _given(other.get(key)) is None)
        ]
        differences = "; ".join(_difference(key, other.get(key), identity.get(key)) for key in differing)
        rule = f"is of another problem, and results are never mixed: {differences}"
        return [Fault("out", None, str(self.path), rule)] if differences else []

    def _plain(self, text: object) -> State:
        """Read a text of the file as a JSON object. Raises InputError where it is none."""
        try:
            state = json.loads(text) if isinstance(text, str) else None
        except ValueError as error:
            raise self._file.damaged(str(error)) from None
        if not isinstance(state, dict):
            raise self._file.damaged("not an object where one was written")
        return state

    def part(self, number: int) -> "Part":
        """The place of the search of layer `number`."""
        return Part(self, number)

    def load(self, number: int) -> State | None:
        """Read the state last saved of that search; None before the first."""
        rows = self._file.rows("search", "part = ?", number)
        return self._plain(rows[0][1]) if rows else None

    def save(self, number: int, state: State) -> None:
        """Replace the state of that search, wholly or not at all. Raises InputError where it cannot be written."""
        self._file.put("search", (number, json.dumps(state)))

    def starts_of(self, number: int) -> list[State]:
        """Read the mappings, as plain values, that the search of layer `number` began with; none before the first."""
        if BEGUN not in self._file.tables:
            return []
        rows = self._file.rows(BEGUN, "part = ?", number)
        return list(self._plain(rows[0][1])["mappings"]) if rows else []

    def begin(self, number: int, mappings: Sequence[State]) -> None:
        """Keep the mappings that the search of layer `number` begins with, in place of those kept before."""
        with self._file.guarded():
            self._file.database.execute(
                f"CREATE TABLE IF NOT EXISTS {BEGUN} (part INTEGER PRIMARY KEY, mappings TEXT, checksum TEXT)"
            )
        self._file.put(BEGUN, (number, json.dumps({"mappings": list(mappings)})))

    def check_place(self) -> None:
        """Raise InputError where the file was removed, or another put in its place, since it was opened."""
        if not self._file.own():
            raise self._file.fault("was removed or replaced while the run went on: no results are written there")

    def discard(self) -> None:
        """Remove the file, and the folders that were made for it if nothing else is in them: after no result."""
        self.check_place()
        self.close()
        self.path.unlink()
        for folder in self._file.made:
            if any(folder.iterdir()):
                break
            folder.rmdir()

    def close(self) -> None:
        """Give up the lock; what was saved stays."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close it; remove it where bad input was found before a search began."""
        if kind and issubclass(kind, InputError) and self._file.own() and not self._file.rows("search"):
            self.discard()
        self.close()


HELD = "holds a run of this problem: give --resume to go on with it"


@dataclass
class Part:
    """The place in a checkpoint where a search keeps its state."""

    checkpoint: Checkpoint
    number: int
    saved: float = 0.0  # when, by the monotonic clock
    final: bool = False  # a search that has ended is reported again, whatever the time limit is now

    def load(self) -> State | None:
        """Read the state to go on from; None at the beginning."""
        return self.checkpoint.load(self.number)

    def save(self, state: State) -> None:
        """Save `state`."""
        self.checkpoint.save(self.number, state)
        self.saved = time.monotonic()

    def offer(self, state: Callable[[], State]) -> None:
        """Save what `state` gives, if the last save was long enough ago."""
        if time.monotonic() - self.saved >= EVERY:
            self.save(state())
