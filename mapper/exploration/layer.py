"""Searches the mapspace of a layer, counts the best mapping exactly and checks it."""

from collections.abc import Callable
from dataclasses import replace

from ...workloads import Workload
from ..mapspace import Mapspace
from ..model import check_physical, evaluate, exactly, recount
from ..model.bounds import ROUNDING
from ..report import Result, exact_front
from ..runtime import Part
from ..search import STRATEGIES, Ended, Recorder, Task, Watch, search
from ..search.optimal import lower_bound
from .diagnose import hint

Progress = Callable[[Workload, Recorder], None]  # called after each chunk of mappings


def explore_layer(task: Task, progress: Progress | None = None, part: Part | None = None) -> Result:
    """Search a layer; where no mapping is valid, the result's `hint` explains the first chunk."""
    space, options = task.space, task.options
    space.prepare()
    outcome = search(task, Watch(_tell(space, progress), part))
    best, went, objective = outcome.best, outcome.statistics, ",".join(options.objectives)
    if best is None:
        ruled_out = Ended.SEEN_ALL in went.ended
        every = "every one was ruled out: no mapping of this mapspace is valid\n" if ruled_out else ""
        why = every + hint(STRATEGIES[options.strategy].first_batch(task))
        return Result(space.arch, space.workload, task.table, None, None, went, "", objective, options.seed, why)
    best = exactly(best)
    costs = evaluate(best, task.table, task.costs, recount(best))
    check_physical(best, costs)
    result = Result(space.arch, space.workload, task.table, best, costs, went, "", objective, options.seed)
    return replace(
        result,
        axes=options.axes,
        front=exact_front(outcome.front, options.axes, task.table, task.costs),
        proof=outcome.proof,
        lower_bound=outcome.lower_bound,
        optimal=outcome.optimal,
        attained=outcome.optimal,
        coverage=outcome.coverage,
        certificate=outcome.certificate,
    )


def bounded(result: Result, task: Task, progress: Progress | None = None) -> Result:
    """Add to a result the lower bound of the task's mapspace (`options.bound`).

    The mapping remains that of the search, even if the proof has a better mapping. The statistics say if Ctrl-C
    interrupted the proof.
    """
    if result.batch is None or result.costs is None:
        return result
    proven = lower_bound(task, result.batch, Watch(_tell(task.space, progress)))
    if proven.statistics.interrupted:
        result = replace(result, statistics=replace(result.statistics, ended=proven.statistics.ended))
    result = replace(
        result,
        lower_bound=proven.lower_bound,
        attained=proven.optimal,
        coverage=proven.coverage,
        certificate=proven.certificate,
    )
    return replace(result, optimal=result.gap is not None and result.gap <= ROUNDING)


def _tell(space: Mapspace, progress: Progress | None) -> Callable[[Recorder], None] | None:
    return None if progress is None else lambda recorder: progress(space.workload, recorder)
