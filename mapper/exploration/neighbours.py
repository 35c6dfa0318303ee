"""Searches the neighbours of a result: for each change of its machine or mapspace alone, the best mapping, proven."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import override

from ...arch import unstacked
from ...workloads import Document, Fault, InputError, option_fault
from ..mapping import MappingBatch, read_mapping, write_mapping
from ..mapspace import PRESETS, Mapspace, sorted_placement
from ..model.figures import Mapped
from ..problem import Effort, Problem
from ..report import Neighbour, NetworkResult, Result, Why
from ..runtime import Part
from ..search import Recorder, Task
from ..search.options import SearchOptions
from ..searchers import STRATEGIES, option_faults, stop_rules
from .layer import Progress, bounded
from .relaxations import Change, as_it_was, changes
from .side_by_side import WholeRequest, search_whole, side_by_side
from .time_slices import SliceResult, Study

ChangeProgress = Callable[[int, int, str], None]  # called with the number of changes done, of all, and the state of one
LEAST = Effort(2**13, 3_000_000)  # for a change at least
LONGER = 3  # times the effort of the result's search may a change take: it begins with less, and has more mappings
ONE_LAYER = "is about one layer: name it, as NETWORK/LAYER"


def why(
    result: Result | NetworkResult, options: SearchOptions | None = None, progress: ChangeProgress | None = None
) -> Why:
    """Find what holds the mapping of a search back: the best mapping under each change alone (relaxations.py).

    Each proof starts from the mapping of `result`, which stays valid. It has at most the effort and the time limit of
    `options`; if they give none, LONGER times the effort of the search, or LEAST, within the search's own limit. With
    `options.jobs` changes are searched side by side. Ctrl-C ends it with what is known. Raises InputError where
    `result` is of a network, was not searched for or has no mapping, and with every fault of the options.
    """
    options = SearchOptions() if options is None else options
    faults = option_faults(options)
    rule = _unsuited(result)
    faults += [option_fault("why", rule)] if rule else []
    if faults:
        raise InputError(faults)
    assert isinstance(result, Result)
    search = _Neighbours(_study(result, options), result, progress)
    search.run()
    return search.answer


def why_faults(options: SearchOptions) -> list[Fault]:
    """List the options that do not go with `why`: it is about a proof by one objective."""
    faults = []
    strategy = STRATEGIES.get(options.strategy)
    if strategy and not strategy.proves and options.bound is None:
        faults.append(option_fault("why", f"needs a proof: give --search optimal, or --bound; got {options.strategy}"))
    if options.cost_model is not None:
        faults.append(option_fault("why", "needs a proof, and of a cost model nothing is proven: leave one out"))
    if len(options.objectives) > 1:
        rule = f"is about the best by one objective; got {options.objective}"
        faults.append(option_fault("why", rule))
    return faults


def _unsuited(result: Result | NetworkResult) -> str:
    """Say why `result` has no neighbours."""
    if isinstance(result, NetworkResult):
        return ONE_LAYER
    if not result.mapspace or result.objective is None:
        return "is about the mapping that a search found, not about one that was evaluated"
    return "" if result.found else "is about a mapping, and none was found: the hint of the result says why"


@dataclass(frozen=True)
class NeighbourStudy(Study):
    """The changed mapspaces of one layer, in place of the layers of a network: number i is that of change i."""

    changes: tuple[Change, ...] = field(default=(), compare=False)
    given: MappingBatch | None = field(default=None, compare=False)  # valid under each of them

    @override
    def space(self, number: int) -> Mapspace:
        """Make the mapspace under a change. Raises InputError where it is too large."""
        change = self.changes[number]
        return Mapspace(change.arch, self.problems[0].workload, change.remainders, distinct=self.distinct)

    @override
    def task(self, number: int, space: Mapspace, options: SearchOptions) -> Task:
        """Make the search task of a change, with the energies of the machine as it was."""
        problem = self.problems[0]
        figures = as_it_was(problem.energies, problem.arch, unstacked(space.arch))
        return Task.of(space, figures, options, problem.charges)

    @override
    def search(
        self, number: int, space: Mapspace, options: SearchOptions, progress: Progress | None, part: Part | None
    ) -> Result:
        """Prove the best mapping under a change, from the given one."""
        task = self.task(number, space, options)
        given = Mapped.of(task.problem, moved(self.given, space))
        return bounded(Result(task.problem, given), task, progress, part)


def moved(batch: MappingBatch | None, space: Mapspace) -> MappingBatch:
    """Return the same mapping on the architecture of another mapspace with the same slots, or other stacks of them."""
    assert batch is not None
    if batch.arch.stacks != space.arch.stacks:
        return sorted_placement(
            space, read_mapping(Document("mapping", write_mapping(batch), {}), space.arch, space.workload)
        )
    return replace(batch.own(), arch=space.arch)


def _study(result: Result, options: SearchOptions) -> NeighbourStudy:
    """Make the study of a result's neighbours."""
    remainders = tuple(slot.name in result.remainders for slot in result.arch.slots)
    space = Mapspace(result.arch, result.workload, remainders)
    wanted = replace(options, objective=str(result.objective), bound=None, certify=False)
    wanted = replace(wanted, effort=_effort(result, options), front="", cluster=None)
    preset = next(name for name in PRESETS if name == result.mapspace)
    problem = Problem(result.arch, result.workload, result.table, result.valid_costs.options, wanted.goal)
    return NeighbourStudy(
        result.workload, (problem,), preset, False, wanted, changes=tuple(changes(space)), given=result.batch
    )


def _effort(result: Result, options: SearchOptions) -> Effort:
    """The effort of the search for each change."""
    if options.effort or options.time_limit is not None:
        return options.limits
    own, seen = stop_rules(options).effort, result.statistics
    assert LEAST.mappings is not None
    assert LEAST.steps is not None
    mappings, steps = max(LEAST.mappings, LONGER * seen.evaluated), max(LEAST.steps, LONGER * seen.steps)
    return Effort(min(own.mappings or mappings, mappings), min(own.steps or steps, steps))


class _Neighbours:
    """The running searches of the neighbours."""

    def __init__(self, study: NeighbourStudy, result: Result, progress: ChangeProgress | None) -> None:
        self.study, self.result, self.progress = study, result, progress
        self.known: dict[int, Neighbour] = {}

    def run(self) -> None:
        """Search every change, or until Ctrl-C."""
        numbers, jobs = range(len(self.study.changes)), self.study.options.jobs
        if jobs > 1:
            side_by_side(search_whole, self.study, self._requests, jobs, self._take)
            return
        try:
            for number in numbers:
                if self._search(number):
                    return
        except KeyboardInterrupt:
            return

    @property
    def answer(self) -> Why:
        """What is known."""
        untried = [change.text for number, change in enumerate(self.study.changes) if number not in self.known]
        return Why.of(
            self.result.workload.name,
            str(self.result.objective),
            (_value(self.result), self.result.gap),
            [self.known[number] for number in sorted(self.known)],
            untried,
        )

    def _search(self, number: int) -> bool:
        """Search a change in this process; return whether Ctrl-C ended it."""
        try:
            space = self.study.space(number)
        except InputError as error:
            self._take(SliceResult(number, None, faults=tuple(error.faults)))
            return False
        result = self.study.search(
            number, space, self.study.options, lambda _, recorder: self._tell(number, recorder), None
        )
        self._take(SliceResult(number, None, result))
        return result.statistics.interrupted

    def _requests(self, folder: str) -> Iterator[WholeRequest]:
        for number in range(len(self.study.changes)):
            yield WholeRequest(number, None, replace(self.study.options, jobs=1), folder)

    def _take(self, slice_result: SliceResult) -> None:
        """Add what is known of a change."""
        text, result = self.study.changes[slice_result.number].text, slice_result.result
        if slice_result.faults:
            self.known[slice_result.number] = Neighbour(
                text, reason="; ".join(fault.message for fault in slice_result.faults)
            )
        elif result is not None:
            self.known[slice_result.number] = Neighbour(text, _value(result), result.lower_bound, result.batch)
        self._tell(slice_result.number)

    def _tell(self, number: int, recorder: Recorder | None = None) -> None:
        """Report how many changes are done, and how far the proof of one is."""
        if self.progress:
            state = f": {recorder.proven}" if recorder and recorder.proven else ""
            self.progress(len(self.known), len(self.study.changes), self.study.changes[number].text + state)


def _value(result: Result) -> float:
    return float(result.problem.goal.minimised[0].of(result.valid_costs)[0])
