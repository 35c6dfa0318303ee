"""Makes plans of ways: parts with their loops and mappings, tensors that stay; and the plan of layers one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..fusion import Group, GroupCosts, Standing, StepLayer
from ..model.figures import Mapped
from ..networks import Graph, Part, Plan, PlanCosts, Resident
from .candidates import with_applied
from .known_fronts import Choice
from .prices import Slope
from .search import AtSlope, PlanSearch
from .states import Machine, Move


def choices_at(search: PlanSearch, at: AtSlope) -> tuple[Choice, ...]:
    """The moves of the ways with the least values at a slope, each with the best mappings there."""
    return tuple(Choice(move, _best(search, move, at.slope)) for way in at.ways for move in way.moves)


def assembled(search: PlanSearch, choices: Sequence[Choice]) -> PlanCosts:
    """Make the plan of moves with their mappings, and count it anew."""
    parts, mapped = list[Part](), dict[int, dict[StepLayer, Mapped]]()
    for number, (move, best) in enumerate(choices):
        part = move.placed.part
        if best is not None:
            assert part.group is not None, "it has layers"
            own = best.standing.group
            part = replace(part, group=replace(part.group, shared=own.shared, retained=own.retained, kept=own.kept))
            mapped[number] = {layer: before.named(part.layers[layer.stage]) for layer, before in best.mapped.items()}
        parts.append(part)
    residents = _residents(search.graph, [choice.move for choice in choices])
    plan = Plan(search.graph, search.machine.keeper, tuple(parts), tuple(residents))
    assert not plan.faults(), "; ".join(plan.faults())
    return PlanCosts.of(plan, search.machine.costed, mapped)


def _best(search: PlanSearch, move: Move, slope: Slope) -> GroupCosts | None:
    return None if move.group is None else search.prices.every[move.group].best(slope)


def _residents(graph: Graph, moves: Sequence[Move]) -> list[Resident]:
    """List the tensors that stay: each from the move that makes it to the last that finds it in the memory."""
    residents = []
    for number, move in enumerate(moves):
        placed, name = move.placed, move.placed.part.last
        if placed.stays:
            later = [own.placed for own in moves[number + 1 :] if name in own.placed.held]
            until = next(own for own in later[-1].part.names if own in graph.readers[name])
            residents.append(Resident(name, until, placed.copied))
    return residents


def plan_one_by_one(graph: Graph, keeper: str) -> Plan:
    """Make the plan of layers one by one: every tensor goes off chip; operations are applied as words pass where they
    can be."""
    parts, done = list[Part](), set[str]()
    for name, node in graph.nodes.items():
        if name in done:
            continue
        part = Part(operations=(name,))
        if node.layer is not None:
            part = Part((name,), group=Group((node.layer,), (), keeper))
        *_, part = with_applied(graph, part, done.__contains__)
        done.update(part.names)
        parts.append(part)
    return Plan(graph, keeper, tuple(parts))


def one_by_one(graph: Graph, machine: Machine, mapped: Mapping[str, Mapped]) -> PlanCosts:
    """Count the plan of layers one by one, with these mappings by name."""
    plan, batches = plan_one_by_one(graph, machine.keeper), dict[int, dict[StepLayer, Mapped]]()
    for number, part in enumerate(plan.parts):
        if part.group is not None:
            (layer,) = Standing(part.group, machine.arch).layers
            batches[number] = {layer: mapped[part.layers[0]]}
    return PlanCosts.of(plan, machine.costed, batches)
