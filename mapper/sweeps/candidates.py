"""The candidates of a sweep that optimises: each design with each mapspace, described before anything is searched."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import inf, isnan
from typing import NamedTuple, overload, override

import numpy as np

from ...workloads import Fault, InputError
from ..designs import Kind, Known, Score, Space, Values, figures
from ..mapping import Bools, Ints, by_number
from ..mapspace import BY_MACHINE
from ..runtime import in_order
from .describing import Block, described
from .inputs import machine_of
from .plan import Plan, Point, design_values

MOST_TOLD = 5  # reasons why designs cannot be made
BLOCK = 500  # designs that are described at a time


class Design(NamedTuple):
    """A design that was described."""

    values: Values
    area_um2: float
    clock_ns: float | None


@dataclass(frozen=True)
class DescribeProgress:
    """How many designs are described."""

    done: int
    designs: int


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of a plan: number design x mapspaces + mapspace."""

    plan: Plan
    block: Block  # of all designs

    @classmethod
    def of(cls, plan: Plan, jobs: int | str, tell: Callable[[DescribeProgress], None] | None = None) -> "Candidates":
        """Describe every design, in `jobs` processes or on a cluster; of many `tell` is called after some at a time."""
        count = len(plan.designs)
        blocks = [range(first, min(first + BLOCK, count)) for first in range(0, count, BLOCK)]
        with closing(in_order(described, plan, blocks, jobs, most=1)) as made:
            return cls(plan, Block.of(_telling(made, blocks, tell if len(blocks) > 1 else None), count))

    def __len__(self) -> int:
        return len(self.plan.designs) * len(self.plan.mapspaces)

    def place(self, row: int) -> tuple[int, str]:
        """The design's number, and the mapspace, of a candidate."""
        design, mapspace = divmod(row, len(self.plan.mapspaces))
        return self.plan.designs[design], self.plan.mapspaces[mapspace]

    def row(self, point: Point) -> tuple[int, int]:
        """The candidate and the number of the workload of a point."""
        number = self.plan.places[point.design] * len(self.plan.mapspaces) + self.plan.mapspaces.index(point.mapspace)
        return number, list(self.plan.workloads).index(point.workload)

    def described(self, row: int) -> Design:
        """The design of a candidate."""
        return self._design(row // len(self.plan.mapspaces))

    def _design(self, place: int) -> Design:
        """The design at a place of the plan."""
        clock = float(self.block.clock_ns[place])
        values = design_values(self.plan, self.plan.designs[place])
        return Design(values, float(self.block.area_um2[place]), None if isnan(clock) else clock)

    @classmethod
    def judged(
        cls, plan: Plan, jobs: int | str, tell: Callable[[DescribeProgress], None] | None = None
    ) -> "Candidates":
        """Describe every design. Raises InputError where none can be made, or none be judged by what is asked."""
        candidates = cls.of(plan, jobs, tell)
        if not candidates.made.any():
            every = (candidates._rules_against(place) for place in range(len(plan.designs)))
            messages = dict.fromkeys(rule for rules in every for rule in rules)
            raise InputError(Fault("", None, "", message) for message in islice(messages, MOST_TOLD))
        return candidates

    def why_not(self, row: int) -> str:
        """Why a candidate cannot be made or judged; empty: it can."""
        return "; ".join(self._rules_against(row // len(self.plan.mapspaces)))

    def _rules_against(self, place: int) -> list[str]:
        """Why a design cannot be made, or not be judged."""
        message = self.block.messages.get(place)
        return [message] if message else self.plan.question.faults_of(self.facts(place))

    def facts(self, place: int) -> list[Known]:
        """What is known of a design on each workload."""
        own = self._design(place)
        return [self.plan.known(work, own.values, own.area_um2, own.clock_ns) for work in self.plan.workloads]

    @cached_property
    def made(self) -> Bools:
        """Whether a candidate can be made and judged. # (candidate,)"""
        designs = np.array([not self._rules_against(place) for place in range(len(self.plan.designs))], bool)
        return np.repeat(designs, len(self.plan.mapspaces))

    @property
    def known(self) -> "KnownOfAll":
        """What is known of each candidate on each workload; None where it cannot be made. # (candidate, workload)"""
        return KnownOfAll(self)

    @cached_property
    def area(self) -> Score:
        """The area of candidates, mm2."""
        areas = np.repeat(self.block.area_um2 * 1e-6, len(self.plan.mapspaces))
        return Score("area", np.where(self.made, areas, inf)[:, None], 0.0, "mm2")

    @cached_property
    def space(self) -> Space:
        """Their machines as arrays."""
        kinds, width = self.block.kinds.ravel(), len(self.plan.mapspaces)
        row, made = np.zeros(len(self), np.int64), []
        for rows in by_number(kinds, np.flatnonzero(kinds >= 0)):
            row[rows] = np.arange(len(rows))
            made.append(self._kind(rows))
        mapspaces = np.tile(np.arange(width), len(self.plan.designs))
        places = np.column_stack([np.repeat(self.block.places, width, axis=0), mapspaces])
        by_size = (*(group.by_size for group in self.plan.groups), False)
        by_machine = np.array([name.partition("+")[0] in BY_MACHINE for name in self.plan.mapspaces])
        return Space(tuple(made), kinds, row, places, by_size, mapspaces, by_machine)

    def _kind(self, rows: Ints) -> Kind:
        """The kind of candidates that are of one."""
        machine, table, _ = machine_of(self.plan, self.place(int(rows[0]))[0])
        every = figures(machine, table)
        values = self.block.figures[:, : len(every)]
        if len(rows) < len(values) or len(self.plan.mapspaces) > 1:
            values = values[rows // len(self.plan.mapspaces)]  # else all as they are: a copy takes much room
        return Kind(
            (machine, table), values, np.array([own.more for own in every]), np.array([own.weight for own in every])
        )


def _telling(
    made: Iterable[Block], blocks: Sequence[range], tell: Callable[[DescribeProgress], None] | None
) -> Iterator[Block]:
    """Yield blocks, and tell of each that it is described."""
    for block, own in zip(made, blocks, strict=True):
        yield block
        if tell:
            tell(DescribeProgress(own.stop, blocks[-1].stop))


@dataclass(frozen=True, eq=False)
class KnownOfAll(Sequence[list[Known] | None]):
    """What is known of each candidate, made when it is asked for: of many designs it takes much room."""

    candidates: Candidates

    @override
    def __len__(self) -> int:
        return len(self.candidates)

    @overload
    def __getitem__(self, row: int) -> list[Known] | None: ...
    @overload
    def __getitem__(self, row: slice) -> list[list[Known] | None]: ...
    @override
    def __getitem__(self, row: int | slice) -> list[Known] | None | list[list[Known] | None]:
        if isinstance(row, slice):
            return [self[own] for own in range(len(self))[row]]
        return self.candidates.facts(row // self._width) if self.candidates.made[row] else None

    @override
    def __iter__(self) -> Iterator[list[Known] | None]:
        for place, made in enumerate(self.candidates.made[:: self._width]):
            yield from [self.candidates.facts(place) if made else None] * self._width

    @property
    def _width(self) -> int:
        return len(self.candidates.plan.mapspaces)
