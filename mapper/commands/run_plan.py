"""`ruby-model ARCH NETWORK PLAN` counts a fused group, or a plan of the network, with the mappings of its layers,
executes it, explains it."""

from pathlib import Path

from ...arch import Architecture
from ...energy import EnergyTable
from ...workloads import Fault, InputError, Network, option_fault
from ..exploration import evaluate_plan, executed_plan, plan_document
from ..mapping import MappingBatch
from ..problem import Charges
from ..report.groups import PlanResult, group_explanation
from ..report.plan_files import CountedPlan, plan_explanation
from ..runtime import print_result
from .guard import FOUND, NOTHING_VALID, echo_json
from .ruby_model import ModelRequest

# the options of ruby-model that are of one layer
OF_A_LAYER = ("transforms", "pad", "im2col", "beside", "store", "objective", "no_energy")


def run_plan(request: ModelRequest, network: Network, machine: tuple[Architecture, EnergyTable, Charges]) -> int:
    """Count and cost a plan, of a group or of the network. Status 0: valid; 1: it does not fit the machine; 2: bad
    input."""
    document = plan_document(Path(request.mapping))
    if document is None:
        rule = "a mapping is of one layer; name one, as NETWORK/LAYER, or give a plan of a group of layers, or of all"
        raise InputError(Fault(request.mapping, None, "", f"{network.name} is a network: {rule}"))
    if faults := _clashes(request, "plan" if "parts" in document.data else "group"):
        raise InputError(faults)
    result = evaluate_plan(network, document, machine)
    if request.json:
        echo_json(_json(result, request))
    else:
        print_result(_text(result, request))
    return NOTHING_VALID if result.limits else FOUND


def _clashes(request: ModelRequest, what: str) -> list[Fault]:
    """List the options that are not of a group, or of a plan of a network."""
    given = sorted(set(request.given).intersection(OF_A_LAYER))
    faults = [option_fault(name.replace("_", "-"), f"is of one layer, not of a {what}: leave it out") for name in given]
    if request.other:
        faults.append(option_fault("MAPPING_B", f"two {what}s are not compared: leave it out"))
    if request.changes:
        faults.append(option_fault("set", f"changes the mapping of one layer, not a {what}: leave it out"))
    return faults


def _layer_explanation(request: ModelRequest, batch: MappingBatch) -> str:
    from ..model.explain import explanation_text  # it takes long to import

    return explanation_text(batch, drain_reads=request.drain_reads)


def _explanation(result: PlanResult | CountedPlan, request: ModelRequest) -> list[str]:
    def of_layer(batch: MappingBatch) -> str:
        return _layer_explanation(request, batch)

    if isinstance(result, CountedPlan):
        return plan_explanation(result.costs, of_layer)
    return group_explanation(result.costs, of_layer)


def _json(result: PlanResult | CountedPlan, request: ModelRequest) -> dict[str, object]:
    """Convert the result, and the additions of the request, to JSON values."""
    values = result.json()
    if request.simulated:
        values["simulated"] = executed_plan(result).json()
    if request.explained:
        values["explanation"] = _explanation(result, request)
    return values


def _text(result: PlanResult | CountedPlan, request: ModelRequest) -> str:
    """Format the result, and the additions of the request, as text."""
    parts = [str(result)]
    parts += [f"\n{executed_plan(result)}"] if request.simulated else []
    parts += ["", *_explanation(result, request)] if request.explained else []
    return "\n".join(parts)
