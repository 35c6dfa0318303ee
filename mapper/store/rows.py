"""What a store holds of a problem: mappings with their costs and origins, and proofs."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import override

from ..problem import Json

DATE = "%Y-%m-%dT%H:%M:%SZ"  # as text, the earlier is the less


def now() -> str:
    """The date and time in UTC, to the second."""
    return datetime.now(UTC).strftime(DATE)


@dataclass(frozen=True)
class MappingSource:
    """Where mappings come from, and what is proven about the mapspace that they are from."""

    origin: str  # hand, or the name of a strategy
    mapspace: str = ""  # the name of its preset
    remainders: tuple[str, ...] = ()  # the slots that may have them, which say what the mapspace is
    lower_bound: float | None = None  # of the first objective; None: nothing is proven
    optimal: bool = False  # whether it is proven that no mapping of the mapspace is better
    date: str = ""  # UTC; empty: now


@dataclass(frozen=True, order=True)
class Origin:
    """Where a mapping came from, and when it first did."""

    date: str
    name: str
    mapspace: str = ""

    @override
    def __str__(self) -> str:
        return f"{self.name} in {self.mapspace}" if self.mapspace else self.name


@dataclass(frozen=True)
class StoredProof:
    """What some run has proven about a mapspace of a problem; it is a claim, as no evidence is held."""

    mapspace: str
    remainders: tuple[str, ...]
    lower_bound: float  # of the first objective
    optimal: bool  # whether the best mapping of the mapspace was found
    origin: str
    date: str


@dataclass(frozen=True)
class StoredMapping:
    """A mapping with its costs."""

    key: str  # the hash of the mapping
    mapping: Json  # by names (mappings.py)
    values: tuple[float, ...]  # of the problem's objectives; by a cost model its answer
    energy_pj: float
    cycles: int
    date: str  # since when
    origins: tuple[Origin, ...]  # the earliest first
    answered: bool = False  # whether its value is the answer of a cost model

    @property
    def costs(self) -> Json:
        """The figures that its values come from."""
        answer = {"answer": self.values[0]} if self.answered else {}
        return {"energy_pj": self.energy_pj, "cycles": self.cycles, **answer}


@dataclass(frozen=True)
class Entry:
    """A line about a problem."""

    digest: str
    arch: str  # names, of the run that first had it
    workload: str
    objective: str
    number: int  # of mappings
    best: StoredMapping | None
    proofs: tuple[StoredProof, ...]
    title: str  # of the layer: its name, and what transformations made of it
