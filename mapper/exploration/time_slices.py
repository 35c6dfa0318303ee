"""A turn: one process searches one layer for a while and hands its state back."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple, override
from uuid import uuid4

from ...arch import Architecture
from ...energy import EnergyTable
from ...workloads import Fault, InputError, Workload, collect
from ..mapspace import Mapspace, Preset
from ..model import CostOptions
from ..report import Result
from ..runtime import Part, State
from ..search import Mark, SearchOptions, Task
from .layer import Progress, explore_layer

TURN = 1.0  # seconds of work in one turn: what it costs to begin one is 30 ms, and tables where another had the last
MOST_MAPSPACES = 16  # mapspaces that a process keeps for its next turns


@dataclass(frozen=True)
class Study:
    """What is searched, and how. Sent to each worker once."""

    arch: Architecture = field(compare=False)
    layers: tuple[Workload, ...] = field(compare=False)
    mapspace: Preset = field(compare=False)
    distinct: bool = field(compare=False)
    table: EnergyTable = field(compare=False)
    costs: CostOptions = field(compare=False)
    options: SearchOptions = field(compare=False)
    key: str = field(default_factory=lambda: uuid4().hex)  # tells one from another, in every process

    def space(self, number: int) -> Mapspace:
        """The mapspace of a layer. Raises InputError where it is empty."""
        return Mapspace(self.arch, self.layers[number], self.mapspace, distinct=self.distinct)

    def spaces(self) -> list[Mapspace]:
        """The mapspace of each layer. Raises InputError with the faults of all of them."""
        faults: list[Fault] = []
        mapspaces = [collect(faults, lambda number=number: self.space(number)) for number in range(len(self.layers))]  # type: ignore[misc]
        if faults:
            raise InputError(dict.fromkeys(faults))
        return [space for space in mapspaces if space is not None]

    def task(self, space: Mapspace, options: SearchOptions) -> Task:
        """What is searched of one layer."""
        return Task(space, self.table, options, self.costs)

    def search(self, space: Mapspace, options: SearchOptions, progress: Progress | None, part: Part) -> Result:
        """The result of one layer from the state in `part`."""
        part.final = bool(self.options.budget)  # its seconds are those of the layers still to come
        result = explore_layer(self.task(space, options), progress, part)
        return replace(result, mapspace=self.mapspace, remainders=space.imperfect, reason=space.reason)


class SliceRequest(NamedTuple):
    """A turn of one layer."""

    number: int
    state: State | None  # where to go on; None: at the beginning
    options: SearchOptions


class SliceResult(NamedTuple):
    """What came of one turn."""

    number: int
    state: State | None
    result: Result | None = None  # where the layer is over
    faults: tuple[Fault, ...] = ()


class TurnOverError(Exception):
    """The time of a turn is over, and the search is not."""


class SliceState(Part):
    """The state of a layer's search in hand, from which it goes on; kept in a checkpoint too, where there is one."""

    def __init__(
        self,
        state: State | None,
        on_disk: Part | None = None,
        seconds: float | None = None,
        marks: Sequence[Mark] = (),
    ) -> None:
        self.state, self.on_disk, self.more = state, on_disk, {"marks": list(marks)} if marks else {}
        self.until = None if seconds is None else time.process_time() + seconds

    @override
    def load(self) -> State | None:
        """Where to go on."""
        return self.state

    @override
    def save(self, state: State) -> None:
        """Hold `state`."""
        self.state = state
        if self.on_disk:
            self.on_disk.save(state | self.more)

    @override
    def offer(self, state: Callable[[], State]) -> None:
        """Keep what `state` gives now and then. Raises TurnOverError once time is over."""
        if self.on_disk:
            self.on_disk.offer(lambda: state() | self.more)
        if self.until is not None and time.process_time() >= self.until:
            self.state = state()
            raise TurnOverError


def search_slice(study: Study, ticket: SliceRequest) -> SliceResult:
    """Search one layer for a while."""
    part = SliceState(ticket.state, seconds=TURN)
    try:
        result = study.search(_prepared(study, ticket.number), ticket.options, None, part)
    except TurnOverError:
        return SliceResult(ticket.number, part.state)
    except InputError as error:
        return SliceResult(ticket.number, part.state, faults=tuple(error.faults))
    return SliceResult(ticket.number, part.state, _light(result))


@lru_cache(maxsize=MOST_MAPSPACES)
def _prepared(study: Study, number: int) -> Mapspace:
    return study.space(number)


def _light(result: Result) -> Result:
    """The same with batches that carry their own chains alone, not all of the mapspace."""
    front = tuple(replace(point, batch=point.batch.own()) for point in result.front)
    return replace(result, batch=result.batch and result.batch.own(), front=front)
