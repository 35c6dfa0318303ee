"""The searches of a study's layers while they run: states, results, and each layer's share of a budget of seconds."""

import time
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ...workloads import Fault, InputError, Workload
from ..mapspace import Mapspace
from ..report import Result
from ..runtime import Checkpoint, State
from ..search import Recorder
from ..search.options import BudgetMark, SearchOptions
from ..search.outcome import Ended
from ..searchers import STRATEGIES
from .layer import Progress, bounded
from .time_slices import SliceState, Study


class ProvenSum(NamedTuple):
    """A proof of the least energy + slope x cycles of a layer."""

    slope: float  # pJ per cycle
    least_pj: float
    closed: bool  # whether a mapping has it
    best: int  # the number in the mapspace of the best mapping by this sum
    statistics: dict[str, Any]  # plain

    @property
    def seconds(self) -> float:
        return float(self.statistics["seconds"])

    @property
    def steps(self) -> int:
        return int(self.statistics.get("steps", 0))


LEAST = 1e-3  # seconds that a layer gets even if none are left
SHARES = {Ended.SAMPLES, Ended.TIME_LIMIT}  # the reasons by which a layer's share of a budget ends its search


@dataclass(eq=False)
class Run:
    """The search of a layer: its state, result and target."""

    number: int
    state: State | None = None
    result: Result | None = None  # of that state
    target: int | None = None  # mappings to see for now; None: until the search ends by itself
    time_limit: float | None = None  # seconds in all
    marks: list[BudgetMark] = field(default_factory=list)  # the best at each target
    sums: list[ProvenSum] = field(default_factory=list)  # proven for the network's EDP
    busy: bool = False  # a worker searches it
    faults: tuple[Fault, ...] = ()  # why it has no mapspace

    @property
    def seen(self) -> dict[str, Any]:
        """The statistics in its state."""
        return {} if self.state is None else self.state.get("statistics", {})

    @property
    def more(self) -> State:
        """What the checkpoint has beside the state."""
        return {name: list(records) for name, records in (("marks", self.marks), ("sums", self.sums)) if records}

    @property
    def evaluated(self) -> int:
        return int(self.seen.get("evaluated", 0))

    @property
    def seconds(self) -> float:
        return float(self.seen.get("seconds", 0.0))

    @property
    def open(self) -> bool:
        """Whether a higher target would continue it: it runs, or only its last target ended it."""
        return not self.faults and self.seen.get("stopped_by", "") in ("", Ended.SAMPLES)

    @property
    def marked(self) -> bool:
        """Whether there is a mark at the target, or where the search ended before."""
        place = (self.target or 0) if self.open else min(self.target or 0, self.evaluated)
        return any(mark.seen >= place for mark in self.marks)

    @property
    def start(self) -> State | None:
        """The state from which to go on."""
        if self.state is None or self.target is None or self.evaluated >= self.target or not self.open:
            return self.state
        return self.state | {"statistics": self.seen | {"stopped_by": ""}}


class Layers:
    """The running searches of all layers of a study."""

    def __init__(self, study: Study, progress: Progress | None, checkpoint: Checkpoint | None) -> None:
        self.study, self.progress = study, progress
        self.parts = [checkpoint.part(number) if checkpoint else None for number in range(len(study.layers))]
        self.runs = [Run(number, part.load() if part else None) for number, part in enumerate(self.parts)]
        for run in self.runs:
            run.marks = [BudgetMark(*mark) for mark in (run.state or {}).get("marks", [])]
            run.sums = [ProvenSum(*proof) for proof in (run.state or {}).get("sums", [])]
        self.interrupted = False
        self.ends: float | None = None  # when a budget of seconds is used up, by the monotonic clock
        self.spaces: dict[int, Mapspace] | None = None  # by number, made before the first search; those not used yet

    def results(self) -> dict[int, Result]:
        """Return the results of all layers whose search has started, by number."""
        for run in self.runs if self.interrupted else ():
            if run.result is None and run.state is not None:
                part = SliceState(run.state | {"statistics": run.seen | {"stopped_by": Ended.INTERRUPTED.value}})
                run.result = self.study.search(run.number, self.study.space(run.number), self.options(run), None, part)
            elif run.result is not None and self.study.options.budget and run.open:
                run.result.statistics.stop(Ended.INTERRUPTED)
        return {run.number: run.result for run in self.runs if run.result is not None}

    def bounded(self, results: dict[int, Result]) -> dict[int, Result]:
        """Add lower bounds to the results, if the options ask for them; Ctrl-C leaves the rest as they are."""
        options = self.study.options
        asked = options.bound is not None and not STRATEGIES[options.strategy].proves
        for number, result in results.items() if asked else ():
            if self.interrupted and result.found:
                result.statistics.stop(Ended.INTERRUPTED)
            elif result.found:
                results[number] = bounded(
                    result, self.study.task(number, self.study.space(number), options), self.progress
                )
                self.interrupted = results[number].statistics.interrupted
        return results

    def grant(self, run: Run, at_once: int = 1) -> None:
        """Grant a layer its share of a budget of seconds: an even share of what is left when its search starts; so
        many layers are searched at once, each in one process."""
        if self.ends is not None and run.time_limit is None:
            started = [other for other in self.runs if other.time_limit is not None and other.result is None]
            promised = sum(max(0.0, (other.time_limit or 0.0) - other.seconds) for other in started)
            waiting = sum(other.time_limit is None and other.result is None for other in self.runs)
            remaining = max(LEAST, self.ends - time.monotonic() - promised)
            run.time_limit = run.seconds + remaining * min(1.0, at_once / max(1, waiting))

    def is_late(self, run: Run) -> bool:
        """Whether a budget of seconds was used up before the search of a layer; its result then says so."""
        late = self.ends is not None and run.state is None and time.monotonic() >= self.ends
        if late:
            run.result = self.study.unsearched(run.number)
        return late

    def refuse(self, run: Run, faults: Sequence[Fault]) -> None:
        """Take note that a layer has no mapspace, and why; its result then says so. Raises InputError with all faults
        where no layer has one."""
        run.faults, run.result = tuple(faults), self.study.unmappable(run.number, faults)
        if all(other.faults for other in self.runs):
            raise InputError(dict.fromkeys(fault for other in self.runs for fault in other.faults))

    def options(self, run: Run) -> SearchOptions:
        options = self.study.options
        samples = options.samples if run.target is None else run.target
        limit = options.time_limit if run.time_limit is None else run.time_limit
        victory = None if options.budget else options.victory
        return replace(options, samples=samples, time_limit=limit, victory=victory, budget="")

    def keep(self, run: Run) -> None:
        """Save the state, the marks and the sums in the checkpoint, where there is one."""
        part = self.parts[run.number]
        if part and run.state is not None:
            SliceState(None, part, more=run.more).save(run.state)

    def tell(self, layer: Workload, recorder: Recorder) -> None:
        """Report the progress of a layer; the end of its share is shown as the end of the budget, the user's rule."""
        if self.progress is None:
            return
        if self.study.options.budget and SHARES.intersection(recorder.statistics.ended):
            recorder = copy(recorder)  # the search uses the original
            recorder.statistics = replace(recorder.statistics, ended=(Ended.BUDGET,))
        self.progress(layer, recorder)
