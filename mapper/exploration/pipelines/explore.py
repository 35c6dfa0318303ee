"""Explores pipelines: the layers of a chain on all cores first, then all ways to divide chain and cores."""

from dataclasses import dataclass, replace

from ....arch import Architecture
from ....energy import EnergyTable
from ....workloads import Fault, InputError, Network, option_fault
from ...bounds.sums import LayerBounds
from ...mapspace import Preset
from ...model.figures import Mapped
from ...networks import Cores, Graph, Plan, why_no_chain
from ...plan_search import Floor, KnownLayer, Machine, plan_one_by_one
from ...plan_search.pipelines import MOST_CORES, PipelineSearch, in_turn, search_pipelines
from ...problem import Charges, Point, Problem
from ...report import NetworkResult, Result
from ...report.pipelines import PipelineResult
from ...runtime import one_thread
from ...search.options import SearchOptions
from ..api import Request, explored
from ..plans import Tell, telling
from ..time_slices import Study
from ..uncounted import machine_faults

MOST_NODES = 128  # layers and operations of a chain
MOST_ITEMS = 10**9


@dataclass(frozen=True)
class PipelineRequest:
    """What is divided, and how many items follow each other."""

    axis: str
    items: int
    tell: Tell | None = None  # called after each step


def pipeline_faults(
    network: Network, arch: Architecture, options: SearchOptions, request: PipelineRequest
) -> list[Fault]:
    """List why a network is no pipeline on the cores of a machine."""
    faults = machine_faults(arch)
    if len(options.objectives) > 1:
        faults.append(option_fault("objective", "names one objective for --pipeline"))
    if not 1 <= request.items <= MOST_ITEMS:
        faults.append(option_fault("items", f"must be from 1 to {MOST_ITEMS:,}, got {request.items:,}"))
    try:
        cores = Cores.of(arch, request.axis)
        if cores.axis.size > MOST_CORES:
            rule = f"{cores.axis.name} has {cores.axis.size:,} elements: at most {MOST_CORES} cores are divided"
            faults.append(option_fault("pipeline", rule))
    except ValueError as error:
        faults.append(option_fault("pipeline", str(error)))
    if not network.edges:
        rule = f"{network.name} does not say what its layers hand each other"
        return [*faults, option_fault("pipeline", rule)]
    graph = Graph.of(network)
    if len(graph.nodes) > MOST_NODES:
        faults.append(option_fault("pipeline", f"{network.name} has {len(graph.nodes):,} parts, {MOST_NODES} at most"))
    why = why_no_chain(graph)
    return faults + [option_fault("pipeline", f"{network.name} is no chain: {message}") for message in why]


@one_thread()
def explore_pipeline(
    network: Network,
    machine: tuple[Architecture, EnergyTable, Charges],
    mapspace: Preset,
    options: SearchOptions,
    request: PipelineRequest,
) -> PipelineResult:
    """Search the pipelines of a chain on the cores of a machine. Raises InputError with why there is none."""
    arch, energies, charges = machine
    if faults := pipeline_faults(network, arch, options, request):
        raise InputError(faults)
    cores = Cores.of(arch, request.axis)
    options = replace(options, strategy="optimal", effort=options.effort or "normal")
    plan = plan_one_by_one(Graph.of(network), arch.levels[0].name)
    goal = options.goal
    study = Study.of(network, lambda layer: Problem(arch, layer, energies, charges, goal), mapspace, False, options)
    whole = explored(replace(study, beside=_beside(plan, machine)), Request())
    assert isinstance(whole, NetworkResult), "of a network"
    if not whole.found:
        return PipelineResult(network.name, cores, request.items, goal, mapspace, options.seed, whole)
    known = {name: _known(result, charges) for name, result in whole.by_name}
    search = PipelineSearch(
        plan, cores, energies, charges, request.items, mapspace, known, telling(request.tell), options=options
    )
    alone = in_turn(search, {name: own.mapped[0] for name, own in known.items()})
    outcome = search_pipelines(search, goal.minimised[0])
    return PipelineResult(
        network.name,
        cores,
        request.items,
        goal,
        mapspace,
        options.seed,
        whole,
        alone,
        outcome.best,
        outcome.lower_bound,
        outcome.statistics,
        outcome.searched,
    )


def _beside(plan: Plan, machine: tuple[Architecture, EnergyTable, Charges]) -> Point:
    """Compute the cycles and pJ of the operations of a chain, once."""
    points = [Machine(*machine, plan.keeper).beside(plan.placed(number)) for number in range(len(plan.parts))]
    return sum(cycles for cycles, _ in points), sum(energy_pj for _, energy_pj in points)


def _known(result: Result, charges: Charges) -> KnownLayer:
    """What is known of a layer on all cores: a sum with leakage is one without it at a steeper slope."""
    assert result.mapped is not None, "every layer has a mapping"
    problem, needs = result.problem, result.needs(1)
    mapped = Mapped.of(replace(problem, charges=replace(charges, leakage=False)), result.mapped.batch)
    return KnownLayer(_floor(needs, charges.leak_pj_per_cycle(problem.arch, problem.energies)), (mapped,))


def _floor(needs: LayerBounds, leak_pj: float) -> Floor:
    sums = tuple((own.slope + leak_pj, own.least_pj) for own in needs.sums)
    if leak_pj:
        return Floor(cycles=needs.cycles, sums=((leak_pj, needs.energy_pj), *sums))
    return Floor(needs.energy_pj, needs.cycles, needs.edp, sums)
