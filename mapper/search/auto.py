"""`--search auto`, the default: the best mapping there is time to find, with a proof where there can be one."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from math import inf

from ...workloads import Fault, option_fault
from ..mapping import MappingBatch
from .evolution import Evolution
from .optimal import Proof
from .options import SearchOptions
from .outcome import Outcome
from .proposals import proposed_by_our_model
from .recorder import Stop
from .rounds import Rounds
from .settings import Configurable
from .strategy import Strategy, Task, Watch

ASKED = 256  # mappings that a cost model is asked about, where no end is set
SECONDS = 10.0  # for a layer, where no limit is given
BY_ITSELF = "an auto search ends with a proof, or by a time limit: leave this out or use random"


@dataclass(frozen=True)
class Auto(Configurable):
    """An evolution, then a proof with its result, until it is proven or time is up. See Strategy.

    Where no proof can follow (fronts but that of energy and delay) the evolution has all the time.
    """

    proves = True
    shares = False
    compiles = False
    extends = frozenset({"time_limit"})

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
        """Return the time limit as the only rule; with a cost model all rules, and ASKED mappings if none is given."""
        if options.cost_model:
            ends = (options.samples, options.valid, options.time_limit)
            samples = ASKED if ends == (None, None, None) else options.samples
            more = (options.valid, options.patience, options.target)
            return Stop(options.victory, samples, options.time_limit, options.give_up, *more)
        return Stop(None, time_limit=self._limited(options).time_limit)

    def first_batch(self, task: Task) -> MappingBatch:
        """Return the first batch of the evolution."""
        return Evolution().first_batch(task)

    def run(self, task: Task, watch: Watch) -> Outcome:
        """Find the best mapping, and prove it where possible."""
        return self._by(task.options).run(replace(task, options=self._limited(task.options)), watch)

    def _by(self, options: SearchOptions) -> Strategy:
        """Return the strategy that can search with these options."""
        proof = Proof()
        return Evolution() if proof.faults(options) else proof

    def _limited(self, options: SearchOptions) -> SearchOptions:
        """Set the time limit; inf means none."""
        limit = SECONDS if options.time_limit is None else options.time_limit
        return replace(options, time_limit=None if limit == inf else limit)
