"""The strategy `optimal`, and the bound of any search's result: one proof of one layer."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from ....workloads import Fault, InputError, option_fault
from ...mapping import MappingBatch
from ...model import OBJECTIVES
from ..budget import read_budget
from ..options import SearchOptions
from ..outcome import Outcome
from ..recorder import Stop
from ..strategy import Task, Watch
from .first_look import DRAWS
from .optimal import Optimal
from .resume import goes_on, restored, state_of

BY_PROOF = "an optimal search ends with a proof, by a time limit or a budget of seconds"


@dataclass(frozen=True)
class Proof:
    """`--search optimal`: the best mapping of a mapspace, or its front, with a proof that no other is better.

    See Strategy.
    """

    proves = True
    shares = False
    compiles = False
    extends = frozenset({"time_limit"})

    def faults(self, options: SearchOptions) -> list[Fault]:
        """It proves the best by one objective, or the front of energy and delay, in this process."""
        faults = []
        known = options.front and set(options.axes) <= set(OBJECTIVES)
        if known and not {(1, 0), (0, 1)} <= {OBJECTIVES[axis].powers for axis in options.axes}:
            rule = "an optimal search proves the front of energy,delay"
            faults.append(option_fault("front", f'{rule}: name both, or use random; got "{options.front}"'))
        given: dict[str, object] = {"objective": len(options.objectives) > 1, "patience": options.patience}
        given |= {"target": options.target, "cluster": options.cluster}
        rule = "an optimal search proves the best by one objective, in this process: leave this out or use random"
        faults += [option_fault(name, rule) for name, value in given.items() if value]
        if options.samples is not None:
            faults.append(option_fault("samples", f"{BY_PROOF}: leave this out or use random"))
        if _asks_for_mappings(str(options.budget)):
            text = f'must be seconds for an optimal search, as 60s; got "{options.budget}"'
            faults.append(option_fault("budget", text))
        return faults

    def ignored(self, given: Collection[str]) -> list[Fault]:
        """The victory rule."""
        return [option_fault("victory", f"{BY_PROOF}: leave this out or use random")] if "victory" in given else []

    def stop(self, options: SearchOptions) -> Stop:
        """By the time limit alone."""
        return Stop(None, time_limit=options.time_limit)

    def first_batch(self, task: Task) -> MappingBatch:
        """That of the random search that it begins with."""
        return DRAWS.first_batch(task)

    def run(self, task: Task, watch: Watch) -> Outcome:
        """The best mapping, with its `lower_bound` and whether it is `optimal`; with a front also its `proof`.

        The outcome of a finished search that `watch.part` holds is given again; a search that was interrupted, or
        that the time limit ended and that has a longer one now, begins with its best.
        """
        proof, part = Optimal(task, watch), watch.part
        if part and (state := part.load()):
            if not goes_on(state, task.options.time_limit, part):
                return restored(task.space, state)
            proof.go_on(state)
        outcome = proof.run()
        if part:
            part.save(state_of(task.space, outcome, finished=not outcome.statistics.interrupted))
        return outcome


def lower_bound(task: Task, best: MappingBatch, watch: Watch) -> Outcome:
    """What no mapping can beat, in `lower_bound`, after `options.bound` seconds of proof; with 0 seconds, what is known
    of the mapspace as a whole.

    `best` is a mapping found by any search; the proof may find a better one.
    """
    seconds = task.options.bound or 0.0
    options = replace(task.options, objective=task.options.objectives[0], front="", time_limit=seconds or None)
    return Optimal(replace(task, options=options), watch, best, root_only=not seconds).run()


def _asks_for_mappings(budget: str) -> bool:
    try:
        return read_budget(budget).samples is not None
    except InputError:  # no budget, or a fault that is reported for every strategy
        return False
