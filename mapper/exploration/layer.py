"""One layer: its mapspace searched, the best mapping counted exactly and checked."""

from collections.abc import Callable
from dataclasses import replace

from ...energy import EnergyTable
from ...workloads import Workload
from ..mapspace import Mapspace
from ..model import CostOptions, check_physical, evaluate, exactly, recount
from ..model.bounds import ROUNDING
from ..report import Result, exact_front
from ..runtime import Part
from ..search import Recorder, ScoringTask, SearchOptions, search
from ..search.optimal import SEEN_ALL, lower_bound
from .diagnose import hint

Progress = Callable[[Workload, Recorder], None]  # told after each chunk of mappings


def explore_layer(
    space: Mapspace,
    options: SearchOptions,
    table: EnergyTable,
    costs: CostOptions | None = None,
    progress: Progress | None = None,
    checkpoint: Part | None = None,
) -> Result:
    """The result of one search; `hint` from its own first chunk where nothing was valid."""
    space.prepare()
    tell = None if progress is None else lambda recorder: progress(space.workload, recorder)
    outcome = search(space, table, options, costs, tell, checkpoint)
    best, went, objective = outcome.best, outcome.statistics, ",".join(options.objectives)
    if best is None:
        every = "every one was ruled out: no mapping of this mapspace is valid\n" if went.stopped_by == SEEN_ALL else ""
        why = every + hint(ScoringTask(space, table, options.strategy, seed=options.seed).propose(0))
        return Result(space.arch, space.workload, table, None, None, went, "", objective, options.seed, why)
    best = exactly(best)
    found = evaluate(best, table, costs, recount(best))
    check_physical(best, found)
    front = exact_front(outcome.front, options.axes, table, costs)
    told = Result(space.arch, space.workload, table, best, found, went, "", objective, options.seed)
    told = replace(told, axes=options.axes, front=front, proof=outcome.proof)
    if options.strategy == "optimal":
        told = replace(told, lower_bound=outcome.lower_bound, optimal=outcome.optimal, attained=outcome.optimal)
        return replace(told, coverage=outcome.coverage, certificate=outcome.certificate)
    return told


def bounded(found: Result, space: Mapspace, options: SearchOptions, progress: Progress | None = None) -> Result:
    """The same with what no mapping of `space` can beat (`options.bound`).

    The mapping stays that of the search, also where the proof knows a better one. Interrupted, it says so.
    """
    if found.batch is None or found.costs is None:
        return found
    tell = None if progress is None else lambda recorder: progress(space.workload, recorder)
    proven = lower_bound(space, found.table, options, found.batch, found.costs.options, tell)
    if proven.statistics.interrupted:
        found = replace(found, statistics=replace(found.statistics, stopped_by=proven.statistics.stopped_by))
    found = replace(
        found,
        lower_bound=proven.lower_bound,
        attained=proven.optimal,
        coverage=proven.coverage,
        certificate=proven.certificate,
    )
    return replace(found, optimal=found.gap is not None and found.gap <= ROUNDING)
