"""Searches the mapspace of a layer, counts the best mapping exactly and checks it."""

from collections.abc import Callable
from dataclasses import replace

from ...energy import EnergyTable, as_written
from ...workloads import Workload
from ..mapping import MappingBatch
from ..mapspace import Mapspace
from ..model import Costs, check_physical, evaluate, exactly, recount
from ..model.figures import by_memory
from ..problem import COST_MODEL, OBJECTIVES, ROUNDING, CostOptions
from ..proof import lower_bound
from ..report import Result, exact_front
from ..runtime import Part
from ..search import Recorder, Task, Watch
from ..search.outcome import Ended
from ..searchers import STRATEGIES, search
from .diagnose import hint, idle_hint

Progress = Callable[[Workload, Recorder], None]  # called after each chunk of mappings
Answered = Callable[[MappingBatch, float], None]  # called with each mapping that a cost model answered, and its value

_NONE = {  # why no mapping was found, where not all that were drawn are invalid
    Ended.SEEN_ALL: "every one was ruled out: no mapping of this mapspace is valid\n",
    Ended.GIVEN: "none of the given mappings could be made one of this layer and machine\n",
    Ended.NOTHING_PROPOSED: "its pruners left none of the mappings drawn: ask for less with --settings\n",
}


def explore_layer(
    task: Task, progress: Progress | None = None, part: Part | None = None, answered: Answered | None = None
) -> Result:
    """Search a layer; where no mapping is valid, the result's `hint` explains the first chunk."""
    space, options = task.space, task.options
    space.prepare()
    outcome = search(task, Watch(_tell(space, progress), part, answered))
    best, went = outcome.best, outcome.statistics
    objective = COST_MODEL if outcome.answer else ",".join(task.goal.objectives)
    if best is None:
        why = "".join(line for reason, line in _NONE.items() if reason in went.ended)
        unsearched = part is not None and part.final and went.had_no_time
        if not task.only_start and not unsearched:
            strategy = STRATEGIES[options.strategy]
            why += hint(strategy.first_batch(task), "--effort" if strategy.proves else "--samples")
        problem = task.problem
        nothing = Result(
            problem.arch, space.workload, problem.energies, None, None, went, "", objective, options.seed, why
        )
        return replace(nothing, answer=outcome.answer)
    best, costs = counted(best, task.table, task.charges)
    return replace(
        result_of(best, costs, task.table),
        statistics=went,
        mapspace="",
        objective=objective,
        seed=options.seed,
        answer=outcome.answer,
        axes=task.goal.front,
        front=exact_front(outcome.front, task.goal.front, task.table, task.charges),
        proof=outcome.proof,
        lower_bound=outcome.lower_bound,
        optimal=outcome.optimal,
        coverage=outcome.coverage,
        certificate=outcome.certificate,
        stages=outcome.stages,
        hint=idle_hint(space, best, costs),
    )


def bounded(result: Result, task: Task, progress: Progress | None = None, part: Part | None = None) -> Result:
    """Add to a result the lower bound of the task's mapspace (`options.bound`).

    A better mapping that the proof meets becomes the answer; `searched` is then the value of the search's own. The
    statistics say if Ctrl-C, or `part`, interrupted the proof.
    """
    if result.batch is None or result.costs is None:
        return result
    proven = lower_bound(task, result.batch, Watch(_tell(task.space, progress), part))
    if proven.statistics.interrupted:
        result = replace(result, statistics=replace(result.statistics, ended=proven.statistics.ended))
    result = _improved(result, proven.best, task)
    certificate, coverage = proven.certificate, proven.coverage
    result = replace(result, lower_bound=proven.lower_bound, coverage=coverage, certificate=certificate)
    closed = proven.optimal or not proven.stages
    optimal = closed and result.gap is not None and result.gap <= ROUNDING
    return replace(result, stages=proven.stages, optimal=optimal)


def counted(batch: MappingBatch, table: EnergyTable, options: CostOptions | None) -> tuple[MappingBatch, Costs]:
    """Count and cost the single mapping of `batch` exactly. Raises InternalError where the figures are impossible."""
    batch = exactly(batch)
    costs = evaluate(batch, table, options, recount(batch))
    check_physical(batch, costs)
    return batch, costs


def result_of(batch: MappingBatch, costs: Costs, table: EnergyTable) -> Result:
    """Make the result of a mapping and its costs, both of levels, with the machine as it was written."""
    machine, figures = as_written(batch.arch, table)
    return Result(machine, batch.workload, figures, batch, by_memory(costs, batch.arch))


def _improved(result: Result, best: MappingBatch | None, task: Task) -> Result:
    """Put a better mapping in place of the result's, and on its front."""
    if best is None:
        return result
    best, costs = counted(best, task.table, task.charges)
    for name in task.goal.objectives:
        value, before = (float(OBJECTIVES[name].of(each)[0]) for each in (costs, result.valid_costs))
        if abs(value - before) > ROUNDING * before:
            break
    if not value < before * (1 - ROUNDING):
        return result
    axes = result.axes
    front = exact_front([*(each.batch for each in result.front), best], axes, task.table, task.charges) if axes else ()
    hint = idle_hint(task.space, best, costs)
    own = by_memory(costs, best.arch)
    return replace(result, batch=best, costs=own, searched=before, searched_by=name, front=front, hint=hint)


def _tell(space: Mapspace, progress: Progress | None) -> Callable[[Recorder], None] | None:
    return None if progress is None else lambda recorder: progress(space.workload, recorder)
