"""What a sweep has done so far, in one file (state_file.py): a transaction per point, so that an end loses none."""

import json
from collections.abc import Container, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...workloads import InputError
from ..report import Json
from ..runtime import StateFile, folder_faults
from .plan import DIGEST, UNSET

STORE = "sweep.sqlite"
TABLES = {
    "sweep": ("fingerprint TEXT NOT NULL",),
    "points": ("key TEXT PRIMARY KEY", "status TEXT NOT NULL", "outcome TEXT NOT NULL"),
    "sets": ("key TEXT PRIMARY KEY", "bounds TEXT NOT NULL"),
    "identity": ("part TEXT PRIMARY KEY", "value TEXT NOT NULL"),
}

FOUND, NOTHING_VALID, FAILED = "found", "nothing valid", "failed"  # a point's status


@dataclass(frozen=True)
class PointOutcome:
    """What came of one point."""

    status: str
    result: Json | None = None  # the object of `ruby-map --json`; None where the point failed
    message: str = ""  # why it failed, or why nothing was valid
    warnings: tuple[str, ...] = ()
    power_pj_per_cycle: float | None = None
    kept: bool = True  # the limits that are asked of mappings
    least: float | None = None  # no mapping that keeps them is below it by the objective; None: see the result
    none_keeps: bool = False  # it is proven that no mapping keeps them
    plan_file: str = ""  # of a network with a plan: the plan with its mappings, as the text of a file


ORIGIN = "another design"  # of a mapping that a point took from another


def taken(outcome: PointOutcome) -> bool:
    """Whether the point has mappings of other points."""
    whole: Any = outcome.result or {}
    return any(layer.get("origin") == ORIGIN for layer in whole.get("layers", [whole]))


class Store:
    """The outcomes of a sweep by the keys of its points; in a file, or in memory alone."""

    def __init__(self, file: StateFile) -> None:
        self.file = file

    def outcomes(self, keys: Container[str]) -> dict[str, PointOutcome]:
        """The outcomes with these keys; those that failed are left out, to be tried again.

        Raises InputError for a damaged store.
        """
        rows = self.file.one_by_one("points")
        return {key: self.read(text) for key, status, text in rows if status != FAILED and key in keys}

    def outcome(self, key: str) -> PointOutcome | None:
        """The outcome with this key; None where there is none, or it failed. Raises InputError where it is damaged."""
        rows = self.file.rows("points", "key = ?", key)
        return next((self.read(text) for _, status, text in rows if status != FAILED), None)

    def add(self, key: str, outcome: PointOutcome) -> None:
        """Record one point, for good once this returns. Raises InputError where that cannot be."""
        self._check_own()
        self.file.put("points", (key, outcome.status, json.dumps(asdict(outcome), allow_nan=False)))

    def bounds(self, key: str) -> Json | None:
        """What is proven of the set of designs with this key; None: nothing. Raises InputError where it is damaged."""
        try:
            return next((json.loads(text) for _, text in self.file.rows("sets", "key = ?", key)), None)
        except ValueError as error:
            raise self.file.damaged(f"bounds that are none: {error}") from None

    def add_bounds(self, key: str, bounds: Json) -> None:
        """Record what is proven of a set of designs. Raises InputError where that cannot be."""
        self._check_own()
        self.file.put("sets", (key, json.dumps(bounds, allow_nan=False)))

    def _check_own(self) -> None:
        if not self.file.own():
            raise self.file.fault("was removed or replaced while the sweep went on: nothing more is written there")

    def read(self, text: str) -> PointOutcome:
        """Read an outcome as it was written. Raises InputError for a text that is none."""
        try:
            fields = json.loads(text)
            return PointOutcome(**{**fields, "warnings": tuple(fields["warnings"])})
        except (ValueError, TypeError, KeyError) as error:  # of a time before there were checksums
            raise self.file.damaged(f"a point that is none: {error}") from None


@contextmanager
def open_store(
    folder: Path | None, fingerprint: str, identity: Mapping[str, str], fresh: bool = False
) -> Iterator[Store]:
    """The store in `folder` for the sweep with `fingerprint`; emptied first where `fresh`.

    `identity` has the parts of the fingerprint by the user's names, to say what differs in a store of another sweep.
    Raises InputError for a store of another sweep, one in use or damaged, a file that is no store, and a folder of
    other things.
    """
    if folder is not None and (faults := folder_faults(folder, STORE)):
        raise InputError(faults)
    again = "make room and run the same command again"
    with closing(StateFile(None if folder is None else folder / STORE, "store of a sweep", again)) as file:
        with file.guarded():
            _open(file, fingerprint, identity, fresh)
        file.commit()
        yield Store(file)


def _open(file: StateFile, fingerprint: str, identity: Mapping[str, str], fresh: bool) -> None:
    """See that the file is this sweep's, and make what it lacks."""
    if file.tables - TABLES.keys():
        raise file.damaged(f"tables of something else: {', '.join(sorted(file.tables - TABLES.keys()))}")
    for table, columns in TABLES.items():
        if len(file.columns(table)) == len(columns):
            file.add_checksums(table)
            if table == "points":
                for _, _, text in file.one_by_one(table):  # whose outcomes are some
                    Store(file).read(text)
        file.database.execute(f"CREATE TABLE IF NOT EXISTS {table} ({', '.join(columns)}, checksum TEXT)")
        if fresh:
            file.database.execute(f"DELETE FROM {table}")
    known = [row[0] for row in file.rows("sweep")]
    if not known and file.database.execute("SELECT 1 FROM points").fetchone():
        raise file.damaged("points of no sweep")
    if not known:
        file.put("sweep", (fingerprint,))
        for part, value in identity.items():
            file.put("identity", (part, value))
    elif known != [fingerprint]:
        what = "; ".join(_differences(dict(file.rows("identity")), identity))
        rule = "name another folder, or start anew with --fresh"
        what = what or "its file, architecture, search or version"
        raise file.fault(f"holds another sweep, {rule}; what differs: {what}")


def _differences(stored: Mapping[str, str], current: Mapping[str, str]) -> Iterator[str]:
    """The parts that are not alike, with their values where they are short."""
    for part, value in current.items() if stored else ():
        before = stored.get(part, UNSET)  # a part that came later
        if before != value:
            yield part if value.startswith(DIGEST) else f"{part} ({before} there, {value} here)"
