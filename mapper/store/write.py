"""The rows of a store as they are written: each problem, mapping, origin and proof once."""

import json
import sqlite3

from ..problem import Json, Problem
from .rows import StoredMapping, StoredProof


def put_problem(database: sqlite3.Connection, problem: Problem) -> int:
    """Write a problem unless it is there; return its number."""
    row = database.execute("SELECT id FROM problem WHERE digest = ?", (problem.digest,)).fetchone()
    if row is None:
        content = as_text(problem.plain())
        names = problem.arch.name, problem.workload.name, problem.goal.text
        row = database.execute(
            "INSERT INTO problem (digest, arch, workload, objective, content) VALUES (?, ?, ?, ?, ?) RETURNING id",
            (problem.digest, *names, content),
        ).fetchone()
    return int(row[0])


def put_mapping(database: sqlite3.Connection, problem: int, held: StoredMapping, *, counted: bool) -> None:
    """Write a mapping, or add its origins to the same mapping; its costs replace those there if they are `counted`."""
    costs = as_text(held.costs)
    # as energy and cycles decide all our objectives, no two values are equal where the others differ
    value, following = held.values[0], held.values[1] if held.values[1:] else 0.0
    counts = "value = excluded.value, next_value = excluded.next_value, costs = excluded.costs, " if counted else ""
    ((number,),) = database.execute(
        "INSERT INTO mapping (problem, key, content, value, next_value, costs, date) VALUES (?, ?, ?, ?, ?, ?, ?) "
        f"ON CONFLICT (problem, key) DO UPDATE SET {counts}date = min(date, excluded.date) RETURNING id",
        (problem, held.key, as_text(held.mapping), value, following, costs, held.date),
    ).fetchall()
    database.executemany(
        "INSERT INTO origin VALUES (?, ?, ?, ?) "
        "ON CONFLICT (mapping, name, mapspace) DO UPDATE SET date = min(date, excluded.date)",
        [(number, origin.name, origin.mapspace, origin.date) for origin in held.origins],
    )


def put_proof(database: sqlite3.Connection, problem: int, proof: StoredProof) -> None:
    """Write a proof; of two about a mapspace the better stays, of equal ones the older."""
    better = "(excluded.optimal, excluded.lower_bound) > (optimal, lower_bound)"
    every = ("mapspace", "lower_bound", "optimal", "origin", "date")
    database.execute(
        "INSERT INTO proof (problem, remainders, mapspace, lower_bound, optimal, origin, date) "
        "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (problem, remainders) DO UPDATE SET "
        f"{', '.join(f'{name} = excluded.{name}' for name in every)} WHERE {better}",
        (
            problem, as_text(proof.remainders), proof.mapspace, proof.lower_bound, int(proof.optimal), proof.origin,
            proof.date,
        ),
    )  # fmt: skip


def as_text(value: Json | tuple[str, ...]) -> str:
    """Write values as JSON without blanks."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)
