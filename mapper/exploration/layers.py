"""Searches the layers of a network, several at once, with the same answers for any number of processes.

Each process searches a layer for about a second, a *turn*, and returns its state. So no mapping is evaluated in vain,
as happens when processes share a layer and one of them ends its search. All processes together search the last few
layers one after another; and all layers where turns are impossible (on a cluster, in proofs, with an engine that must
compile first).
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

from ...workloads import Fault, InputError, Workload, collect
from ..mapspace import Mapspace
from ..report import Result
from ..runtime import Checkpoint, State, in_order
from ..search import (
    ENGINES,
    STRATEGIES,
    Ended,
    Mark,
    Recorder,
    SearchOptions,
    stop_rules,
)
from .layer import Progress, bounded
from .time_slices import SliceRequest, SliceResult, SliceState, Study, search_slice

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
    marks: list[Mark] = field(default_factory=list)  # the best at each target
    busy: bool = False  # a worker searches it

    @property
    def seen(self) -> dict[str, Any]:
        """The statistics in its state."""
        return {} if self.state is None else self.state.get("statistics", {})

    @property
    def evaluated(self) -> int:
        return int(self.seen.get("evaluated", 0))

    @property
    def seconds(self) -> float:
        return float(self.seen.get("seconds", 0.0))

    @property
    def open(self) -> bool:
        """Whether a higher target would continue it: it runs, or only its last target ended it."""
        return self.seen.get("stopped_by", "") in ("", Ended.SAMPLES)

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
            run.marks = [Mark(*mark) for mark in (run.state or {}).get("marks", [])]
        self.interrupted = False
        self.ends: float | None = None  # when a budget of seconds is used up, by the monotonic clock
        self._spaces: list[Mapspace] = []

    def bring(self, runs: Sequence[Run]) -> None:
        """Continue each search to its target or its own end, with a result; or until Ctrl-C."""
        left = [run for run in runs if run.result is None or (run.open and (run.target or 0) > run.evaluated)]
        if self._turns_pay(left):
            left = self._turns(left)
        elif not self._spaces:
            self._spaces = self.study.spaces()
        for run in left:
            if not self.interrupted:
                self._together(run)

    def results(self) -> dict[int, Result]:
        """Return the results of all layers whose search has started, by number."""
        for run in self.runs if self.interrupted else ():
            if run.result is None and run.state is not None:
                part = SliceState(run.state | {"statistics": run.seen | {"stopped_by": Ended.INTERRUPTED.value}})
                run.result = self.study.search(self.study.space(run.number), self._options(run), None, part)
            elif run.result is not None and self.study.options.budget and run.open:
                run.result.statistics.stop(Ended.INTERRUPTED)
        return {run.number: run.result for run in self.runs if run.result is not None}

    def bounded(self, results: dict[int, Result]) -> dict[int, Result]:
        """Add lower bounds to the results, if the options ask for them; Ctrl-C leaves the rest as they are."""
        options = self.study.options
        asked = options.bound is not None and not STRATEGIES[options.strategy].proves
        for number, result in results.items() if asked else ():
            if not self.interrupted:
                results[number] = bounded(result, self.study.task(self.study.space(number), options), self.progress)
                self.interrupted = results[number].statistics.interrupted
        return results

    def _grant(self, run: Run) -> None:
        """Grant a layer its share of a budget of seconds: an even share of what is left when its search starts."""
        if self.ends is not None and run.time_limit is None:
            started = [other for other in self.runs if other.time_limit is not None and other.result is None]
            promised = sum(max(0.0, (other.time_limit or 0.0) - other.seconds) for other in started)
            waiting = sum(other.time_limit is None and other.result is None for other in self.runs)
            left = max(LEAST, self.ends - time.monotonic() - promised)
            run.time_limit = run.seconds + left / max(1, waiting)

    def _turns_pay(self, runs: Sequence[Run]) -> bool:
        options = self.study.options
        chunks = STRATEGIES[options.strategy].shares and ENGINES[options.engine].exact and options.cluster is None
        return options.jobs > 1 and len(runs) > 1 and chunks

    def _options(self, run: Run) -> SearchOptions:
        options = self.study.options
        samples = options.samples if run.target is None else run.target
        limit = options.time_limit if run.time_limit is None else run.time_limit
        victory = None if options.budget else options.victory
        return replace(options, samples=samples, time_limit=limit, victory=victory, budget="")

    def _alone(self, run: Run) -> SearchOptions:
        """Return the options of a turn: a process that searches a layer alone has `jobs` times as long."""
        options = self._options(run)
        if options.time_limit is not None:
            limit = run.seconds + options.jobs * (options.time_limit - run.seconds)
            options = replace(options, time_limit=max(LEAST, limit))
        return replace(options, jobs=1)

    def _together(self, run: Run) -> None:
        """Search a layer with all processes."""
        self._grant(run)
        space = self._spaces[run.number] if self._spaces else self.study.space(run.number)
        part = SliceState(run.start, self.parts[run.number], marks=run.marks)
        run.result = self.study.search(space, self._options(run), self._tell if self.progress else None, part)
        shows_again = run.state is not None and not run.open and STRATEGIES[self.study.options.strategy].shares
        run.state = part.state
        if shows_again:
            self._tell(self.study.layers[run.number], self._recorder(run))
        self.interrupted |= run.result.statistics.interrupted

    def _turns(self, runs: Sequence[Run]) -> list[Run]:
        """Search several layers at once, until fewer are left than processes; return those left."""
        left, faults, jobs = list(runs), list[Fault](), self.study.options.jobs

        def tickets() -> Iterator[SliceRequest]:  # drawn whenever a worker is free
            while not faults and (run := next((run for run in tuple(left) if not run.busy), None)):
                run.busy = True
                self._grant(run)
                yield SliceRequest(run.number, run.start, self._alone(run))

        try:
            with closing(in_order(search_slice, self.study, tickets(), jobs, most=1)) as turns:
                for turn in turns:
                    faults += turn.faults
                    run = self.runs[turn.number]
                    self._take(run, turn)
                    if run.result:
                        left.remove(run)
                    run.busy = False
        except KeyboardInterrupt:
            self.interrupted = True
        if faults:
            collect(faults, self.study.spaces)  # the faults of the other layers too
            raise InputError(dict.fromkeys(faults))
        return left

    def _take(self, run: Run, turn: SliceResult) -> None:
        """Take the state and result of a turn; its seconds count as 1 / `jobs` of the time."""
        if turn.state is None:
            return
        before, seen = run.seconds, turn.state["statistics"]
        seconds = before + (seen["seconds"] - before) / self.study.options.jobs
        run.state = turn.state | {"statistics": seen | {"seconds": seconds}}
        if turn.result:
            turn.result.statistics.seconds = seconds
        run.result = turn.result
        self.keep(run)
        self._tell(self.study.layers[run.number], self._recorder(run))

    def keep(self, run: Run) -> None:
        """Save the state and the marks in the checkpoint, where there is one."""
        part = self.parts[run.number]
        if part and run.state is not None:
            SliceState(None, part, marks=run.marks).save(run.state)

    def _tell(self, layer: Workload, recorder: Recorder) -> None:
        """Report the progress of a layer; the end of its share is shown as the end of the budget, the user's rule."""
        if self.progress is None:
            return
        if self.study.options.budget and SHARES.intersection(recorder.statistics.ended):
            recorder = copy(recorder)  # the search uses the original
            recorder.statistics = replace(recorder.statistics, ended=(Ended.BUDGET,))
        self.progress(layer, recorder)

    def _recorder(self, run: Run) -> Recorder:
        recorder = Recorder(stop_rules(self._options(run)))
        assert run.state is not None, "a turn has set it"
        recorder.restore(run.state)
        return recorder
