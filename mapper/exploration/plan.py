"""Counts a group that is written in a file, and executes it."""

from pathlib import Path

import numpy as np

from ...arch import Architecture
from ...energy import EnergyTable
from ...workloads import Document, Fault, InputError, Network, read_yaml
from ...workloads.timeloop import TIMELOOP_TAGS
from ..fusion import GroupCosts, StepLayer
from ..fusion.executor import drawn_inputs, execute, whole
from ..fusion.plans import is_plan, read_plan
from ..model import TooLarge
from ..model.figures import Mapped
from ..problem import Charges, Problem
from ..report.groups import Comparison, PlanResult, compared
from .diagnose import exceeded_limits
from .group import systolic_faults

MOST_WORK = 3_000_000  # MACs and words of all steps that are executed


def plan_document(path: Path) -> Document | None:
    """Read a file; None where it is not one of a group. Raises InputError where it cannot be read."""
    document = read_yaml(path, tags=TIMELOOP_TAGS)
    return document if is_plan(document) else None


def evaluate_plan(
    network: Network, document: Document, machine: tuple[Architecture, EnergyTable, Charges]
) -> PlanResult:
    """Count and cost the group of a plan, valid or not. Raises InputError with every fault of the file."""
    arch, energies, charges = machine
    if faults := systolic_faults(arch):
        raise InputError(faults)
    plan = read_plan(document, network, arch)
    mapped = {
        layer: Mapped.of(Problem(batch.arch, batch.workload, energies, charges), batch)
        for layer, batch in plan.batches.items()
    }
    limits = list(plan.overfull)
    for layer, own in mapped.items():
        stage = plan.standing.group.stages[layer.stage]
        sizes = " ".join(f"{dim}={size}" for dim, size in zip(stage.dims, layer.sizes, strict=True) if size > 1)
        limits += [f"{stage.name} with {sizes}: {limit}" for limit in exceeded_limits(own.batch)]
    costs = GroupCosts(plan.standing, energies, charges, plan.numbers, mapped)
    return PlanResult(costs, tuple(limits), plan.fitted)


def executed_plan(result: PlanResult) -> Comparison:
    """Execute a group word by word, and each stage in steps by its mapping; compare all figures.

    Raises InputError where it is too large.
    """
    costs, group = result.costs, result.costs.standing.group
    work = sum(number * _work(costs, layer) for layer, number in costs.layers.items())
    try:
        if work > MOST_WORK:
            raise TooLarge(
                f"the steps have {work:,} MACs and words; the executor of groups takes at most {MOST_WORK:,}"
            )
        inputs = drawn_inputs(group)
        executed = execute(group, inputs, {layer: own.batch for layer, own in costs.mapped.items()})
    except TooLarge as error:
        raise InputError(Fault("--simulate", None, "", str(error))) from error
    equal = bool(np.array_equal(executed.output, whole(group, inputs)))
    return compared(costs, executed, values_equal=equal)


def _work(costs: GroupCosts, layer: StepLayer) -> int:
    """The MACs and words of a stage in a step."""
    work = layer.workload(costs.standing.group)
    return work.macs + sum(map(work.tensor_words, work.tensors))
