"""Turns: in a turn a process searches a layer for a while and returns its state."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import NamedTuple, Self, override
from uuid import uuid4

from ...arch import Architecture
from ...workloads import Fault, InputError, Network, Workload, collect
from ..mapping import MappingBatch
from ..mapspace import Mapspace, Preset
from ..problem import Point, Problem
from ..report import NetworkResult, Result, Searched
from ..runtime import Part, State
from ..search import Task
from ..search.options import SearchOptions
from ..search.outcome import Ended, Statistics
from .inputs import distinct_layers, equal_layers, layers_of
from .layer import Answered, Progress, explore_layer

SLICE_SECONDS = (
    1.0  # seconds of work in a turn: to start one costs 30 ms, and tables if another process had the layer last
)
MOST_MAPSPACES = 16  # mapspaces that a process caches for its next turns


class NoMapspaceError(InputError):
    """A layer has no mapspace: its faults say why."""


@dataclass(frozen=True)
class Study:
    """The inputs of an exploration. Sent to each worker once."""

    work: Workload | Network = field(compare=False)
    problems: tuple[Problem, ...] = field(compare=False)  # of the first of each group of equal layers
    mapspace: Preset = field(compare=False)
    distinct: bool = field(compare=False)
    options: SearchOptions = field(compare=False)
    starts: tuple[MappingBatch | None, ...] = field(default=(), compare=False)  # per layer, to begin with; none: empty
    only_start: bool = field(default=False, compare=False)  # search no further than these
    answered: Answered | None = field(default=None, compare=False)  # is told each answer of a cost model
    beside: Point = field(default=(0.0, 0.0), compare=False)  # cycles, pJ of a network beside its layers
    key: str = field(default_factory=lambda: uuid4().hex)  # identifies the study in every process

    @classmethod
    def of(
        cls,
        work: Workload | Network,
        problem: Callable[[Workload], Problem],
        mapspace: Preset,
        distinct: bool,
        options: SearchOptions,
    ) -> Self:
        """Make the study of all layers of `work`; `problem` makes that of a layer, all on one machine with one goal."""
        return cls(work, tuple(map(problem, distinct_layers(work))), mapspace, distinct, options)

    @cached_property
    def groups(self) -> list[list[int]]:
        """The indices of equal layers, which are searched once."""
        return equal_layers(layers_of(self.work))

    @cached_property
    def counts(self) -> list[int]:
        """The number of occurrences of each group's layers."""
        if isinstance(self.work, Workload):
            return [1]
        return [sum(self.work.layers[i][1] for i in group) for group in self.groups]

    def result(self, results: Mapping[int, Result]) -> Result | NetworkResult:
        """Return the result of the layer, or make that of the network from the results of its groups, by number."""
        if isinstance(self.work, Workload):
            return results[0]
        layers = layers_of(self.work)
        names = tuple(tuple(layers[i].name for i in group[1:]) for group in self.groups)
        return NetworkResult(
            self.work.name,
            tuple((result, self.counts[number]) for number, result in results.items()),
            missing=len(self.groups) - len(results),
            alike=tuple(names[number] for number in results),
            numbers=tuple(results),
            tokens=self.work.tokens,
        )

    @property
    def arch(self) -> Architecture:
        """The machine."""
        return self.problems[0].arch

    @property
    def layers(self) -> list[Workload]:
        """The layers, in turn."""
        return [problem.workload for problem in self.problems]

    def space(self, number: int) -> Mapspace:
        """Make the mapspace of a layer. Raises NoMapspaceError where it is empty."""
        problem = self.problems[number]
        try:
            return Mapspace(problem.arch, problem.workload, self.mapspace, distinct=self.distinct)
        except InputError as error:
            raise NoMapspaceError(error.faults) from error

    def spaces(self) -> tuple[list[Mapspace], list[Fault]]:
        """Make the mapspaces of all layers, of equal ones the first's, and say why others have none.

        Raises InputError with the faults of all layers where no layer has a mapspace.
        """
        faults: list[Fault] = []
        every = [
            collect(faults, lambda layer=layer: Mapspace(self.arch, layer, self.mapspace, distinct=self.distinct))  # type: ignore[misc]
            for layer in self.layers
        ]
        made = [space for space in every if space is not None]
        if not made:
            raise InputError(dict.fromkeys(faults))
        return made, list(dict.fromkeys(faults))

    def task(self, number: int, space: Mapspace, options: SearchOptions) -> Task:
        """Make the search task of a layer."""
        start = self.starts[number] if self.starts else None
        return Task(self.problems[number], space, options, start, self.only_start)

    def search(
        self, number: int, space: Mapspace, options: SearchOptions, progress: Progress | None, part: Part
    ) -> Result:
        """Search a layer, from the state in `part`."""
        part.final = bool(self.options.budget)  # later layers share the seconds that it leaves
        result = explore_layer(self.task(number, space, options), progress, part, self.answered)
        if part.final and not result.found and result.statistics.had_no_time:
            return self.unsearched(number)
        strategy = "transfer" if self.only_start else options.strategy
        assert result.search is not None, "it was searched"
        return replace(result, search=replace(result.search, mapspace=self.mapspace, strategy=strategy))

    def unsearched(self, number: int) -> Result:
        """Make the result of a layer for which a budget of seconds has no time left."""
        return self._without(number, Ended.NO_TIME, f"not searched: {Ended.NO_TIME}")

    def unmappable(self, number: int, faults: Sequence[Fault]) -> Result:
        """Make the result of a layer that has no mapspace, for these reasons."""
        return self._without(number, Ended.EMPTY, "\n".join(map(str, faults)))

    def _without(self, number: int, ended: Ended, why: str) -> Result:
        options, seen = self.options, Statistics(ended=(ended,))
        searched = Searched(seen, self.mapspace, options.strategy, options.seed)
        return Result(self.problems[number], None, searched, hint=why)


class SliceRequest(NamedTuple):
    """A turn of one layer."""

    number: int
    state: State | None  # from which to go on; None: start
    options: SearchOptions


class SliceResult(NamedTuple):
    """The state after a turn."""

    number: int
    state: State | None
    result: Result | None = None  # where the search of the layer has ended
    faults: tuple[Fault, ...] = ()
    empty: bool = False  # whether they are of its mapspace


class TurnOverError(Exception):
    """The time of a turn is over before the search."""


class SliceState(Part):
    """The state of a layer's search in memory; with `more` in `on_disk`, the checkpoint, where there is one."""

    def __init__(
        self,
        state: State | None,
        on_disk: Part | None = None,
        seconds: float | None = None,
        more: State | None = None,
    ) -> None:
        self.state, self.on_disk, self.more = state, on_disk, more or {}
        self.until = None if seconds is None else time.process_time() + seconds

    @override
    def load(self) -> State | None:
        """Return the state from which to go on."""
        return self.state

    @override
    def save(self, state: State) -> None:
        """Save `state`."""
        self.state = state
        if self.on_disk:
            self.on_disk.save(state | self.more)

    @override
    def offer(self, state: Callable[[], State]) -> None:
        """Save the state that `state` makes, now and then. Raises TurnOverError once time is over."""
        if self.on_disk:
            self.on_disk.offer(lambda: state() | self.more)
        if self.until is not None and time.process_time() >= self.until:
            self.state = state()
            raise TurnOverError


def search_slice(study: Study, ticket: SliceRequest) -> SliceResult:
    """Search a layer for a turn."""
    part = SliceState(ticket.state, seconds=SLICE_SECONDS)
    try:
        result = study.search(ticket.number, prepared(study, ticket.number), ticket.options, None, part)
    except TurnOverError:
        return SliceResult(ticket.number, part.state)
    except InputError as error:
        return refused(ticket.number, part.state, error)
    return SliceResult(ticket.number, part.state, with_own_tables(result))


def refused(number: int, state: State | None, error: InputError) -> SliceResult:
    """Return a layer without a result."""
    return SliceResult(number, state, faults=error.faults, empty=isinstance(error, NoMapspaceError))


@lru_cache(maxsize=MOST_MAPSPACES)
def prepared(study: Study, number: int) -> Mapspace:
    """Return the mapspace of a layer, made once in each process."""
    return study.space(number)


def with_own_tables(result: Result) -> Result:
    """Return the same with batches that have only their own chains, not all of the mapspace."""
    return replace(
        result, mapped=result.mapped and result.mapped.own(), front=tuple(member.own() for member in result.front)
    )
