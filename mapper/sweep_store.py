"""What a sweep has done so far, in one SQLite file: a transaction per point, so that an end at any time loses none."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from ..workloads import Fault, InputError
from .report import Json
from .sweep_plan import DIGEST

STORE = "sweep.sqlite"
OUTPUTS = ("results.csv", "results.json", "pareto.json", "pareto.png", "report.html")

FOUND, NOTHING_VALID, FAILED = "found", "nothing valid", "failed"  # a point's status


@dataclass(frozen=True)
class Outcome:
    """What came of one point."""

    status: str
    result: Json | None = None  # the object of `ruby-map --json`; None where the point failed
    message: str = ""  # why it failed, or why nothing was valid
    warnings: tuple[str, ...] = ()
    power_pj_per_cycle: float | None = None


class Store:
    """The outcomes of a sweep by the keys of its points; in a file, or in memory where `path` is None."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database

    def done(self) -> dict[str, Outcome]:
        """Every outcome; those that failed are left out, to be tried again."""
        rows = self.database.execute("SELECT key, outcome FROM points WHERE status != ?", (FAILED,))
        return {key: _outcome(text) for key, text in rows}

    def add(self, key: str, outcome: Outcome) -> None:
        """Record one point, for good once this returns."""
        with self.database:
            row = (key, outcome.status, json.dumps(asdict(outcome), allow_nan=False))
            self.database.execute("INSERT OR REPLACE INTO points VALUES (?, ?, ?)", row)


def _outcome(text: str) -> Outcome:
    fields = json.loads(text)
    return Outcome(**{**fields, "warnings": tuple(fields["warnings"])})


@contextmanager
def open_store(
    folder: Path | None, fingerprint: str, identity: Mapping[str, str], fresh: bool = False
) -> Iterator[Store]:
    """The store in `folder` for the sweep with `fingerprint`; emptied first where `fresh`.

    `identity` has the parts of the fingerprint by the user's names, to say what differs in a store of another sweep.
    Raises InputError for a store of another sweep, one in use, a file that is no store, and a folder of other things.
    """
    if folder is not None:
        faults = _folder_faults(folder)
        if faults:
            raise InputError(faults)
        folder.mkdir(parents=True, exist_ok=True)
    path = None if folder is None else folder / STORE
    database = sqlite3.connect(path or ":memory:", timeout=0.2)
    try:
        _open(database, path, fingerprint, identity, fresh)
        yield Store(database)
    finally:
        database.close()


def _folder_faults(folder: Path) -> list[Fault]:
    if folder.exists() and not folder.is_dir():
        return [_fault(folder, "must be a folder, but is a file")]
    if folder.is_dir() and any(folder.iterdir()) and not (folder / STORE).is_file():
        return [_fault(folder, f"holds files but no sweep ({STORE}), and results are never mixed: name another folder")]
    return []


def _open(
    database: sqlite3.Connection, path: Path | None, fingerprint: str, identity: Mapping[str, str], fresh: bool
) -> None:
    """Lock the database for this process, and see that it is this sweep's."""
    try:
        database.execute("PRAGMA locking_mode = EXCLUSIVE")  # released when closed: two sweeps never share a folder
        database.execute("BEGIN EXCLUSIVE")
        with database:
            database.execute("CREATE TABLE IF NOT EXISTS sweep (fingerprint TEXT NOT NULL)")
            columns = "key TEXT PRIMARY KEY, status TEXT NOT NULL, outcome TEXT NOT NULL"
            database.execute(f"CREATE TABLE IF NOT EXISTS points ({columns})")
            database.execute("CREATE TABLE IF NOT EXISTS identity (part TEXT PRIMARY KEY, value TEXT NOT NULL)")
            if fresh:
                for table in ("sweep", "identity", "points"):
                    database.execute(f"DELETE FROM {table}")
            known = database.execute("SELECT fingerprint FROM sweep").fetchall()
            there = dict(database.execute("SELECT part, value FROM identity").fetchall())
            if not known:
                database.execute("INSERT INTO sweep VALUES (?)", (fingerprint,))
                database.executemany("INSERT INTO identity VALUES (?, ?)", identity.items())
    except sqlite3.OperationalError as error:
        raise InputError(_fault(path, f"cannot be opened, another sweep may be writing there: {error}")) from None
    except sqlite3.DatabaseError as error:
        raise InputError(_fault(path, f"is not the store of a sweep: {error}")) from None
    if known and known[0][0] != fingerprint:
        what = "; ".join(_differences(there, identity)) or "its file, architecture, search or version"
        rule = "name another folder, or start anew with --fresh"
        raise InputError(_fault(path, f"holds another sweep, {rule}; what differs: {what}"))


def _differences(there: Mapping[str, str], here: Mapping[str, str]) -> Iterator[str]:
    """The parts that are not alike, as far as the store has them, with their values where they are short."""
    for part, value in here.items():
        if part in there and there[part] != value:
            yield part if value.startswith(DIGEST) else f"{part} ({there[part]} there, {value} here)"


def _fault(path: Path | None, message: str) -> Fault:
    return Fault("out", None, str(path), message)
