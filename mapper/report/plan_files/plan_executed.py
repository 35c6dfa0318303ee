"""The figures of a plan of a network beside those of its executor."""

from collections import Counter
from collections.abc import Iterator

from ...networks import COPY, INSIDE, ExecutedPlan, PlanCosts
from ..groups import Comparison, Figure, compared


def compared_plan(costs: PlanCosts, executed: ExecutedPlan, *, values_equal: bool) -> Comparison:
    """Compare the figures of all parts: those of layers, what moves beside them, and what stays in the keeper."""
    figures = list[Figure]()
    for number, part in enumerate(costs.parts):
        if part.layers is not None:
            figures += compared(part.layers, executed.groups[number], values_equal=values_equal).figures
        figures += _moved(costs, executed, number)
        figures += _room(costs, executed, number)
    return Comparison(tuple(figures), values_equal)


def _moved(costs: PlanCosts, executed: ExecutedPlan, number: int) -> Iterator[Figure]:
    """The words that operations and copies read and write, by level and direction."""
    own, plan = costs.parts[number], costs.plan
    model, true = Counter[tuple[int, bool]](), Counter[tuple[int, bool]]()
    for flow in (flow for movement in own.movements for flow in movement.flows):
        model[flow.level, flow.written] += flow.words
    for (place, name, where, written), words in executed.moved.items():
        read_up = (name, where) == (COPY, INSIDE)  # charged with --drain-reads
        if place == number and (own.charges.drain_reads or not read_up):
            true[own.arch.number_of(plan.keeper) if where == INSIDE else 0, written] += words
    for key in sorted(model.keys() | true.keys()):
        level, written = key
        name = f"words {'written' if written else 'read'} beside layers"
        yield Figure(own.arch.levels[level].name, plan.parts[number].last, name, model[key], true[key])


def _room(costs: PlanCosts, executed: ExecutedPlan, number: int) -> Iterator[Figure]:
    """The bits of all that stays in the keeper while a part is executed."""
    plan, arch = costs.plan, costs.parts[number].arch
    level = arch.levels[arch.number_of(plan.keeper)]
    true = sum(words * plan.graph.bits(level, name) for name, words in executed.inside[number].items())
    model = plan.placed(number).room_bits(arch)
    if model or true:
        yield Figure(plan.keeper, plan.parts[number].last, "bits that stay from part to part", model, true)
