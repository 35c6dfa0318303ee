"""A store as JSON lines: exported, and merged into another store.

The first line is a header; then come problems, mappings and proofs, each on a line, a problem before what is of it.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ...workloads import Fault, InputError, read_bytes
from ..problem import Problem
from .mappings import key_of, plain_mappings, read_mappings
from .read import held_of, problem_of
from .rows import Origin, StoredMapping, StoredProof
from .store import Store
from .write import put_mapping, put_problem, put_proof

LINES = 1  # the format
MOST_BYTES = 1 << 32  # of a file
Date = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
Name = Annotated[str, Field(min_length=1)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class _Header(_Line):
    kind: Literal["store"]
    format: Literal[1]


class _Problem(_Line):
    kind: Literal["problem"]
    digest: Name
    content: dict[str, Any]


class _Mapping(_Line):
    kind: Literal["mapping"]
    problem: Name  # its digest
    mapping: dict[str, Any]
    energy_pj: Annotated[float, Field(ge=0)]
    cycles: Annotated[int, Field(ge=0)]
    answer: float | None = None  # of a cost model
    date: Date
    origins: Annotated[list[tuple[Date, Name, str]], Field(min_length=1)]


class _Proof(_Line):
    kind: Literal["proof"]
    problem: Name
    mapspace: str
    remainders: list[str]
    lower_bound: float
    optimal: bool
    origin: Name
    date: Date


Line = Annotated[_Header | _Problem | _Mapping | _Proof, Field(discriminator="kind")]
_READER: TypeAdapter[_Header | _Problem | _Mapping | _Proof] = TypeAdapter(Line)


def is_export(head: bytes) -> bool:
    """Whether a file that begins so is what `export_lines` wrote."""
    return head.startswith(b'{"kind": "store", "format": ')


def export_lines(store: Store) -> Iterator[str]:
    """Yield the lines of all that a store holds."""
    yield json.dumps({"kind": "store", "format": LINES})
    for problem, rows in store.every(-1):
        yield json.dumps({"kind": "problem", "digest": problem.digest, "content": problem.plain()})
        for held in rows:
            origins = [(origin.date, origin.name, origin.mapspace) for origin in held.origins]
            own = {"mapping": held.mapping, **held.costs, "date": held.date, "origins": origins}
            yield json.dumps({"kind": "mapping", "problem": problem.digest, **own})
        for proof in store.proofs(problem):
            yield json.dumps({"kind": "proof", "problem": problem.digest, **asdict(proof)})


def merge_lines(store: Store, path: Path) -> int:
    """Add all that the lines of a file hold, wholly or not at all; return the number of mappings in it.

    Costs of mappings that the store has stay as they are. Raises InputError with every fault of the file.
    """
    lines = _Lines(path)
    with store.writing() as database:
        numbers = {name: put_problem(database, problem) for name, problem in lines.problems.items()}
        for name, held in lines.mappings:
            put_mapping(database, numbers[name], held, counted=False)
        for name, proof in lines.proofs:
            put_proof(database, numbers[name], proof)
    return len(lines.mappings)


class _Lines:
    """The content of a file of lines. Raises InputError with every fault of it."""

    def __init__(self, path: Path) -> None:
        self.problems: dict[str, Problem] = {}
        self.mappings: list[tuple[str, StoredMapping]] = []
        self.proofs: list[tuple[str, StoredProof]] = []
        self.faults: list[Fault] = []
        self.path = path
        for number, line in enumerate(read_bytes(path, MOST_BYTES).splitlines(), 1):
            try:
                self._take(_READER.validate_json(line), first=number == 1)
            except ValidationError as error:
                self.faults += [self._fault(number, _text(detail)) for detail in error.errors()]
            except ValueError as error:
                self.faults.append(self._fault(number, str(error)))
        if not self.faults and not self.mappings:
            self.faults = [self._fault(None, "has no mappings")]
        if self.faults:
            raise InputError(self.faults)

    def _take(self, line: _Header | _Problem | _Mapping | _Proof, *, first: bool) -> None:
        if first != isinstance(line, _Header):
            raise ValueError('the first line, and no other, is {"kind": "store", "format": 1}')
        if isinstance(line, _Problem):
            self.problems[line.digest] = problem_of(line.digest, line.content)
        elif isinstance(line, _Mapping):
            self.mappings.append((line.problem, self._held(line)))
        elif isinstance(line, _Proof):
            self._problem(line.problem)
            what = line.mapspace, tuple(line.remainders), line.lower_bound, line.optimal, line.origin, line.date
            self.proofs.append((line.problem, StoredProof(*what)))

    def _held(self, line: _Mapping) -> StoredMapping:
        problem = self._problem(line.problem)
        batch, faults = read_mappings(problem.arch, problem.workload, [line.mapping])
        if faults:
            raise ValueError(faults[0])
        if problem.goal.answered != (line.answer is not None):
            raise ValueError(
                f"answer: the values of this problem are {'' if problem.goal.answered else 'not '}a cost model's"
            )
        costs = {"energy_pj": line.energy_pj, "cycles": line.cycles, "answer": line.answer}
        origins = tuple(Origin(*origin) for origin in line.origins)
        (mapping,) = plain_mappings(batch)
        return held_of(problem, key_of(mapping), mapping, costs, line.date, origins)

    def _problem(self, name: str) -> Problem:
        if name not in self.problems:
            raise ValueError(f"no line above has the problem {name}")
        return self.problems[name]

    def _fault(self, number: int | None, message: str) -> Fault:
        return Fault(str(self.path), number, "", message)


def _text(error: Any) -> str:
    place = ".".join(str(key) for key in error["loc"][1:])
    return ": ".join(part for part in (place, str(error["msg"])) if part)
