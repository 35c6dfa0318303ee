"""State on disk: an SQLite file that a single run uses at a time, with a checksum in each row.

A change is one transaction, so a kill at any moment leaves what was there before it or after it. Whatever is wrong with
the file is reported in the user's words; nothing in it is then changed, and it is never removed.
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...workloads import Fault, InputError
from .sqlite_errors import SqliteFault, check_schema, foreign_beside, sqlite_fault

WAIT = 0.2  # seconds for a file that another run is about to leave

Row = tuple[Any, ...]


def folder_faults(folder: Path, name: str) -> list[Fault]:
    """Say why a run cannot begin, or go on, in `folder`, where the state of runs is in the file `name`.

    Called before anything is computed, so that nothing is lost. A state that is there decides itself who may go on.
    """
    try:
        message = _folder_fault(folder, name)
    except OSError as error:
        message = f"cannot be used ({error.strerror})"
    return [Fault("out", None, str(folder), message)] if message else []


def _folder_fault(folder: Path, name: str) -> str:
    state = folder / name
    if state.exists() and (state.stat().st_size or not state.is_file()):
        return ""
    if folder.is_dir() and any(path.name not in (name, f"{name}-journal") for path in folder.iterdir()):
        return f"already holds files but no {name}, and results are never mixed: name another folder or remove it"
    if folder.exists() and not folder.is_dir():
        return "must be a folder, but is a file"
    above = next(parent for parent in folder.absolute().parents if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        return f"cannot be made: {above} is not a folder that you may write to"
    return ""


class StateFile:
    """An open file, locked until `close`; without a path in memory alone.

    `kind` is what it is to the user, "checkpoint"; `again` how to go on where it cannot be written.
    """

    def __init__(self, path: Path | None, kind: str, again: str) -> None:
        """Make the file and the folders above it, or open it. Raises InputError where it cannot be, or is damaged."""
        self.path, self.kind, self.again = path, kind, again
        # the folders made for it, the innermost first
        self.made = [folder for folder in path.parents if not folder.exists()] if path else []
        if path and (other := foreign_beside(path)):
            raise self.fault(other)
        with self.guarded():
            if path:
                path.parent.mkdir(parents=True, exist_ok=True)
            self.database = sqlite3.connect(path or ":memory:", timeout=WAIT, isolation_level=None)
        try:
            with self.guarded():
                self.database.execute("PRAGMA locking_mode = EXCLUSIVE")
                self.database.execute("BEGIN EXCLUSIVE")
                self._sound()
                if path and path.with_name(f"{path.name}-journal").exists():
                    self.database.execute("PRAGMA user_version = 0")  # a change uses up what a killed run left there
                self._place = self._where()
        except BaseException:
            self.close()
            raise

    @property
    def tables(self) -> set[str]:
        """The names of its tables: none where it is new."""
        return {name for (name,) in self.database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def columns(self, table: str) -> list[str]:
        """The names of its columns."""
        return [name for _, name, *_ in self.database.execute(f"PRAGMA table_info({table})")]

    def rows(self, table: str, where: str = "true", *values: object) -> list[Row]:
        """Read rows of a table, without their checksums. Raises InputError where a row is not what was written."""
        return list(self.one_by_one(table, where, *values))

    def one_by_one(self, table: str, where: str = "true", *values: object) -> Iterator[Row]:
        """Read rows as `rows` does, but keep none; raises only once the last is read. None may be written meanwhile."""
        damaged = count = 0
        with self.guarded():
            for row in self.database.execute(f"SELECT * FROM {table} WHERE {where}", values):
                count += 1
                if row[-1] == checksum(row[:-1]):
                    yield row[:-1]
                else:
                    damaged += 1
        if damaged:
            raise self.damaged(f"{damaged:,} of {count:,} rows of {table} do not say what was written")

    def put(self, table: str, row: Sequence[object]) -> None:
        """Write a row, in the place of a row with its key; outside of a transaction it is durable on return."""
        with self.guarded():
            places = ", ".join("?" * (len(row) + 1))
            self.database.execute(f"INSERT OR REPLACE INTO {table} VALUES ({places})", (*row, checksum(row)))

    def add_checksums(self, table: str) -> None:
        """Give a table of a time before there were checksums its column, and every row its own."""
        rows = self.database.execute(f"SELECT rowid, * FROM {table}").fetchall()
        self.database.execute(f"ALTER TABLE {table} ADD COLUMN checksum TEXT")
        sums = [(checksum(row), rowid) for rowid, *row in rows]
        self.database.executemany(f"UPDATE {table} SET checksum = ? WHERE rowid = ?", sums)

    def commit(self) -> None:
        """End the transaction in which the file was opened; from here on each row is its own transaction."""
        with self.guarded():
            self.database.execute("COMMIT")

    def own(self) -> bool:
        """Whether the file is still where it was made: not removed, and no other put in its place."""
        return self._where() == self._place

    def close(self) -> None:
        """Give up the lock; what was written stays."""
        self.database.close()

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Turn errors of the file into faults; SQLite has then rolled back the last transaction."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._fault_of(error) from None
        except UnicodeDecodeError as error:
            raise self.damaged(str(error)) from None
        except OSError as error:
            raise self.fault(f"cannot be made ({error.strerror})") from None

    def fault(self, message: str) -> InputError:
        """Make the error of a fault in the file."""
        return InputError(Fault("out", None, str(self.path), message))

    def damaged(self, how: str) -> InputError:
        """Make the error of a file that is damaged, or of another kind."""
        return self.fault(f"is no {self.kind}, or damaged ({how}); it is left as it is: name another folder")

    def _fault_of(self, error: sqlite3.Error) -> InputError:
        """Say what an error of SQLite means to the user."""
        kind = sqlite_fault(error)
        if kind is SqliteFault.IN_USE:
            return self.fault("is in use by another run")
        if kind is SqliteFault.NOT_WRITTEN:
            return self.fault(f"cannot be written ({error}); what it held before is intact: {self.again}")
        return self.damaged(str(error))

    def _sound(self) -> None:
        """Raise InputError where the file's own structure is broken, or holds what no run makes."""
        if other := check_schema(self.database):
            raise self.damaged(other)
        ((verdict,),) = self.database.execute("PRAGMA integrity_check(1)").fetchall()
        if verdict != "ok":
            raise self.damaged(" ".join(verdict.split()))

    def _where(self) -> tuple[int, int] | None:
        """Device and inode of the file at the path; None where there is none."""
        if self.path is None:
            return None
        try:
            status = os.stat(self.path)
        except OSError:
            return None
        return status.st_dev, status.st_ino


def checksum(row: Sequence[object]) -> str:
    """Hash the values of a row, in their order; the same in every process.

    >>> checksum([1, "a"])
    '4a72386a027702c1'
    """
    return hashlib.sha256(json.dumps(list(row), default=repr).encode()).hexdigest()[:16]
