"""Plans of a network: which layers are fused, and what stays in a memory; from the results of its layers."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Protocol

from ...workloads import Network, Workload
from ..bounds.sums import Envelope, Limits
from ..mapspace import MapspaceTooLargeError
from ..model.figures import Mapped
from ..networks import Graph, PlanCosts
from ..plan_search import (
    MOST_STAGES,
    KnownLayer,
    Machine,
    PlanGoal,
    PlanOutcome,
    PlanSearch,
    SlopeSearch,
    TooManyError,
    front_of,
    one_by_one,
    plan_one_by_one,
    search_plans,
    unsearched,
)
from ..problem import Objective, Point
from ..report import NetworkResult, Result
from ..report.plans import NetworkPlan
from ..search.outcome import Ended
from ..searchers import STRATEGIES
from .memories import keepers
from .time_slices import Study
from .uncounted import why_uncounted


@dataclass(frozen=True)
class PlanProgress:
    """How far a search of plans, or of pipelines, is at one slope."""

    searched: int  # prices of parts
    value: float  # energy + slope x cycles of the best
    least: float  # of any, at least
    effort: float | None  # the share that is used; None: it has no limit


FRONT_AXES = ("energy", "delay")  # of a front of plans
Tell = Callable[[PlanProgress], None]


class _At(Protocol):
    """What is known at a slope."""

    @property
    def least(self) -> float: ...
    @property
    def value(self) -> float: ...


def telling(tell: Tell | None) -> Callable[[SlopeSearch, _At], None] | None:
    """Tell how far a search is, if somebody wants to know."""
    return (
        None
        if tell is None
        else lambda search, at: tell(PlanProgress(search.searched, at.value, at.least, search.effort))
    )


def why_no_plan(study: Study) -> str:
    """Say why plans of a study are not searched; empty: they are."""
    options, work, arch = study.options, study.work, study.arch
    if not isinstance(work, Network):
        return "it is a single layer"
    if not has_graph(work):
        return f"{work.name} does not say what its layers hand each other"
    if len(options.objectives) > 1 or set(options.axes) not in (set(), set(FRONT_AXES)):
        return f"a plan is for one objective, and a front of plans of {' and '.join(FRONT_AXES)}"
    if options.cost_model is not None or study.only_start or options.budget or options.certify:
        return "plans are searched with our model, without --budget, --transfer-only and --certificate"
    if not STRATEGIES[options.strategy].proves:
        return f"--search {options.strategy} proves nothing of layers, on which plans stand"
    if any(layer.transformations for layer, _ in work.layers):
        return "plans are of layers as they are written, without --pad and --im2col"
    if reason := why_uncounted(arch):
        return f"{arch.name} {reason}"
    if not list(keepers(arch)):
        return f"no memory of {arch.name} has one instance, in which tensors could stay"
    return ""


def has_graph(work: Workload | Network) -> bool:
    """Whether a workload is a network that says what its layers hand each other."""
    return isinstance(work, Network) and bool(work.edges or work.operations)


def with_operations(study: Study) -> Study:
    """Return a study that counts the operations of its network beside the layers."""
    return replace(study, beside=_beside(study))


def _beside(study: Study) -> Point:
    """Compute the cycles and pJ of the operations of a network, its layers one by one."""
    assert isinstance(study.work, Network), "it has a graph"
    machine = plan_machine(study, next(keepers(study.arch)))
    plan = plan_one_by_one(Graph.of(study.work), machine.keeper)
    cycles, energy_pj = 0.0, 0.0
    for number, part in enumerate(plan.parts):
        (took, pj), count = machine.beside(plan.placed(number)), plan.graph.nodes[part.last].count
        cycles, energy_pj = cycles + count * took, energy_pj + count * pj
    return cycles, energy_pj


@dataclass(frozen=True)
class PlanRequest:
    """What plans are searched for."""

    fused: bool = True  # whether layers may be fused
    limits: Limits = Limits()
    tell: Tell | None = None  # called after each step


def with_plan(study: Study, result: NetworkResult, request: PlanRequest) -> NetworkResult:
    """Search plans of a network whose layers are searched, in each memory in which tensors may stay."""
    if result.statistics.interrupted:
        no_plan = "interrupted before plans were searched; operations are left out"
        unknown = "" if request.limits.none else "; it is not known whether a plan is within the limits"
        return replace(result, no_plan=no_plan + unknown)
    if not result.found:
        return result
    try:
        plans = list(_plans(study, result, request))
    except (TooManyError, MapspaceTooLargeError) as error:
        return replace(result, no_plan=str(error))
    goal = _goal(study, request)
    best = reduce(lambda one, other: other if goal.better(other.costs, one.costs) else one, plans)
    return replace(result, plan=_of_all(best, plans))


def _of_all(best: NetworkPlan, plans: Sequence[NetworkPlan]) -> NetworkPlan:
    """Return the best plan with what is known of plans in all memories, and how they were searched."""
    plan = replace(
        best,
        lower_bound=min(own.lower_bound for own in plans),
        envelope=Envelope.of_all([own.envelope for own in plans]),
        front=front_of([point for own in plans for point in own.front]),
        searched=sum(own.searched for own in plans),
        most_held=min((own.most_held for own in plans if own.most_held is not None), default=None),
        in_turn=any(own.in_turn for own in plans),
        groups=any(own.groups for own in plans),
    )
    ended = _reasons([best] if plan.optimal else [best, *plans])
    seconds = sum(own.statistics.seconds for own in plans)
    return replace(plan, statistics=replace(best.statistics, seconds=seconds, ended=ended))


def _reasons(plans: Sequence[NetworkPlan]) -> tuple[Ended, ...]:
    """List why searches of plans ended; that all was seen counts only where it is so of each."""
    reasons = tuple(dict.fromkeys(reason for own in plans for reason in own.statistics.ended))
    return tuple(reason for reason in reasons if reason != Ended.SEEN_ALL) or reasons


def _plans(study: Study, result: NetworkResult, request: PlanRequest) -> Iterator[NetworkPlan]:
    """Yield the best plan with each keeper; each but the first has the time that is left. Raises TooManyError.

    After Ctrl-C those that are left are bounded as they are, without a search.
    """
    assert isinstance(study.work, Network), "it has layers"
    graph = Graph.of(study.work)
    known = {name: _known(layer) for name, layer in result.by_name}
    mapped = {name: own.mapped[0] for name, own in known.items()}
    goal = _goal(study, request)
    began, seconds, interrupted = time.monotonic(), study.options.limits.seconds, False
    for keeper in keepers(study.arch):
        machine = plan_machine(study, keeper)
        alone = one_by_one(graph, machine, mapped)
        left = None if seconds is None else max(0.05, began + seconds - time.monotonic())
        options = replace(study.options, effort=study.options.effort or "normal", time_limit=left, front="")
        search = PlanSearch(graph, machine, study.mapspace, known, MOST_STAGES if request.fused else 1, options=options)
        if interrupted:
            yield _plan(alone, goal, unsearched(search, alone, goal))
            continue
        outcome = search_plans(search, alone, goal, telling(request.tell))
        alone = _better(goal.objective, alone, one_by_one(graph, machine, _found_alone(search, alone)))
        yield _plan(alone, goal, outcome)
        interrupted = outcome.statistics.interrupted


def _goal(study: Study, request: PlanRequest) -> PlanGoal:
    return PlanGoal(study.options.goal.minimised[0], request.limits, bool(study.options.axes))


def plan_machine(study: Study, keeper: str) -> Machine:
    """The machine of a study with the memory in which tensors stay."""
    first = study.problems[0]
    return Machine(study.arch, first.energies, first.charges, keeper)


def _found_alone(search: PlanSearch, alone: PlanCosts) -> dict[str, Mapped]:
    """The best mappings of layers alone that were met on the way, at the slope of the layers one by one."""
    objective = search.options.goal.minimised[0]
    slope = objective.slope_at(alone.energy_pj, float(alone.cycles)) if alone.cycles else 0.0
    return {name: search.alone(name, slope) for name in search.known}


def _better(objective: Objective, one: PlanCosts, other: PlanCosts) -> PlanCosts:
    """The one with the lower objective; of equal ones the first."""
    return min(one, other, key=lambda own: objective.value(own.energy_pj, float(own.cycles)))


def _known(layer: Result) -> KnownLayer:
    """What is known of a layer alone."""
    assert layer.mapped is not None, "every layer has a mapping"
    return KnownLayer.of(layer.needs(1), layer.mapped)


def _plan(alone: PlanCosts, goal: PlanGoal, outcome: PlanOutcome) -> NetworkPlan:
    return NetworkPlan(
        outcome.best,
        alone,
        goal.objective,
        outcome.lower_bound,
        outcome.statistics,
        outcome.searched,
        outcome.most_held,
        outcome.in_turn,
        outcome.groups,
        outcome.part_gaps,
        goal.limits,
        outcome.envelope,
        outcome.front,
    )
