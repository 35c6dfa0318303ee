"""The candidates of a sweep that optimises: each design with each mapspace, described before anything is searched."""

import warnings
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import inf, log
from typing import NamedTuple

import numpy as np

from ...energy import area_um2
from ...workloads import Fault, InputError
from ..designs import ExpressionError, Kind, Known, Score, Space, Values, figures, kind_of
from ..exploration import load
from ..exploration.transforms import transformed
from ..mapping import Floats, Ints
from ..mapspace import BY_MACHINE
from ..problem import digest
from ..runtime import in_order
from .inputs import machine_of
from .plan import Plan, Point, design_values

MOST_TOLD = 5  # reasons why designs cannot be made


class _Described(NamedTuple):
    """A design, or why it cannot be made."""

    values: Values
    places: tuple[float, ...] = ()  # along each parameter
    kinds: tuple[str, ...] = ()  # by mapspace
    figures: tuple[float, ...] = ()
    area_um2: float = 0.0
    clock_ns: float | None = None
    message: str = ""


def _described(plan: Plan, design: int) -> _Described:
    """Describe a design."""
    values = design_values(plan, design)
    places = tuple(_places(plan, design))
    try:
        machine, table, _ = machine_of(plan, design)
        kind = kind_of(machine, table, plan.energies.costs)
        kinds = tuple(_with_work(plan, kind, design, mapspace) for mapspace in plan.mapspaces)
    except InputError as error:
        return _Described(values, places, message="; ".join(dict.fromkeys(map(str, error.faults))))
    except ExpressionError as error:
        return _Described(values, places, message=str(error))
    own = tuple(figure.value for figure in figures(machine, table))
    return _Described(values, places, kinds, own, area_um2(machine, table), machine.clock_ns)


def _places(plan: Plan, design: int) -> Sequence[float]:
    """Where the values of a design lie along each parameter: numbers above 0 by their logarithms, others in turn."""
    places = []
    for group, index in zip(plan.groups, plan.indices(design), strict=True):
        value = next(iter(group.values(index).values()))
        places.append(log(value) if group.by_size else float(index))
    return places


def _with_work(plan: Plan, kind: str, design: int, mapspace: str) -> str:
    """The kind of a design in a mapspace: transformations make other layers of it, perhaps by the design."""
    transformation = mapspace.partition("+")[2]
    if not transformation:
        return kind
    made = []
    for workload in plan.workloads.values():
        machine, work = load(machine_of(plan, design)[0], workload)
        made.append(repr(transformed(machine, work, [transformation])))
    return digest([kind, transformation, *made])


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of a plan: number design x mapspaces + mapspace."""

    plan: Plan
    designs: list[_Described]

    @classmethod
    def of(cls, plan: Plan, jobs: int) -> "Candidates":
        """Describe every design, in `jobs` processes."""
        with warnings.catch_warnings(action="ignore"), closing(in_order(_described, plan, plan.designs, jobs)) as every:
            return cls(plan, list(every))

    def __len__(self) -> int:
        return len(self.designs) * len(self.plan.mapspaces)

    def place(self, row: int) -> tuple[int, str]:
        """The design's number, and the mapspace, of a candidate."""
        design, mapspace = divmod(row, len(self.plan.mapspaces))
        return self.plan.designs[design], self.plan.mapspaces[mapspace]

    def row(self, point: Point) -> tuple[int, int]:
        """The candidate and the number of the workload of a point."""
        number = self.plan.places[point.design] * len(self.plan.mapspaces) + self.plan.mapspaces.index(point.mapspace)
        return number, list(self.plan.workloads).index(point.workload)

    def described(self, row: int) -> _Described:
        """The design of a candidate."""
        return self.designs[row // len(self.plan.mapspaces)]

    @classmethod
    def judged(cls, plan: Plan, jobs: int) -> "Candidates":
        """Describe every design. Raises InputError where none can be made, or none be judged by what is asked."""
        candidates = cls.of(plan, jobs)
        if not any(candidates.known):
            messages = dict.fromkeys(rule for own in candidates.designs for rule in candidates.rules_against(own))
            raise InputError(Fault("", None, "", message) for message in islice(messages, MOST_TOLD))
        return candidates

    def why_not(self, row: int) -> str:
        """Why a candidate cannot be made or judged; empty: it can."""
        return "; ".join(self.rules_against(self.described(row)))

    def rules_against(self, own: _Described) -> list[str]:
        """Why a design cannot be made, or not be judged."""
        return [own.message] if own.message else self.plan.question.faults_of(self._facts(own))

    def _facts(self, own: _Described) -> list[Known]:
        """What is known of a design on each workload."""
        return [self.plan.known(work, own.values, own.area_um2, own.clock_ns) for work in self.plan.workloads]

    @cached_property
    def known(self) -> list[list[Known] | None]:
        """What is known of each candidate on each workload; None where it cannot be made. # (candidate, workload)"""
        known: list[list[Known] | None] = []
        for own in self.designs:
            facts = self._facts(own)
            judged = not (own.message or self.plan.question.faults_of(facts))
            known += [facts if judged else None] * len(self.plan.mapspaces)
        return known

    @cached_property
    def area(self) -> Score:
        """The area of candidates, mm2."""
        figures = np.array([[inf if own is None else own[0].area_um2 * 1e-6] for own in self.known])
        return Score("area", figures, 0.0, "mm2")

    @cached_property
    def space(self) -> Space:
        """Their machines as arrays."""
        kinds = np.array([kind for own in self.designs for kind in own.kinds or [""] * len(self.plan.mapspaces)])
        names = [name for name in dict.fromkeys(kinds.tolist()) if name]
        number, row = np.full(len(self), -1), np.zeros(len(self), np.int64)
        made = []
        for at, name in enumerate(names):
            rows = np.flatnonzero(kinds == name)
            number[rows], row[rows] = at, np.arange(len(rows))
            made.append(self._kind(rows))
        width = len(self.plan.mapspaces)
        places: Floats = np.array([[*own.places, space] for own in self.designs for space in range(width)], np.float64)
        by_size = (*(group.by_size for group in self.plan.groups), False)
        by_machine = np.array([name.partition("+")[0] in BY_MACHINE for name in self.plan.mapspaces])
        mapspaces = np.tile(np.arange(width), len(self.designs))
        return Space(tuple(made), number, row, places, by_size, mapspaces, by_machine)

    def _kind(self, rows: Ints) -> Kind:
        machine, table, _ = machine_of(self.plan, self.place(int(rows[0]))[0])
        every = figures(machine, table)
        values = np.array([self.described(int(row)).figures for row in rows])
        return Kind(
            (machine, table), values, np.array([own.more for own in every]), np.array([own.weight for own in every])
        )
