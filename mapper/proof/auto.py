"""`--search auto`, the default: the best mapping that its effort finds, with a proof where there can be one."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from math import inf

from ...workloads import Fault, option_fault
from ..mapping import MappingBatch
from ..search import Observers, Rounds, Stop, Strategy, Task
from ..search.evolution import Evolution
from ..search.options import Configurable, SearchOptions
from ..search.outcome import Outcome
from .proposals import proposed_by_our_model
from .prove import Proof

ASKED = 256  # mappings that a cost model is asked about, where no end is set
EFFORT = "normal"  # where no limit is given
BY_ITSELF = "an auto search ends with a proof, or by its effort or time limit: leave this out or use random"


@dataclass(frozen=True)
class Auto(Configurable):
    """An evolution, then a proof with its result, until it is proven or effort is used up. See Strategy.

    The evolution is that of `evolve` with the same effort, so the answer is never worse. A front but that of energy and
    delay has no proof.
    """

    proves = True
    shares = False
    compiles = False
    extends = frozenset({"time_limit", "effort"})

    @property
    def asks(self) -> Callable[[Task], Rounds]:
        """Propose to a cost model what our model finds good."""
        return proposed_by_our_model

    def faults(self, options: SearchOptions) -> list[Fault]:
        """List the rules that end a search by numbers of mappings, of which a proof knows none."""
        if options.cost_model:
            return []
        given = {"samples": options.samples, "patience": options.patience, "target": options.target}
        return [option_fault(name, BY_ITSELF) for name, value in given.items() if value is not None]

    def ignored(self, given: Collection[str]) -> list[Fault]:
        """List the victory rule."""
        return [option_fault("victory", BY_ITSELF)] if "victory" in given else []

    def stop(self, options: SearchOptions) -> Stop:
        """Return effort and time limit as the only rules; with a cost model all rules, and ASKED mappings if none."""
        if options.cost_model:
            ends = (options.samples, options.valid, options.time_limit)
            samples = ASKED if ends == (None, None, None) else options.samples
            more = (options.valid, options.patience, options.target)
            return Stop(options.victory, samples, options.time_limit, options.give_up, *more)
        limits = self._limited(options).limits
        return Stop(None, time_limit=limits.seconds, effort=limits)

    def first_batch(self, task: Task) -> MappingBatch:
        """Return the first batch of the evolution."""
        return Evolution().first_batch(task)

    def run(self, task: Task, observers: Observers) -> Outcome:
        """Find the best mapping, and prove it where possible."""
        return self._by(task.options).run(replace(task, options=self._limited(task.options)), observers)

    def _by(self, options: SearchOptions) -> Strategy:
        """Return the strategy that can search with these options."""
        proof = Proof()
        return Evolution() if proof.faults(options) else proof

    def _limited(self, options: SearchOptions) -> SearchOptions:
        """Set the effort where no limit is given; a time limit of inf means none."""
        if options.time_limit is None:
            return replace(options, effort=options.effort or EFFORT)
        return replace(options, time_limit=None if options.time_limit == inf else options.time_limit)
