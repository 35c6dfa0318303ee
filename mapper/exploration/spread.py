"""Spreads the searches of layers over processes, with the same answers for any number of them.

Each process searches a layer for about a second, a *turn*, and returns its state. So no mapping is evaluated in vain,
as happens when processes share a layer and one of them ends its search. All processes together search the last few
layers one after another; and all layers on a cluster, or with an engine that must compile first. Proofs cannot take
turns: each process proves a whole layer (side_by_side.py); on a cluster all workers prove one layer after another.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from math import inf

from ...workloads import Fault, InputError
from ..mapspace import Mapspace
from ..runtime import in_order
from ..search import ENGINES, Recorder
from ..search.options import SearchOptions
from ..searchers import STRATEGIES, stop_rules
from .layers import LEAST, Layers, Run
from .side_by_side import WholeRequest, search_whole, side_by_side
from .time_slices import NoMapspaceError, SliceRequest, SliceResult, SliceState, search_slice


def search_layers(layers: Layers, runs: Sequence[Run]) -> None:
    """Continue each search to its target or its own end, with a result; or until Ctrl-C. Raises InputError."""
    remaining = _apart(layers, [run for run in runs if _unfinished(run)])
    for run in remaining:
        if not run.faults and not layers.interrupted and not layers.is_late(run):
            _together(layers, run)


def _unfinished(run: Run) -> bool:
    """Test whether a search has no result, or a higher target now than when it ended."""
    return run.result is None or (run.open and (run.target or 0) > run.evaluated)


def _apart(layers: Layers, runs: list[Run]) -> list[Run]:
    """Search layers each in a process of its own, where that can be; return those to be searched by all together."""
    options = layers.study.options
    if options.jobs > 1 and len(runs) > 1 and options.cluster is None:
        if not STRATEGIES[options.strategy].shares:
            return _whole(layers, runs)
        if ENGINES[options.engine].exact:
            return _turns(layers, runs)
    if layers.spaces is None and layers.ends is None:
        made = {run.number: _space(layers, run) for run in runs}
        layers.spaces = {number: space for number, space in made.items() if space}
    return runs


def _together(layers: Layers, run: Run) -> None:
    """Search a layer with all processes."""
    space = _held(layers, run)
    if space is None:
        return
    layers.grant(run)
    study = layers.study
    part = SliceState(run.start, layers.parts[run.number], more=run.more)
    run.result = study.search(run.number, space, layers.options(run), layers.tell if layers.progress else None, part)
    shows_again = run.state is not None and not run.open and STRATEGIES[study.options.strategy].shares
    run.state = part.state
    if shows_again:
        layers.tell(study.layers[run.number], _recorder(layers, run))
    layers.interrupted |= run.result.statistics.interrupted


def _held(layers: Layers, run: Run) -> Mapspace | None:
    """Return the mapspace of a layer, which only a search that goes on later holds beyond its end."""
    spaces = layers.spaces or {}
    space = spaces.get(run.number) if run.target else spaces.pop(run.number, None)
    return space or _space(layers, run)


def _space(layers: Layers, run: Run) -> Mapspace | None:
    """Make the mapspace of a layer; None where it is empty, which is noted."""
    try:
        return layers.study.space(run.number)
    except NoMapspaceError as error:
        layers.refuse(run, error.faults)
        return None


def _turns(layers: Layers, runs: Sequence[Run]) -> list[Run]:
    """Search several layers at once, until fewer are left than processes; return those left."""
    remaining, faults, jobs = list(runs), list[Fault](), layers.study.options.jobs

    def requests() -> Iterator[SliceRequest]:  # drawn whenever a worker is free
        while not faults and (run := next((run for run in tuple(remaining) if not run.busy), None)):
            if layers.is_late(run):
                remaining.remove(run)
                continue
            run.busy = True
            layers.grant(run)
            yield SliceRequest(run.number, run.start, _alone(layers, run))

    try:
        with closing(in_order(search_slice, layers.study, requests(), jobs, most=1)) as turns:
            for turn in turns:
                run = layers.runs[turn.number]
                _take_faults(layers, turn, faults)
                _take_turn(layers, run, turn)
                if run.result:
                    remaining.remove(run)
                run.busy = False
    except KeyboardInterrupt:
        layers.interrupted = True
    if faults:
        raise InputError(dict.fromkeys(faults))
    return remaining


def _alone(layers: Layers, run: Run) -> SearchOptions:
    """Return the options of a turn: a process that searches a layer alone has `jobs` times as long."""
    options = layers.options(run)
    if options.time_limit is not None:
        limit = run.seconds + options.jobs * (options.time_limit - run.seconds)
        options = replace(options, time_limit=max(LEAST, limit))
    return replace(options, jobs=1)


def _take_turn(layers: Layers, run: Run, turn: SliceResult) -> None:
    """Take the state and result of a turn; its seconds count as 1 / `jobs` of the time."""
    if turn.state is None:
        return
    before, seen = run.seconds, turn.state["statistics"]
    seconds = before + (seen["seconds"] - before) / layers.study.options.jobs
    run.state = turn.state | {"statistics": seen | {"seconds": seconds}}
    if turn.result:
        turn.result.statistics.seconds = seconds
    run.result = turn.result
    layers.keep(run)
    layers.tell(layers.study.layers[run.number], _recorder(layers, run))


def _recorder(layers: Layers, run: Run) -> Recorder:
    recorder = Recorder(stop_rules(layers.options(run)))
    assert run.state is not None, "a turn has set it"
    recorder.restore(run.state)
    return recorder


def _whole(layers: Layers, runs: Sequence[Run]) -> list[Run]:
    """Search several layers at once, each to its end in one process; return none."""
    faults, jobs = list[Fault](), layers.study.options.jobs

    def requests(folder: str) -> Iterator[WholeRequest]:  # drawn whenever a worker is free
        for run in runs:
            if not faults and not layers.is_late(run):
                layers.grant(run, jobs)
                yield WholeRequest(run.number, run.start, replace(layers.options(run), jobs=1), folder)

    def take(result: SliceResult) -> None:
        run = layers.runs[result.number]
        run.state, run.result = result.state, result.result
        _take_faults(layers, result, faults)
        layers.keep(run)
        if result.result:
            recorder = Recorder(stop_rules(layers.options(run)))
            recorder.statistics = result.result.statistics
            recorder.best = recorder.statistics.trace[-1][1] if recorder.statistics.trace else inf
            layers.tell(layers.study.layers[run.number], recorder)

    layers.interrupted |= not side_by_side(search_whole, layers.study, requests, jobs, take)
    if faults:
        raise InputError(dict.fromkeys(faults))
    return []


def _take_faults(layers: Layers, result: SliceResult, faults: list[Fault]) -> None:
    """Take note of the faults of a layer: those of its mapspace stop no other layer."""
    if result.empty:
        layers.refuse(layers.runs[result.number], result.faults)
    else:
        faults += result.faults
