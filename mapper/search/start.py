"""`search`: the options are checked, then the strategy runs."""

from collections.abc import Callable

from ...energy import EnergyTable
from ...workloads import InputError
from ..mapspace import Mapspace
from ..model import CostOptions
from ..runtime import Part
from .optimal import optimal
from .options import SearchOptions
from .outcome import Outcome
from .recorder import Recorder
from .run import search_chunks


def search(
    space: Mapspace,
    table: EnergyTable,
    options: SearchOptions,
    costs: CostOptions | None = None,
    progress: Callable[[Recorder], None] | None = None,
    checkpoint: Part | None = None,
) -> Outcome:
    """The best mapping of `space` that `options` let it find. Ctrl-C ends it with the best so far.

    With a `checkpoint` it goes on from there, and saves how far it is. Raises InputError where the options are wrong,
    ask for every mapping of a space too large for that, or the checkpoint cannot be written.
    """
    if faults := options.faults():
        raise InputError(faults)
    run = optimal if options.strategy == "optimal" else search_chunks
    return run(space, table, options, costs, progress, checkpoint)
