"""The rows of a store as they are read: each is checked for what it should say."""

import json
import sqlite3
from collections.abc import Iterator
from math import isfinite
from typing import Any

from ..problem import Problem
from .mappings import key_of
from .rows import Origin, StoredMapping, StoredProof

ORIGINS = "(SELECT json_group_array(json_array(date, name, mapspace)) FROM origin WHERE origin.mapping = mapping.id)"
BEST = (
    f"SELECT key, content, costs, date, {ORIGINS} FROM mapping WHERE problem = ? "
    "ORDER BY value, next_value, key LIMIT ?"
)


class DamagedRow(ValueError):
    """A row does not say what was written."""


def read_problem(database: sqlite3.Connection, number: int) -> Problem:
    """Read a problem. Raises DamagedRow where its content is not what its digest says."""
    ((name, content),) = database.execute("SELECT digest, content FROM problem WHERE id = ?", (number,)).fetchall()
    return problem_of(name, _json(content, f"problem {name}"))


def problem_of(name: str, content: Any) -> Problem:
    """Read the plain values of a problem. Raises DamagedRow where they are not what its digest, `name`, says."""
    try:
        problem = Problem.of_plain(content)
        sound = problem.digest == name
        json.dumps(problem.plain(), allow_nan=False)  # also of what the digest leaves out
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise DamagedRow(f"problem {name}: {error}") from None
    if not sound:
        raise DamagedRow(f"problem {name} does not say what was written")
    return problem


def read_best(database: sqlite3.Connection, number: int, problem: Problem, most: int = -1) -> Iterator[StoredMapping]:
    """Read the mappings of a problem, the best first; -1: all of them. Raises DamagedRow."""
    for key, content, costs, date, origins in database.execute(BEST, (number, most)):
        mapping, figures = _json(content, f"mapping {key}"), _json(costs, f"mapping {key}")
        every = tuple(sorted(Origin(*origin) for origin in _json(origins, f"mapping {key}")))
        yield held_of(problem, key, mapping, figures, date, every)


def held_of(
    problem: Problem, key: str, mapping: Any, costs: Any, date: str, origins: tuple[Origin, ...]
) -> StoredMapping:
    """Make a held mapping from its values. Raises DamagedRow where they are not what the key says, or no costs."""
    try:
        energy_pj, cycles = float(costs["energy_pj"]), int(costs["cycles"])
        answer = (float(costs["answer"]),) if problem.goal.answered else ()
        values = answer or problem.goal.values(energy_pj, cycles)
        sound = key == key_of(mapping) and bool(origins) and all(isfinite(value) for value in values)
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise DamagedRow(f"mapping {key}: {error!r}") from None
    if not sound:
        raise DamagedRow(f"mapping {key} does not say what was written")
    return StoredMapping(key, mapping, values, energy_pj, cycles, date, origins, problem.goal.answered)


def read_proofs(database: sqlite3.Connection, number: int) -> tuple[StoredProof, ...]:
    """Read what is proven about the mapspaces of a problem. Raises DamagedRow."""
    rows = database.execute(
        "SELECT mapspace, remainders, lower_bound, optimal, origin, date FROM proof WHERE problem = ? "
        "ORDER BY mapspace, remainders",
        (number,),
    ).fetchall()
    return tuple(_proof(*row) for row in rows)


def _proof(
    mapspace: object, slots: object, bound: object, optimal: object, origin: object, date: object
) -> StoredProof:
    """Make a proof from its row. Raises DamagedRow."""
    texts, listed = (mapspace, origin, date), _json(slots, "proof")
    names = all(isinstance(text, str) for text in texts) and isinstance(listed, list)
    if not (names and isinstance(bound, float) and isfinite(bound) and all(isinstance(slot, str) for slot in listed)):
        raise DamagedRow(f"the proof about {mapspace!r} does not say what was written")
    return StoredProof(str(mapspace), tuple(listed), bound, bool(optimal), str(origin), str(date))


def _json(text: object, what: str) -> Any:
    """Read JSON. Raises DamagedRow."""
    try:
        return json.loads(text) if isinstance(text, str) else _fail()
    except (ValueError, RecursionError) as error:
        raise DamagedRow(f"{what}: {error}") from None


def _fail() -> Any:
    raise ValueError("no text where some was written")
