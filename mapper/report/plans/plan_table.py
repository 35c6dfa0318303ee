"""The parts of a plan as tables: one by one, and level by level; for files, and for the page."""

from collections.abc import Iterator, Sequence

from ...fusion import CostItem, ItemKind
from ...networks import PlacedPart
from ..table_files import Column, Table, Value, energy_column
from .network_plan import Decision, NetworkPlan, shown_shared

HEAD = (
    *("part", "layers", "operations", "count", "tiles", "held", "held_bits", "cycles", "energy_pj"),
    *("alone_cycles", "alone_pj", "saved", "gap"),
)


def plan_file(plan: NetworkPlan) -> Table:
    """List the parts in turn, a row each, with the names and values of files; figures are of one execution."""
    return _plain("plan", HEAD, [_row(number, own) for number, own in enumerate(plan.decisions, 1)])


def levels_file(plan: NetworkPlan) -> Table:
    """List what each part costs, a row for each layer and for what moves beside them, once; energies by level."""
    head = ("part", "kind", "name", "count", "cycles", "energy_pj", *(f"{name}_pj" for name in plan.components))
    rows: list[list[Value]] = [
        [number, str(item.kind), item.name, own.count, item.cycles, item.energy_pj, *_energies(plan, item)]
        for number, own, item in _items(plan)
    ]
    return _plain("plan_levels", head, rows)


def front_file(plan: NetworkPlan) -> Table:
    """List the plans that no known one beats, from the fewest cycles on."""
    return _plain("plan_front", ("cycles", "energy_pj"), [list(point) for point in plan.front])


def plan_table(plan: NetworkPlan) -> Table:
    """The parts in turn for a reader, a row each; figures are of one execution."""
    counted = plan.counted
    largest = max((own.costs.energy_pj for own in plan.decisions), default=0.0)
    energy = energy_column("energy", largest)
    names = ["layers", "operations", "count", "tiles", f"stays in {plan.keeper.name}"]
    columns = [Column("part", form=",.0f"), *(Column(name, form=",.0f" * (name == "count")) for name in names)]
    columns += [
        Column("cycles", form=",.0f"),
        *([energy] if counted else []),
        Column("one by one: cycles", form=",.0f"),
    ]
    columns += [energy_column("one by one: energy", largest)] if counted else []
    columns += [Column("saved", form=".2%"), Column("open", form=".2%")]
    rows = list[list[Value]]()
    for own, row in zip(plan.decisions, plan_file(plan).rows, strict=True):
        shown = dict(zip(HEAD, row, strict=True)) | {"held": ", ".join(sorted(own.placed.held))}
        left_out = {"held_bits"} if counted else {"held_bits", "energy_pj", "alone_pj"}
        rows.append([shown[name] for name in HEAD if name not in left_out])
    return _table("plan", "the plan, part by part, once", columns, rows)


def levels_table(plan: NetworkPlan) -> Table:
    """What each part costs for a reader, once, energies by level; below it the plan, and the layers one by one."""
    names = plan.components if plan.counted else ()
    largest = max((item.energy_pj for _, _, item in _items(plan)), default=0.0)
    columns = [Column("part", form=",.0f"), Column("layer, or what moves"), Column("count", form=",.0f")]
    columns += [Column("cycles", form=",.0f")]
    columns += [energy_column(name, largest) for name in ("energy", *names)] if plan.counted else []
    rows, before = list[list[Value]](), 0
    for number, own, item in _items(plan):
        energies = [item.energy_pj, *_energies(plan, item)] if plan.counted else []
        rows.append([None if number == before else number, _label(item), own.count, item.cycles, *energies])
        before = number
    for name, costs in (("plan, all executions", plan.costs), ("layers one by one", plan.alone)):
        energies = [costs.energy_pj, *(costs.component_pj.get(own, 0.0) for own in names)] if plan.counted else []
        rows.append([None, name, None, costs.cycles, *energies])
    return _table("plan_levels", "the plan, level by level, once", columns, rows)


def _items(plan: NetworkPlan) -> Iterator[tuple[int, Decision, CostItem]]:
    return ((number, own, item) for number, own in enumerate(plan.decisions, 1) for item in own.costs.items)


def _energies(plan: NetworkPlan, item: CostItem) -> list[float]:
    return [item.energies_pj.get(name, 0.0) for name in plan.components]


def _label(item: CostItem) -> str:
    return f"copy of {item.name}" if item.kind is ItemKind.COPY else item.name


def _plain(name: str, head: Sequence[str], rows: Sequence[Sequence[Value]]) -> Table:
    return _table(name, "", [Column(own) for own in head], rows)


def _table(name: str, title: str, columns: Sequence[Column], rows: Sequence[Sequence[Value]]) -> Table:
    return Table(name, title, tuple(columns), tuple(map(tuple, rows)))


def _row(number: int, own: Decision) -> list[Value]:
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
        own.gap,
    ]


def tiles_text(placed: PlacedPart) -> str:
    """The shared loops with their tiles, the outermost first."""
    return " ".join(f"{dim} {tile}" for dim, tile in shown_shared(placed))
