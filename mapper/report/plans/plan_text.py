"""Plans of networks as text: a row per part, and what is proven."""

from collections.abc import Iterator
from math import inf

from ....arch import Storage
from ...networks import PlacedPart
from ...problem import at_most
from ..tables import TextTable, energy_unit, with_article
from .network_plan import NetworkPlan
from .plan_table import tiles_text

MOST_NAMES = 3  # of a part
MOST_GAPS, LEAST_GAP = 3, 0.0005  # that are named, shares of the plan


def plan_parts(plan: NetworkPlan) -> Iterator[str | TextTable]:
    """Yield the tables and lines of a plan."""
    unit, size = energy_unit(max(own.costs.energy_pj for own in plan.decisions))
    level, rows = plan.keeper, []
    for own in plan.decisions:
        held = own.placed.room_bits(own.costs.arch)
        rows.append(
            [
                part_name(own.placed),
                str(own.count) if own.count > 1 else "",
                tiles_text(own.placed),
                f"{room_text(level, held)} {resident_names(own.placed)}" if held else "",
                f"{own.costs.cycles:,}",
                f"{own.costs.energy_pj / size:,.4g}",
                f"{own.alone_cycles:,}",
                f"{own.alone_pj / size:,.4g}",
                f"{own.saved:.1%}",
            ]
        )
    figures = ["cycles", f"energy\n[{unit}]"]
    alone = [f"alone:\n{figures[0]}", figures[1]]
    head = ["part", "count", "tiles", f"stays in {level.name}", *figures, *alone, "saved"]
    yield TextTable(
        head,
        rows,
        left=(0, 2, 3),
        title="plan, part by part, once; saved: by all its executions, of the layers one by one",
    )
    yield "\n".join(_lines(plan))


def room_text(level: Storage, bits: int) -> str:
    """The share of a memory that so many bits take; where it has no limit, bytes."""
    return f"{bits / level.usable_bits:.0%}" if level.usable_bits else f"{bits // 8:,} B"


def part_name(placed: PlacedPart) -> str:
    """The names of a part: those of many are cut."""
    names = [name for name in placed.part.names if name not in placed.part.between]
    if len(names) <= MOST_NAMES:
        return "+".join(names)
    return f"{names[0]}+...+{names[-1]} ({len(names)})"


def resident_names(placed: PlacedPart) -> str:
    """The tensors that are in the memory, by what makes them."""
    held = sorted(placed.held)
    more = f" and {len(held) - MOST_NAMES} more" if len(held) > MOST_NAMES else ""
    return f"{', '.join(held[:MOST_NAMES])}{more}"


def _lines(plan: NetworkPlan) -> Iterator[str]:
    alone, best = plan.alone, plan.costs
    title = plan.objective.short
    for name, costs in (("one by one", alone), ("plan", best)):
        value = plan.objective.value(costs.energy_pj, float(costs.cycles))
        unit, size = energy_unit(costs.energy_pj)
        figures = f"{costs.cycles:,} cycles, {costs.energy_pj / size:,.5g} {unit}"
        yield f"{name:<12} {title} {value:.5g} {plan.objective.unit}; {figures}"
    yield f"saved        {plan.saved:.1%} of the {title}"
    if not plan.limits.none:
        yield f"limits       {limits_text(plan)}"
    yield f"proof        {proof_text(plan)}"
    if plan.front:
        yield f"front        {front_text(plan)}"
    if gaps := widest_gaps(plan):
        yield f"widest gaps  {gaps}"
    how = f"{plan.searched:,} prices of parts bounded or searched; {plan.statistics.seconds:.2f} s"
    yield f"plans        {how}; ended by: {plan.statistics.stopped_by}"


# what a proof of plans with fused groups is about
PARTLY_TRIED = "of fused groups some shared dims and tiles are tried, which --group names"


def proof_text(plan: NetworkPlan) -> str:
    """Say what is proven of all plans."""
    title = plan.objective.short
    rule = "" if plan.most_held is None else f" with at most {plan.most_held} tensors in the memory between parts"
    rule += " in the order of the network" if plan.in_turn else ""
    rule += "" if plan.limits.none else " within the limits"
    tried = f"; {PARTLY_TRIED}" if plan.groups else ""
    if plan.impossible:
        return f"there is no plan{rule}{tried}"
    if not plan.within:
        least = plan.envelope
        unit, size = energy_unit(least.energy_pj)
        least_pj = f"{least.energy_pj / size:,.5g} {unit}"
        return f"no plan has fewer than {least.cycles:,.0f} cycles, or less than {least_pj}{tried}"
    if plan.optimal:
        return f"no plan{rule} has a lower {title}{tried}"
    return f"no plan{rule} has {with_article(title)} more than {at_most(plan.gap)} lower{tried}"


def widest_gaps(plan: NetworkPlan) -> str:
    """Name the parts of which most is open, with shares of the plan; empty where nothing much is."""
    gaps = [
        (own.gap, number, part_name(own.placed)) for number, own in enumerate(plan.decisions, 1) if own.gap is not None
    ]
    widest = sorted((own for own in gaps if own[0] >= LEAST_GAP), key=lambda own: -own[0])[:MOST_GAPS]
    return ", ".join(f"part {number} ({name}): {at_most(gap)}" for gap, number, name in widest)


def limits_text(plan: NetworkPlan) -> str:
    """Name the limits, and say whether they are kept."""
    unit, size = energy_unit(plan.limits.energy_pj if plan.limits.energy_pj < inf else 1.0)
    cycles, energy = f"{plan.limits.cycles:,.12g} cycles", f"{plan.limits.energy_pj / size:,.5g} {unit}"
    given = [
        *([cycles] if plan.limits.cycles < inf else []),
        *([energy] if plan.limits.energy_pj < inf else []),
    ]
    kept = "kept" if plan.within else "NOT KEPT: this is the known plan that is least beyond"
    return f"at most {' and '.join(given)}: {kept}"


def front_text(plan: NetworkPlan) -> str:
    """The ends of the front of known plans, and how far the bound is below."""
    (least, most), number = (plan.front[0], plan.front[-1]), len(plan.front)
    unit, size = energy_unit(most[1])
    ends = " to ".join(f"{cycles:,.0f} cycles, {pj / size:,.5g} {unit}" for cycles, pj in (least, most))
    many = f"{number:,} plans from {ends}" if number > 1 else f"one plan, of {ends.partition(' to ')[0]}"
    return f"{many}; no plan is more than {at_most(plan.front_gap)} below"
