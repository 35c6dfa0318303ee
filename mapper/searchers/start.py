"""`search` checks the options and runs the strategy."""

from dataclasses import replace

from ...workloads import InputError
from ..search import Task, Watch
from ..search.cost_model import ask
from ..search.outcome import Outcome
from .given import best_given, better_of, usable
from .option_faults import option_faults
from .table import STRATEGIES


def search(task: Task, watch: Watch) -> Outcome:
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
    if task.options.cost_model and strategy.asks:
        return ask(task, watch, strategy.asks(task), strategy.stop(task.options))
    return better_of(task, strategy.run(task, watch))
