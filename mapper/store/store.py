"""`Store`: mappings found before, by problem, in one file; counted exactly, added and removed."""

import os
import sqlite3
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Self

import numpy as np

from ...energy import stacked_table
from ...workloads import InputError
from ..mapping import MappingBatch
from ..mapspace import violations
from ..model import evaluate, recount, validity
from ..problem import ROUNDING, Problem
from ..runtime import StoreWarning
from .file import StoreFile
from .mappings import key_of, plain_mappings, read_mappings
from .read import DamagedRow, read_best, read_problem, read_proofs
from .rows import Entry, MappingSource, Origin, StoredMapping, StoredProof, now
from .write import put_mapping, put_problem, put_proof

Costs = tuple[float, int]  # energy in pJ, cycles
MOST = 16  # mappings that a search begins with
_PLACE = "row_number() OVER (PARTITION BY problem ORDER BY value, next_value, key)"
_PLACED = f"SELECT id, date, {_PLACE} AS place FROM mapping"


def exact_costs(problem: Problem, batch: MappingBatch) -> list[Costs | None]:
    """Count each mapping of `batch`; None where it does not fit the machine, or violates its constraints."""
    table = stacked_table(problem.energies, batch.arch)
    all_costs: list[Costs | None] = []
    for i in range(len(batch)):
        one = batch.take([i])
        if validity(one)[0] or violations(one):
            all_costs.append(None)
            continue
        costs = evaluate(one, table, problem.charges, recount(one))
        all_costs.append((float(np.ravel(costs.energy_pj)[0]), int(np.ravel(costs.cycles)[0])))
    return all_costs


class Store:
    """An open store; a context manager. Its file may be open in several processes at once.

    `complete` is False once something that a search found could not be added.
    Methods raise InputError where the file is damaged or cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], *, new: bool = True) -> None:
        """Open a store; make it where there is none, unless `new` is False. Raises InputError."""
        self.file = StoreFile(Path(path), new=new)
        self.complete = True

    def add(self, problem: Problem, batch: MappingBatch, source: MappingSource, answers: Sequence[float] = ()) -> None:
        """Add the mappings of `batch` with their exact costs, and what is proven; wholly or not at all.

        `answers` are the values of the mappings where the problem's model is a command. Raises InputError where a
        mapping is not valid on the problem's machine.
        """
        date = source.date or now()
        origin, rows = Origin(date, source.origin, source.mapspace), list[StoredMapping]()
        for i, (mapping, costs) in enumerate(zip(plain_mappings(batch), exact_costs(problem, batch), strict=True)):
            if costs is None:
                raise self.file.fault("takes valid mappings alone, and one is not")
            values = (float(answers[i]),) if problem.goal.answered else problem.goal.values(*costs)
            rows.append(StoredMapping(key_of(mapping), mapping, values, *costs, date, (origin,), problem.goal.answered))
        with self.writing() as database:
            number = put_problem(database, problem)
            for held in rows:
                put_mapping(database, number, held, counted=True)
            if source.lower_bound is not None:
                what = source.mapspace, source.remainders, source.lower_bound, source.optimal, source.origin
                put_proof(database, number, StoredProof(*what, date))

    def best(self, problem: Problem) -> StoredMapping | None:
        """Return the best mapping held; None where there is none. Its costs are as stored: see `checked`."""
        return next(iter(self.rows(problem, 1)), None)

    def rows(self, problem: Problem, most: int = -1) -> list[StoredMapping]:
        """List the mappings of a problem, the best first, at most so many; -1: all."""
        with self.reading() as database:
            number = _number(database, problem.digest)
            return [] if number is None else list(read_best(database, number, problem, most))

    def checked(self, problem: Problem, most: int = MOST) -> list[tuple[StoredMapping, MappingBatch]]:
        """List the best mappings held, counted again, the best first; each also as a batch of one.

        A StoreWarning tells of those that differ from what is stored, and of those that are no valid mappings.
        """
        rows = self.rows(problem, most)
        batch, faults = read_mappings(problem.arch, problem.workload, [held.mapping for held in rows])
        for place, why in faults.items():
            self._warn(f"mapping {rows[place].key} of {problem.workload.name} cannot be read: {why}")
        good = [held for place, held in enumerate(rows) if place not in faults]
        recounted = []
        for i, (held, costs) in enumerate(zip(good, exact_costs(problem, batch), strict=True)):
            if costs is None:
                self._warn(f"mapping {held.key} of {problem.workload.name} is not valid there: left out")
                continue
            values = held.values if problem.goal.answered else problem.goal.values(*costs)
            counted = replace(held, energy_pj=costs[0], cycles=costs[1], values=values)
            if any(abs(a - b) > ROUNDING * b for a, b in zip(held.values, counted.values, strict=True)):
                what = f"{held.values[0]:g}, and counted again it is {counted.values[0]:g}"
                self._warn(f"mapping {held.key} of {problem.workload.name} is stored with {problem.goal.text} {what}")
                self._correct(problem, counted)
            recounted.append((counted, batch.take([i])))
        return sorted(recounted, key=lambda pair: (pair[0].values, pair[0].key))

    def _correct(self, problem: Problem, held: StoredMapping) -> None:
        """Write the costs of a mapping that were counted again, where the file can be written."""
        with suppress(InputError), self.writing() as database:
            put_mapping(database, put_problem(database, problem), held, counted=True)

    def proofs(self, problem: Problem) -> tuple[StoredProof, ...]:
        """List what is proven about the mapspaces of a problem."""
        with self.reading() as database:
            number = _number(database, problem.digest)
            return () if number is None else read_proofs(database, number)

    def problems(self, arch: str = "*", workload: str = "*", objective: str = "*") -> list[Entry]:
        """List the problems by names; `*` and `?` in a name stand for any characters."""
        with self.reading() as database:
            every = database.execute(
                "SELECT id, digest, arch, workload, objective FROM problem "
                "WHERE arch GLOB ? AND workload GLOB ? AND objective GLOB ? ORDER BY arch, workload, objective, digest",
                (arch, workload, objective),
            ).fetchall()
            return [_entry(database, row[0], row[1:]) for row in every]

    def problem(self, digest: str) -> Problem:
        """Read a problem by its digest or the beginning of it. Raises InputError where none has it, or several."""
        with self.reading() as database:
            rows = database.execute(
                "SELECT id, digest FROM problem WHERE digest >= ? AND digest < ?", (digest, f"{digest}g")
            ).fetchall()
            if len(rows) != 1:
                several = f"{len(rows)} problems begin with" if rows else "no problem has"
                raise self.file.fault(f'{several} the digest "{digest}"; `list` shows them')
            return read_problem(database, rows[0][0])

    def every(self, most: int = MOST) -> Iterator[tuple[Problem, list[StoredMapping]]]:
        """Yield each problem with the best mappings held of it, at most so many; -1: all. Costs are as stored.

        `read_mappings(arch, workload, [held.mapping ...])` makes a batch of them, for the problem's own machine and
        layer or for others with the same names.
        """
        with self.reading() as database:
            numbers = database.execute("SELECT id FROM problem ORDER BY digest").fetchall()
        for (number,) in numbers:
            with self.reading() as database:  # one by one: others may write between them
                if not database.execute("SELECT 1 FROM problem WHERE id = ?", (number,)).fetchone():
                    continue
                problem = read_problem(database, number)
                rows = list(read_best(database, number, problem, most))
            yield problem, rows

    def close(self) -> None:
        """Close the file; what was added stays."""
        self.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Read what is there at one moment."""
        with self._damage_told(), self.file.reading() as database:
            yield database

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Write wholly or not at all."""
        with self._damage_told(), self.file.writing() as database:
            yield database

    @contextmanager
    def _damage_told(self) -> Iterator[None]:
        try:
            yield
        except DamagedRow as error:
            raise self.file.damaged(str(error)) from None

    def _warn(self, text: str) -> None:
        warnings.warn(f"{self.file.path}: {text}", StoreWarning, stacklevel=3)


def _number(database: sqlite3.Connection, digest: str) -> int | None:
    row = database.execute("SELECT id FROM problem WHERE digest = ?", (digest,)).fetchone()
    return None if row is None else int(row[0])


def _entry(database: sqlite3.Connection, number: int, names: tuple[str, str, str, str]) -> Entry:
    """Make the line about a problem; `names`: its digest, machine, layer and objective."""
    problem = read_problem(database, number)
    ((mappings,),) = database.execute("SELECT count(*) FROM mapping WHERE problem = ?", (number,)).fetchall()
    best = next(read_best(database, number, problem, 1), None)
    return Entry(*names, mappings, best, read_proofs(database, number), problem.workload.title)


def prune(store: Store, keep: int | None = None, before: str | None = None) -> int:
    """Remove all but the `keep` best mappings of each problem, and those held since a date before `before` (UTC).

    The best mapping of a problem always stays, as do the proofs. Returns how many are removed; the file becomes
    smaller.
    """
    with store.writing() as database:
        removed = 0
        for condition, value in (("place > ?", keep), ("place > 1 AND date < ?", before)):
            if value is not None:
                where = f"id IN (SELECT id FROM ({_PLACED}) WHERE {condition})"
                removed += database.execute(f"DELETE FROM mapping WHERE {where}", (value,)).rowcount
    if removed:
        with store.file.guarded():
            store.file.database.execute("VACUUM")
    return removed
