"""The strategy `optimal`, and the lower bound for the result of any search: a proof about a layer."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from ...workloads import Fault, option_fault
from ..bounds import ObjectiveLimit
from ..mapping import MappingBatch
from ..problem import OBJECTIVES, Problem
from ..runtime import check_cluster
from ..search import Observers, Stop, Task
from ..search.evolution import Evolution
from ..search.options import Configurable, SearchOptions
from ..search.outcome import Outcome
from .optimal import Optimal, Start
from .stages import Stages

BY_PROOF = "an optimal search ends with a proof, by a time limit or a budget of seconds: leave this out or use random"


@dataclass(frozen=True)
class Proof(Configurable):
    """`--search optimal` finds the best mapping of a mapspace, or its front, and proves that no other is better.

    See Strategy.
    """

    proves = True
    shares = False
    compiles = False
    extends = frozenset({"time_limit", "effort"})
    asks = None

    def faults(self, options: SearchOptions) -> list[Fault]:
        """List options that it cannot follow: it proves the best by objectives, or the front of energy and delay."""
        faults = []
        known = options.front and set(options.axes) <= set(OBJECTIVES)
        if known and not {(1, 0), (0, 1)} <= {OBJECTIVES[axis].powers for axis in options.axes}:
            rule = "an optimal search proves the front of energy,delay"
            faults.append(option_fault("front", f'{rule}: name both, or use random; got "{options.front}"'))
        given = {"patience": options.patience, "target": options.target, "samples": options.samples}
        return faults + [option_fault(name, BY_PROOF) for name, value in given.items() if value is not None]

    def ignored(self, given: Collection[str]) -> list[Fault]:
        """List the victory rule."""
        return [option_fault("victory", BY_PROOF)] if "victory" in given else []

    def stop(self, options: SearchOptions) -> Stop:
        """Return the effort and the time limit as the only rules."""
        return Stop(None, time_limit=options.limits.seconds, effort=options.limits)

    def first_batch(self, task: Task) -> MappingBatch:
        """Return the first batch of the evolution with which it starts."""
        return Evolution().first_batch(task)

    def run(self, task: Task, observers: Observers) -> Outcome:
        """Find the best mapping, with its `lower_bound` and whether it is `optimal`.

        With a front the outcome also has its `proof`, with several objectives its `stages`.

        Returns the outcome of a finished search in `watch.part` again. Goes on from the best of a search that was
        interrupted, or that a time limit ended which is longer now. Raises InputError where a cluster does not answer,
        at once and not when a proof that has become long needs it.
        """
        check_cluster(task.options.cluster)
        return Stages(task, observers).run()


def lower_bound(task: Task, best: MappingBatch, observers: Observers) -> Outcome:
    """Prove a `lower_bound` of the mapspace for `options.bound` seconds; with 0 seconds, bound it only as a whole.

    Without them the proof has the effort and the time limit of the options. `best` is the mapping of any search; the
    proof may find a better mapping.
    """
    options, seconds = task.options, task.options.bound
    if seconds is not None:
        options = replace(options, time_limit=seconds or None, effort="")
    return Stages(replace(task.towards(front=()), options=options), observers, best, root_only=seconds == 0).run()


def least_below(task: Task, value: float, near: MappingBatch, observers: Observers) -> Outcome:
    """Find and prove the best mapping, if one is below `value` by the only objective; `near` is a valid mapping.

    Else the outcome has no mapping, and its lower bound is `value`, or what of it is proven. It has no certificate.
    """
    task = replace(task, options=replace(task.options, certify=False))
    return Optimal(task, observers, Start(near, below=value)).run()


def best_within(
    task: Task, limits: tuple[ObjectiveLimit, ...], near: MappingBatch | None, observers: Observers
) -> Outcome:
    """Find and prove the best mapping by the only objective among those within limits.

    It begins with a valid mapping `near`, which need not be within them. Without a mapping within them the outcome has
    none; it has no certificate.
    """
    task = replace(task, options=replace(task.options, certify=False))
    return Optimal(task, observers, Start(near, limits=limits)).run()


def least_sum(task: Task, slope: float, best: MappingBatch, observers: Observers) -> Outcome:
    """Prove the least energy + `slope` x cycles, in pJ, from a mapping near the best, with no certificate."""
    options = replace(task.options, certify=False)
    return prove_sum(replace(task, options=options), slope, observers, best)


def prove_sum(
    task: Task, slope: float, observers: Observers, near: MappingBatch | None = None, *, root_only: bool = False
) -> Outcome:
    """Find and prove the least energy + `slope` x cycles, in pJ, with the effort of the options.

    It is the least energy of a machine that leaks `slope` pJ more per cycle. From a mapping `near` the best it looks
    for better ones only where it must; with `root_only` it then bounds the mapspace as a whole and no more.
    """
    (energy,) = (objective.name for objective in OBJECTIVES.values() if objective.powers == (1, 0))
    task = replace(task, problem=_leaking(task.problem, slope)).towards(objectives=(energy,), front=())
    if near is None:
        return Stages(task, observers).run()
    proof = Optimal(task, observers, Start(near, root_only=root_only))
    proof.evolver.active = False
    return proof.run()


def _leaking(problem: Problem, slope: float) -> Problem:
    """Return the problem with `slope` pJ more leakage per cycle, all of it at the MAC units; a DRAM's refresh stays."""
    arch, table = problem.arch, problem.energies
    leak = (problem.charges.leakage_pj_per_cycle(arch, table) + slope) / arch.instances(len(arch.levels))
    levels = tuple(replace(level, leak_pj_per_cycle=0.0) for level in table.levels)
    energies = replace(table, levels=levels, compute=replace(table.compute, leak_pj_per_cycle=leak))
    return replace(problem, energies=energies, charges=replace(problem.charges, leakage=True))
