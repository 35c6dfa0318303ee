"""Searches the mapspace of a layer, counts the best mapping exactly and checks it."""

from collections.abc import Callable
from dataclasses import replace

from ...workloads import Workload
from ..mapping import MappingBatch
from ..mapspace import Mapspace
from ..model.figures import Mapped
from ..problem import OBJECTIVES, ROUNDING
from ..proof import lower_bound
from ..report import Result, Searched, exact_front
from ..runtime import Part
from ..search import Observers, Recorder, Task
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
    outcome = search(task, Observers(_tell(space, progress), part, answered))
    best, went = outcome.best, outcome.statistics
    searched = Searched(went, None, options.strategy, options.seed, space.imperfect, space.reason)
    nothing = Result(task.problem, None, searched, answer=outcome.answer)
    if best is None:
        why = "".join(line for reason, line in _NONE.items() if reason in went.ended)
        unsearched = part is not None and part.final and went.had_no_time
        if not task.only_start and not unsearched:
            strategy = STRATEGIES[options.strategy]
            why += hint(strategy.first_batch(task), "--effort" if strategy.proves else "--samples")
        return replace(nothing, hint=why)
    mapped, front = Mapped.of(task.problem, best), exact_front(task.problem, outcome.front)
    return replace(nothing, mapped=mapped, evidence=outcome.evidence, front=front, hint=idle_hint(space, mapped))


def bounded(result: Result, task: Task, progress: Progress | None = None, part: Part | None = None) -> Result:
    """Add to a result the lower bound of the task's mapspace (`options.bound`).

    A better mapping that the proof meets becomes the answer; `searched` is then the value of the search's own. The
    statistics say if Ctrl-C, or `part`, interrupted the proof.
    """
    if result.batch is None:
        return result
    proven = lower_bound(task, result.batch, Observers(_tell(task.space, progress), part))
    if proven.statistics.interrupted:
        went = replace(result.statistics, ended=proven.statistics.ended)
        result = replace(result, search=replace(result.search or Searched(), statistics=went))
    result = replace(_improved(result, proven.best, task), evidence=replace(proven.evidence, front=result.proof))
    closed = proven.optimal or not proven.stages
    optimal = closed and result.gap is not None and result.gap <= ROUNDING
    return replace(result, evidence=replace(result.evidence, optimal=optimal))


def _improved(result: Result, best: MappingBatch | None, task: Task) -> Result:
    """Put a better mapping in place of the result's, and on its front."""
    if best is None:
        return result
    mapped = Mapped.of(task.problem, best)
    for name in task.goal.objectives:
        value, before = mapped.value(name), float(OBJECTIVES[name].of(result.valid_costs)[0])
        if abs(value - before) > ROUNDING * before:
            break
    if not value < before * (1 - ROUNDING):
        return result
    front = exact_front(task.problem, [*(member.batch for member in result.front), best]) if result.axes else ()
    return replace(result, mapped=mapped, before=(name, before), front=front, hint=idle_hint(task.space, mapped))


def _tell(space: Mapspace, progress: Progress | None) -> Callable[[Recorder], None] | None:
    return None if progress is None else lambda recorder: progress(space.workload, recorder)
