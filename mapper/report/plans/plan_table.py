"""The parts of a plan as rows: for files, and for the page."""

from ...networks import PlacedPart
from .network_plan import Decision, NetworkPlan, shown_shared

HEAD = (
    *("part", "layers", "operations", "count", "tiles", "held", "held_bits", "cycles", "energy_pj"),
    *("alone_cycles", "alone_pj", "saved"),
)


def plan_rows(plan: NetworkPlan) -> list[list[object]]:
    """List the parts in turn, a row each, as HEAD says; figures are of one execution."""
    return [_row(number, own) for number, own in enumerate(plan.decisions, 1)]


def _row(number: int, own: Decision) -> list[object]:
    part = own.placed.part
    return [
        number,
        "+".join(part.layers),
        "+".join((*part.between, *part.operations)),
        own.count,
        tiles_text(own.placed),
        " ".join(sorted(own.placed.held)),
        own.placed.room_bits(own.costs.arch),
        own.costs.cycles,
        own.costs.energy_pj,
        own.alone_cycles,
        own.alone_pj,
        own.saved,
    ]


def tiles_text(placed: PlacedPart) -> str:
    """The shared loops with their tiles, the outermost first."""
    return " ".join(f"{dim} {tile}" for dim, tile in shown_shared(placed))
