"""`search` checks the options and runs the strategy."""

from ...workloads import InputError
from .option_faults import option_faults
from .outcome import Outcome
from .registry import STRATEGIES
from .strategy import Task, Watch


def search(task: Task, watch: Watch) -> Outcome:
    """Search the task's mapspace for the best mapping, with the strategy of its options.

    Ctrl-C ends the search with the best so far. With a `watch.part` it goes on from the state there, and saves its
    state. Raises InputError where the options are wrong, where they ask for every mapping of too large a mapspace, or
    where the state cannot be written.
    """
    if faults := option_faults(task.options):
        raise InputError(faults)
    return STRATEGIES[task.options.strategy].run(task, watch)
