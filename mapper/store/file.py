"""The file of a store: SQLite, for several processes at once.

A change is one transaction behind a rollback journal, so a kill at any moment leaves what was there before it or after
it, and nothing but the file itself. A process that finds it locked waits; the lock of a process that died is gone.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from ...workloads import Fault, InputError, collect
from ...workloads.outputs import note_input
from ..runtime import SqliteFault, check_schema, foreign_beside, sqlite_fault

FORMAT = 1
APPLICATION = 0x52554259  # "RUBY": what SQLite keeps of the program that a file belongs to
WAIT = 30.0  # seconds for another process to end its transaction
SCHEMA = """
CREATE TABLE store (program TEXT NOT NULL);
CREATE TABLE problem (
    id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, arch TEXT NOT NULL, workload TEXT NOT NULL,
    objective TEXT NOT NULL, content TEXT NOT NULL
);
CREATE TABLE mapping (
    id INTEGER PRIMARY KEY, problem INTEGER NOT NULL REFERENCES problem ON DELETE CASCADE, key TEXT NOT NULL,
    content TEXT NOT NULL, value REAL NOT NULL, next_value REAL NOT NULL, costs TEXT NOT NULL, date TEXT NOT NULL,
    UNIQUE (problem, key)
);
CREATE INDEX mapping_best ON mapping (problem, value, next_value, key);
CREATE TABLE origin (
    mapping INTEGER NOT NULL REFERENCES mapping ON DELETE CASCADE, name TEXT NOT NULL, mapspace TEXT NOT NULL,
    date TEXT NOT NULL, PRIMARY KEY (mapping, name, mapspace)
) WITHOUT ROWID;
CREATE TABLE proof (
    problem INTEGER NOT NULL REFERENCES problem ON DELETE CASCADE, remainders TEXT NOT NULL, mapspace TEXT NOT NULL,
    lower_bound REAL NOT NULL, optimal INTEGER NOT NULL, origin TEXT NOT NULL, date TEXT NOT NULL,
    PRIMARY KEY (problem, remainders)
) WITHOUT ROWID;
"""


class StoreFile:
    """An open file. Raises InputError where it is none of a store, damaged, of another version, or not usable."""

    def __init__(self, path: Path, *, new: bool = True) -> None:
        """Open the file; make it where there is none, unless `new` is False."""
        self.path = path
        if path.is_dir():
            raise self.fault("is a folder; a file is expected")
        if not new and not path.exists():
            raise self.fault("no such store")
        if other := foreign_beside(path):
            raise self.fault(other)
        with self.guarded():
            self.database = sqlite3.connect(path, timeout=WAIT, isolation_level=None)
        note_input(path)
        try:
            with self.guarded():
                self.database.execute("PRAGMA foreign_keys = ON")
                self._open(new)
        except BaseException:
            self.close()
            raise

    def _open(self, new: bool) -> None:
        if new and self._blank():
            with self.writing():
                if self._blank():  # no other process made it meanwhile
                    self._make()
        ((application,),) = self.database.execute("PRAGMA application_id").fetchall()
        ((form,),) = self.database.execute("PRAGMA user_version").fetchall()
        if other := check_schema(self.database):
            raise self.damaged(other)
        if application != APPLICATION:
            raise self.fault("is an SQLite file, but no store; it is left as it is: name another file")
        if form != FORMAT:
            raise self.fault(f"is a store of format {form}, and this version of ruby-map reads format {FORMAT}")

    def _blank(self) -> bool:
        return self.database.execute("SELECT 1 FROM sqlite_master").fetchone() is None

    def _make(self) -> None:
        for statement in SCHEMA.split(";"):
            self.database.execute(statement)
        self.database.execute("INSERT INTO store VALUES (?)", (version("ruby-map"),))
        self.database.execute(f"PRAGMA application_id = {APPLICATION}")
        self.database.execute(f"PRAGMA user_version = {FORMAT}")

    def check_writable(self) -> None:
        """Raise InputError where nothing can be written, before a search that would add to it."""
        with self.guarded():
            self.database.execute("BEGIN IMMEDIATE")
            try:
                self.database.execute("UPDATE store SET program = program")
            finally:
                self._undo()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Make one transaction of what is written; nothing of it remains where it fails. Raises InputError."""
        with self.guarded():
            self.database.execute("BEGIN IMMEDIATE")  # at once: a lock that is raised later may be refused
            try:
                yield self.database
                self.database.execute("COMMIT")
            except BaseException:
                self._undo()
                raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Read what is there at one moment. Raises InputError."""
        with self.guarded():
            self.database.execute("BEGIN")
            try:
                yield self.database
            finally:
                self._undo()

    def _undo(self) -> None:
        if self.database.in_transaction:  # SQLite may have rolled it back
            self.database.execute("ROLLBACK")

    def close(self) -> None:
        """Close the file; what was written stays."""
        self.database.close()

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Turn errors of the file into faults."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._fault_of(error) from None
        except UnicodeDecodeError as error:
            raise self.damaged(str(error)) from None

    def fault(self, message: str) -> InputError:
        """Make the error of a fault in the file."""
        return InputError(Fault(os.fspath(self.path), None, "", message))

    def damaged(self, how: str) -> InputError:
        """Make the error of a file that is damaged, or of another kind."""
        return self.fault(f"is no store, or damaged ({how}); it is left as it is: name another file")

    def _fault_of(self, error: sqlite3.Error) -> InputError:
        kind = sqlite_fault(error)
        if kind is SqliteFault.IN_USE:
            return self.fault(f"has been in use by another run for {WAIT:g} s: try again when that has ended")
        if kind is SqliteFault.NOT_WRITTEN:
            return self.fault(f"cannot be opened or written ({error}); what it held before is intact")
        return self.damaged(str(error))


def store_faults(path: Path) -> list[Fault]:
    """Say why mappings cannot be added to a store at `path`, which may be new. Nothing is changed."""
    faults: list[Fault] = []
    if path.exists() and (path.is_dir() or path.stat().st_size):
        collect(faults, lambda: _check(path))
    elif not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        where = os.fspath(path.parent)
        faults.append(
            Fault(os.fspath(path), None, "", f"cannot be made: {where} is not a folder that you may write to")
        )
    return faults


def _check(path: Path) -> None:
    file = StoreFile(path, new=False)
    try:
        file.check_writable()
    finally:
        file.close()
