"""`search`: the options are checked, then the strategy of the table runs."""

from ...workloads import InputError
from .option_faults import option_faults
from .outcome import Outcome
from .registry import STRATEGIES
from .strategy import Task, Watch


def search(task: Task, watch: Watch) -> Outcome:
    """The best mapping of the task's mapspace that its options let a strategy find.

    Ctrl-C ends it with the best so far. With a `watch.part` it goes on from the state there, and saves how far it is.
    Raises InputError where the options are wrong, ask for every mapping of a mapspace too large for that, or the state
    cannot be written.
    """
    if faults := option_faults(task.options):
        raise InputError(faults)
    return STRATEGIES[task.options.strategy].run(task, watch)
