"""The chunk loop: a strategy proposes mappings in chunks, the model scores them, a recorder keeps the best.

Chunks are recorded in order, so one seed gives one answer for any number of processes.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import lru_cache
from itertools import count as count_from
from itertools import islice

from ...energy import EnergyTable
from ...workloads import InputError
from ..mapping import MappingBatch
from ..mapspace import Mapspace
from ..model import CostOptions
from ..runtime import Part, in_order
from .engines import space_faults
from .options import SearchOptions, fault, stop_rules
from .outcome import Outcome
from .recorder import Recorder
from .score import STRATEGIES, ScoringTask, number_of_chunks, score

EXHAUSTIVE_LIMIT = 10_000_000  # mappings; beyond it an exhaustive search must be given an end


def search_chunks(
    space: Mapspace,
    table: EnergyTable,
    options: SearchOptions,
    costs: CostOptions | None = None,
    progress: Callable[[Recorder], None] | None = None,
    checkpoint: Part | None = None,
) -> Outcome:
    """Score what the strategy proposes chunk by chunk, until a rule of `options` or Ctrl-C ends it.

    `search` has checked the options. Raises InputError where every mapping of a mapspace too large for that is asked
    for, the engine cannot evaluate its mappings, or the checkpoint cannot be written.
    """
    chunks = _chunks(space, options)
    problem = ScoringTask(
        space,
        table,
        options.strategy,
        options.objectives,
        options.seed,
        costs,
        options.axes,
        options.prune,
        options.engine,
    )
    if faults := space_faults(options.engine, space, costs):
        raise InputError(faults)
    recorder = Recorder(stop_rules(options))
    if checkpoint and (state := checkpoint.load()):
        recorder.restore(state)
    if not recorder.statistics.stopped_by:
        _run(problem, recorder, islice(chunks, recorder.chunks, None), options, progress, checkpoint)
    if recorder.where is None:
        return Outcome(None, recorder.statistics)
    chunk, index = recorder.where
    front = _front(problem, recorder)
    return Outcome(problem.propose(chunk).take([index]), recorder.statistics, front=front)


def _run(
    problem: ScoringTask,
    recorder: Recorder,
    chunks: Iterable[int],
    options: SearchOptions,
    progress: Callable[[Recorder], None] | None,
    checkpoint: Part | None,
) -> None:
    """Record chunk after chunk until a rule, the last mapping or Ctrl-C ends it."""
    statistics = recorder.statistics
    began = time.monotonic() - statistics.seconds
    try:
        results = in_order(score, problem, chunks, options.cluster or options.jobs, learnt=recorder.known)
        with closing(results) as scored:
            for scores in scored:
                recorder.record(scores, time.monotonic() - began)
                if progress:
                    progress(recorder)
                if statistics.stopped_by:
                    break
                if checkpoint:
                    checkpoint.offer(recorder.state)
            else:
                statistics.stopped_by = "every mapping visited"
        statistics.seconds = time.monotonic() - began
        if checkpoint:
            checkpoint.save(recorder.state())
    except KeyboardInterrupt:  # what was saved last is what --resume goes on from
        statistics.stopped_by = "interrupted"
        statistics.seconds = time.monotonic() - began


def _front(problem: ScoringTask, recorder: Recorder) -> tuple[MappingBatch, ...]:
    """The mappings of the front, by their first axis."""
    batches = lru_cache(maxsize=8)(problem.propose)
    points = sorted(recorder.front, key=lambda point: point.values)
    return tuple(batches(point.chunk).take([point.index]) for point in points)


def _chunks(space: Mapspace, options: SearchOptions) -> Iterable[int]:
    """The numbers of the chunks. Raises InputError where every mapping is asked for and there are too many."""
    if not STRATEGIES[options.strategy].finite:
        return count_from()
    total = space.size.total
    if total > EXHAUSTIVE_LIMIT and options.samples is None and options.time_limit is None:
        rule = f"exhaustive visits every mapping, at most {EXHAUSTIVE_LIMIT:,} without an end set"
        raise InputError(
            fault("search", f"{rule}; this mapspace has {total:.3g}: give samples or time-limit, or use random")
        )
    return range(number_of_chunks(space))
