"""One layer: its mapspace searched, the best mapping counted exactly and checked."""

from collections.abc import Callable
from dataclasses import replace

from ..energy import EnergyTable
from ..workloads import Workload
from .checkpoint import Part
from .cost import CostOptions, evaluate
from .diagnose import hint
from .front import exact_front
from .mapspace import Mapspace
from .record import Recorder
from .recount import recount
from .report import Result
from .sanity import check
from .search import Problem, SearchOptions, search

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
    best, went = outcome.best, outcome.statistics
    if best is None:
        why = hint(Problem(space, table, options.strategy, seed=options.seed).propose(0))
        return Result(space.arch, space.workload, table, None, None, went, "", options.objective, options.seed, why)
    found = evaluate(best, table, costs, recount(best))
    check(best, found)
    front = exact_front(outcome.front, options.axes, table, costs)
    told = Result(space.arch, space.workload, table, best, found, went, "", options.objective, options.seed)
    return replace(told, lower_bound=outcome.lower_bound, optimal=outcome.optimal, axes=options.axes, front=front)
