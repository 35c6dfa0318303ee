"""Why the figures of a plan of a network are what they are: what stays, what moves beside layers, the groups, sums."""

from collections.abc import Callable, Iterator

from ...fusion import GroupCosts
from ...mapping import MappingBatch
from ...networks import Movement, PartCosts, PlacedPart, PlanCosts
from ..groups import group_explanation
from ..plans import part_name


def plan_explanation(costs: PlanCosts, layer_explanation: Callable[[MappingBatch], str]) -> list[str]:
    """Explain the figures of a plan, line by line; `layer_explanation` explains the counts of one mapping."""
    lines = list[str]()
    for number, (own, count) in enumerate(zip(costs.parts, costs.counts, strict=True)):
        placed = costs.plan.placed(number)
        times = f", {count:,} times" if count > 1 else ""
        lines += [f"part {number + 1}: {part_name(placed)}{times}", *(f"  {line}" for line in _part(placed, own))]
        if own.layers is not None:
            lines += [f"  {line}".rstrip() for line in group_explanation(own.layers, layer_explanation)]
            if own.movements:
                lines += [f"  {line}" for line in _sums(own, own.layers)]
        lines.append("")
    numbered = list(zip(costs.counts, costs.parts, strict=True))
    energies = " + ".join(f"{count:,} x {own.energy_pj:,.6g}" for count, own in numbered)
    cycles = " + ".join(f"{count:,} x {own.cycles:,}" for count, own in numbered)
    lines.append(f"energy = {energies} = {costs.energy_pj:,.6g} pJ")
    return [*lines, f"cycles = {cycles} = {costs.cycles:,}"]


def _part(placed: PlacedPart, costs: PartCosts) -> Iterator[str]:
    level = costs.arch.levels[costs.arch.number_of(placed.keeper)]
    graph, held = placed.graph, sorted(placed.held)
    rooms = [f"{name} {graph.nodes[name].words:,} words x {graph.bits(level, name)} bits" for name in held]
    if rooms:
        yield f"stays in {level.name}: {' + '.join(rooms)} = {placed.room_bits(costs.arch):,} bits"
    for own in costs.movements:
        yield _movement(own, costs)


def _sums(costs: PartCosts, layers: GroupCosts) -> Iterator[str]:
    """The energy and cycles of a part with layers, and of what moves beside them."""
    yield f"part: energy = {layers.energy_pj:,.6g} + {costs.moving_pj:,.6g} (beside) = {costs.energy_pj:,.6g} pJ"
    yield f"part: cycles = {layers.cycles:,} + {costs.moving_cycles:,} (beside) = {costs.cycles:,}"


def _movement(own: Movement, costs: PartCosts) -> str:
    levels = costs.arch.levels
    words = [
        f"{flow.words:,} words of {flow.bits} bits {'written' if flow.written else 'read'} at {levels[flow.level].name}"
        for flow in own.flows
    ]
    energy_pj, cycles = own.energy_pj(costs.arch, costs.energies), own.cycles(costs.arch)
    return f"{own.name}: {', '.join(words)}: {energy_pj:,.6g} pJ, {cycles:,} cycles"
