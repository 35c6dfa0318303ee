"""What a workload is made of: its layers, or the parts of its plan, each with its figures."""

from collections.abc import Iterator
from dataclasses import dataclass

from .cases import MACS, OTHERS, energy_parts
from .stored import PlanPart, Stored


@dataclass(frozen=True)
class Piece:
    """A layer of a network, or a part of its plan."""

    name: str
    count: int  # how often it occurs
    cycles: int  # of all occurrences
    energy_pj: dict[str, float]  # of all occurrences, by level and what else is charged; empty where not known
    utilization: float | None  # share of the MAC units that are busy; None of parts without MACs
    bound_by: str  # what sets its cycles; empty of parts of a plan


def pieces(result: Stored) -> Iterator[Piece]:
    """Yield the parts of the plan of a network, else the layers of it, or the layer itself."""
    if result.plan is None:
        for layer in result.own_layers():
            cycles, bound_by = layer.count * (layer.cycles or 0), layer.bound_by or ""
            yield Piece(layer.workload, layer.count, cycles, energy_parts(layer), layer.utilization, bound_by)
        return
    for part in result.plan.groups:
        yield _of_plan(result, part)


def _of_plan(result: Stored, part: PlanPart) -> Piece:
    layers, operations = "+".join(part.layers), ", ".join(part.operations)
    name = f"{layers} ({operations})" if layers and operations else layers or operations
    macs = {name: layer.macs for layer in result.own_layers() for name in (layer.workload, *layer.alike)}
    busy = None
    if part.layers and part.cycles:
        busy = sum(macs[name] for name in part.layers) / part.cycles * _cycles_a_mac(result)
    return Piece(name, part.count, part.count * part.cycles, _energy_pj(result, part), busy, "")


def _energy_pj(result: Stored, part: PlanPart) -> dict[str, float]:
    """The energy of all executions of a part, by level and what else is charged."""
    energy, levels = dict[str, float](), {name for layer in result.own_layers() for name in layer.levels or ()}
    for item in part.costs:
        for component, own in (item.component_pj or {}).items():
            name = component if component in levels or component in OTHERS else MACS  # under the name of the units
            energy[name] = energy.get(name, 0.0) + part.count * own
    return energy


def _cycles_a_mac(result: Stored) -> float:
    """The cycles that a MAC takes at least, with all units busy."""
    return (result.utilization or 0.0) * (result.cycles or 0) / result.macs if result.macs else 0.0
