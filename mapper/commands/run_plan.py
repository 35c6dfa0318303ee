"""`ruby-model ARCH NETWORK PLAN` counts a fused group with the mappings of its stages, executes it, explains it."""

from pathlib import Path

from ...arch import Architecture
from ...energy import EnergyTable
from ...workloads import Fault, InputError, Network, option_fault
from ..exploration import evaluate_plan, executed_plan, plan_document
from ..mapping import MappingBatch
from ..problem import Charges
from ..report.groups import PlanResult, group_explanation
from ..runtime import print_result
from .guard import FOUND, NOTHING_VALID, echo_json
from .ruby_model import ModelRequest

# the options of ruby-model that are of one layer
OF_A_LAYER = ("transforms", "pad", "im2col", "beside", "store", "objective", "no_energy")


def run_plan(request: ModelRequest, network: Network, machine: tuple[Architecture, EnergyTable, Charges]) -> int:
    """Count and cost the group of a plan. Status 0: valid; 1: it does not fit the machine; 2: bad input."""
    document = plan_document(Path(request.mapping))
    if document is None:
        rule = "a mapping is of one layer; name one, as NETWORK/LAYER, or give a plan of a group of layers"
        raise InputError(Fault(request.mapping, None, "", f"{network.name} is a network: {rule}"))
    if faults := _clashes(request):
        raise InputError(faults)
    result = evaluate_plan(network, document, machine)
    if request.json:
        echo_json(_json(result, request))
    else:
        print_result(_text(result, request))
    return NOTHING_VALID if result.limits else FOUND


def _clashes(request: ModelRequest) -> list[Fault]:
    """List the options that are not of a group."""
    given = sorted(set(request.given).intersection(OF_A_LAYER))
    faults = [option_fault(name.replace("_", "-"), "is of one layer, not of a group: leave it out") for name in given]
    if request.other:
        faults.append(option_fault("MAPPING_B", "two groups are not compared: leave it out"))
    if request.changes:
        faults.append(option_fault("set", "changes the mapping of one layer, not a group: leave it out"))
    return faults


def _layer_explanation(request: ModelRequest, batch: MappingBatch) -> str:
    from ..model.explain import explanation_text  # it takes long to import

    return explanation_text(batch, drain_reads=request.drain_reads)


def _explanation(result: PlanResult, request: ModelRequest) -> list[str]:
    return group_explanation(result.costs, lambda batch: _layer_explanation(request, batch))


def _json(result: PlanResult, request: ModelRequest) -> dict[str, object]:
    """Convert the result, and the additions of the request, to JSON values."""
    values = result.json()
    if request.simulated:
        values["simulated"] = executed_plan(result).json()
    if request.explained:
        values["explanation"] = _explanation(result, request)
    return values


def _text(result: PlanResult, request: ModelRequest) -> str:
    """Format the result, and the additions of the request, as text."""
    parts = [str(result)]
    parts += [f"\n{executed_plan(result)}"] if request.simulated else []
    parts += ["", *_explanation(result, request)] if request.explained else []
    return "\n".join(parts)
