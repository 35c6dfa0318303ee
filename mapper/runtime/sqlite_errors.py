"""What an error of SQLite means to a user, and the warning about a file of mappings."""

import sqlite3
from enum import Enum
from pathlib import Path

from ...workloads import ToldWarning

_IN_USE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_NOT_WRITTEN = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_NOMEM,
)

# what SQLite names after a file, and how such files of its own begin, unless with zeros
_BESIDE = {
    "-journal": (b"\xd9\xd5\x05\xf9",),
    "-wal": (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83"),
    "-shm": (b"\x18\xe2\x2d\x00", b"\x00\x2d\xe2\x18"),
}


class StoreWarning(ToldWarning):
    """Says that a store holds something wrong, or could not be written."""


class SqliteFault(Enum):
    """The kinds of errors."""

    IN_USE = "in use"  # by another process
    NOT_WRITTEN = "not written"  # what the file held before is intact
    DAMAGED = "damaged"  # or no file of SQLite


def check_schema(database: sqlite3.Connection) -> str:
    """Say what a file holds that no program of ours makes; empty where it is nothing.

    A view, a trigger or a virtual table is a program of somebody else: a recursive view in the place of a table never
    ends. Nothing but the list of what there is has been read then.
    """
    rows = database.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    for kind, name, text in rows:
        table = kind == "table" and str(text).upper().startswith("CREATE TABLE")
        if not (table or kind == "index"):
            return f"it has a {kind if kind in ('view', 'trigger') else 'virtual table'}: {name}"
    return ""


def foreign_beside(path: Path) -> str:
    """Say which file beside `path` is in the way: SQLite takes it for its own by the name, and removes it."""
    for ending, beginnings in _BESIDE.items():
        beside = path.with_name(path.name + ending)
        try:
            with beside.open("rb") as file:
                head = file.read(4)
        except FileNotFoundError:
            continue
        except OSError as error:
            return f"{beside} cannot be read: {error.strerror}"
        if head.strip(b"\0") and not head.startswith(beginnings):
            return f"{beside} is not SQLite's, which would remove it: move it away, or name another file"
    return ""


def sqlite_fault(error: sqlite3.Error) -> SqliteFault:
    """Return the kind of an error."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # the rest of it says how
    if code in _IN_USE:
        return SqliteFault.IN_USE
    return SqliteFault.NOT_WRITTEN if code in _NOT_WRITTEN else SqliteFault.DAMAGED
