"""Counts a group, or a plan of a network, that is written in a file, and executes it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from ...arch import Architecture
from ...energy import EnergyTable
from ...workloads import Document, Fault, InputError, Network, Workload, read_yaml
from ...workloads.timeloop import TIMELOOP_TAGS
from ..fusion import Group, GroupCosts, StepLayer
from ..fusion.executor import drawn_inputs, execute, whole
from ..fusion.plans import is_plan, read_plan
from ..mapping import MappingBatch
from ..model import TooLarge
from ..model.figures import Mapped
from ..networks import PlanCosts, execute_plan, is_network_plan, read_network_plan, reference
from ..problem import Charges, Problem
from ..report.groups import Comparison, PlanResult, compared
from ..report.plan_files import CountedPlan, compared_plan
from .diagnose import exceeded_limits
from .uncounted import machine_faults

MOST_WORK = 3_000_000  # MACs and words of all steps that are executed


def plan_document(path: Path) -> Document | None:
    """Read a file; None where it is neither one of a group nor one of a network. Raises InputError where it cannot be
    read."""
    document = read_yaml(path, tags=TIMELOOP_TAGS)
    return document if is_plan(document) or is_network_plan(document) else None


def evaluate_plan(
    network: Network, document: Document, machine: tuple[Architecture, EnergyTable, Charges]
) -> PlanResult | CountedPlan:
    """Count and cost what a file describes, a group or a plan of the network, valid or not.

    Raises InputError with every fault of the file.
    """
    if faults := machine_faults(machine[0]):
        raise InputError(faults)
    if is_network_plan(document):
        return _network_plan(network, document, machine)
    arch, energies, charges = machine
    plan = read_plan(document, network, arch)
    mapped = _mapped(plan.batches, machine)
    limits = (*plan.overfull, *_limits(plan.standing.group, mapped))
    return PlanResult(GroupCosts(plan.standing, energies, charges, plan.numbers, mapped), limits, plan.fitted)


def _network_plan(
    network: Network, document: Document, machine: tuple[Architecture, EnergyTable, Charges]
) -> CountedPlan:
    read = read_network_plan(document, network, machine[0])
    mapped = {number: _mapped(batches, machine) for number, batches in read.batches.items()}
    limits = list(read.overfull)
    for number, layers in mapped.items():
        group = read.plan.parts[number].group
        assert group is not None, "it has mappings"
        limits += _limits(group, layers)
    return CountedPlan(PlanCosts.of(read.plan, machine, mapped), tuple(limits), read.fitted)


def _mapped(
    batches: Mapping[StepLayer, MappingBatch], machine: tuple[Architecture, EnergyTable, Charges]
) -> dict[StepLayer, Mapped]:
    _, energies, charges = machine
    return {
        layer: Mapped.of(Problem(batch.arch, batch.workload, energies, charges), batch)
        for layer, batch in batches.items()
    }


def _limits(group: Group, mapped: Mapping[StepLayer, Mapped]) -> Iterator[str]:
    """Yield the limits of the machine that mappings exceed, with their stages and sizes."""
    for layer, own in mapped.items():
        stage = group.stages[layer.stage]
        yield from (f"{_title(stage, layer)}: {limit}" for limit in exceeded_limits(own.batch))


def _title(stage: Workload, layer: StepLayer) -> str:
    """The name of a stage, with its sizes over 1 in some steps."""
    sizes = " ".join(f"{dim}={size}" for dim, size in zip(stage.dims, layer.sizes, strict=True) if size > 1)
    return f"{stage.name} with {sizes}" if sizes else stage.name


def executed_plan(result: PlanResult | CountedPlan) -> Comparison:
    """Execute a group, or a plan, word by word, and each layer in steps by its mapping; compare all figures.

    Raises InputError where it is too large, or a mapping does not keep what stays in the keeper.
    """
    parts = [result.costs] if isinstance(result, PlanResult) else [own.layers for own in result.costs.parts]
    if faults := [fault for own in parts if own is not None for fault in _bypassed(own)]:
        raise InputError(faults)
    try:
        return _executed_group(result) if isinstance(result, PlanResult) else _executed_network(result)
    except TooLarge as error:
        raise InputError(Fault("--simulate", None, "", str(error))) from error


def _bypassed(costs: GroupCosts) -> Iterator[Fault]:
    """Yield the mappings that let a tensor pass a level in which it stays: nothing says how they are executed."""
    for layer, own in costs.mapped.items():
        batch = own.batch
        for number, level in enumerate(batch.arch.levels):
            for v, tensor in enumerate(batch.workload.tensors):
                if tensor.name in level.resident and not batch.keep[0, number, v]:
                    title = _title(costs.standing.group.stages[layer.stage], layer)
                    message = f"{title} cannot be executed: {tensor.name} stays in {level.name}, where it is bypassed"
                    yield Fault("--simulate", None, "", message)


def _executed_group(result: PlanResult) -> Comparison:
    costs, group = result.costs, result.costs.standing.group
    _check_work(_steps_work(costs), "groups")
    inputs = drawn_inputs(group)
    executed = execute(group, inputs, {layer: own.batch for layer, own in costs.mapped.items()})
    equal = bool(np.array_equal(executed.output, whole(group, inputs)))
    return compared(costs, executed, values_equal=equal)


def _executed_network(result: CountedPlan) -> Comparison:
    costs, plan = result.costs, result.costs.plan
    groups = {number: own.layers for number, own in enumerate(costs.parts) if own.layers is not None}
    moved = sum(flow.words for part in costs.parts for own in part.movements for flow in own.flows)
    _check_work(sum(map(_steps_work, groups.values())) + moved, "plans")
    batches = {number: {layer: mapped.batch for layer, mapped in own.mapped.items()} for number, own in groups.items()}
    executed, made = execute_plan(plan, mappings=batches), reference(plan.graph.network)
    equal = all(np.array_equal(values, made[name]) for name, values in executed.values.items())
    return compared_plan(costs, executed, values_equal=equal)


def _check_work(work: int, what: str) -> None:
    if work > MOST_WORK:
        raise TooLarge(f"the steps have {work:,} MACs and words; the executor of {what} takes at most {MOST_WORK:,}")


def _steps_work(costs: GroupCosts) -> int:
    """The MACs and words of all steps of a group."""
    return sum(number * _work(costs, layer) for layer, number in costs.layers.items())


def _work(costs: GroupCosts, layer: StepLayer) -> int:
    """The MACs and words of a stage in a step."""
    work = layer.workload(costs.standing.group)
    return work.macs + sum(map(work.tensor_words, work.tensors))
