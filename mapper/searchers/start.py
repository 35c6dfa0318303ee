"""`search` checks the options and runs the strategy; its answer is never worse than the mappings it begins with."""

from dataclasses import replace

import numpy as np

from ...workloads import InputError
from ..mapping import MappingBatch
from ..mapspace import Mapspace, inside
from ..model import evaluate, recount, validity
from ..problem import ROUNDING
from ..search import Observers, Task
from ..search.cost_model import ask
from ..search.outcome import Ended, Outcome, Statistics
from .option_faults import option_faults
from .table import STRATEGIES


def usable(space: Mapspace, batch: MappingBatch) -> MappingBatch | None:
    """Return the mappings of `batch` that are valid and in the mapspace, in turn; None where there is none."""
    batch = inside(space, batch)
    if not len(batch):
        return None
    batch = batch.take(np.flatnonzero(validity(batch) == 0))
    return batch if len(batch) else None


def better_of(task: Task, outcome: Outcome) -> Outcome:
    """Return the outcome with the best mapping of `task.start` where that is better, and with all of them on the front.

    What a front does not need is left out where it is counted exactly.
    """
    if task.start is None:
        return outcome
    every = [task.start.take([i]) for i in range(len(task.start))]
    best = outcome.best
    values = None if best is None else _values(task, best)
    for batch in every:
        own = _values(task, batch)
        if values is None or _less(own, values):
            best, values = batch, own
    return replace(outcome, best=best, front=(*outcome.front, *every) if task.goal.front else outcome.front)


def best_given(task: Task) -> Outcome:
    """Return the outcome of a search that looks at the mappings of `task.start` alone."""
    statistics = Statistics()
    if task.start is not None:
        statistics.count(np.zeros(len(task.start), np.int8))
    statistics.stop(Ended.GIVEN)
    return better_of(task, Outcome(None, statistics))


def _values(task: Task, batch: MappingBatch) -> tuple[float, ...]:
    """Compute the objectives of a single mapping, exactly counted."""
    costs = evaluate(batch, task.table, task.charges, recount(batch))
    return tuple(float(objective.of(costs)[0]) for objective in task.goal.minimised)


def _less(values: tuple[float, ...], other_values: tuple[float, ...]) -> bool:
    """Test whether the first objective in which they differ is less."""
    pairs = zip(values, other_values, strict=True)
    value, other = next((pair for pair in pairs if abs(pair[0] - pair[1]) > ROUNDING * pair[1]), (0.0, 0.0))
    return value < other


def search(task: Task, observers: Observers) -> Outcome:
    """Search the task's mapspace for the best mapping, with the strategy of its options.

    It begins with the mappings of `task.start`, as far as the strategy can use them, and its answer is never worse.
    Ctrl-C ends the search with the best so far. With a `watch.part` it goes on from the state there, and saves its
    state. Raises InputError where the options are wrong, where they ask for every mapping of too large a mapspace, or
    where the state cannot be written.
    """
    if faults := option_faults(task.options):
        raise InputError(faults)
    strategy = STRATEGIES[task.options.strategy].configured(str(task.options.settings))
    if task.start is not None:
        task = replace(task, start=usable(task.space, task.start))
    if task.only_start:
        return best_given(task)
    if task.goal.answered and strategy.asks:
        return ask(task, observers, strategy.asks(task), strategy.stop(task.options))
    return better_of(task, strategy.run(task, observers))
