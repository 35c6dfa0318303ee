"""The frontiers of a sweep as tables of text: short heads, and notes on what all designs share."""

from collections.abc import Iterator, Mapping, Sequence

from ..report import TextTable
from .expressions import Values
from .fronts import MEASURES, Front
from .plan import LinkedParameters, Plan
from .proofs import gap_text, named

APART = ", "  # between parameters that vary together


def front_parts(plan: Plan, values: Mapping[int, Values], fronts: Sequence[Front]) -> list[str | TextTable]:
    """What all designs share, then a table per frontier; `values` are those of each design by its number.

    A column per parameter that varies, linked ones in one. A parameter of one value, or computed from others, and the
    path behind a short head stand once, before the tables.
    """
    if not fronts:
        return []
    columns = parameter_columns(plan)
    short = short_names(plan.parameters)
    notes = [*given_once(plan, values), *_paths(short, [name for names in columns.values() for name in names])]
    parts: list[str | TextTable] = ["\n".join(notes)] if notes else []
    for front in fronts:
        parts.append(_table(plan, values, columns, front))
        if front.joining:
            others = named((one.design, one.mapspace) for one in front.joining)
            parts.append(f"not on it, and with a gap that leaves it open: {others}")
    return parts


def parameter_columns(plan: Plan) -> dict[str, tuple[str, ...]]:
    """A short head -> the parameters of that column, for those that vary."""
    short = short_names(plan.parameters)
    return {APART.join(short[name] for name in group.names): group.names for group in plan.groups if group.size > 1}


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Of each path its last parts, as many as tell it from the others."""
    short = {}
    for name in names:
        parts = name.split(".")
        ends = (".".join(parts[-count:]) for count in range(1, len(parts) + 1))
        short[name] = next(end for end in ends if sum(_ends(other, end) for other in names) == 1)
    return short


def _ends(name: str, end: str) -> bool:
    return f".{name}".endswith(f".{end}")


def given_once(plan: Plan, values: Mapping[int, Values]) -> Iterator[str]:
    """The parameters that are given once: their value, or how they follow from others."""
    for name, written in _written_once(plan.groups):
        shown = {str(design[name]): None for design in values.values() if name in design}
        yield f"in every design: {name} {next(iter(shown))}" if len(shown) == 1 else f"computed: {name} = {written}"


def _written_once(groups: Sequence[LinkedParameters]) -> Iterator[tuple[str, object]]:
    for group in groups:
        if group.size == 1:
            yield from group.values(0).items()


def _paths(short: Mapping[str, str], names: Sequence[str]) -> Iterator[str]:
    """What the short heads stand for."""
    for name in names:
        if short[name] != name:
            yield f"{short[name]}: {name}"


def _table(plan: Plan, values: Mapping[int, Values], columns: Mapping[str, Sequence[str]], front: Front) -> TextTable:
    axes = [MEASURES[axis] for axis in plan.axes]
    several = len(plan.seeds) > 1
    head = ["design", *columns, "mapspace", *(f"{axis.name} [{axis.unit}]" for axis in axes), "proof", ""]
    rows = []
    for member in front.members:
        mark = ["knee"] if member.design == front.knee.design and member.mapspace == front.knee.mapspace else []
        mark += ["may be dominated, by the gaps"] if member.beaten else []
        sure = [f"on it in {member.share:.0%} of seeds"] if several else []
        places = zip(member.middle, axes, strict=True)
        figures = [format(value / axis.size, axis.form) for value, axis in places]
        mine = [APART.join(str(values[member.design][name]) for name in names) for names in columns.values()]
        rows.append(
            [str(member.design), *mine, member.mapspace, *figures, gap_text(member.gap), APART.join(sure + mark)]
        )
    title = f"{front.workload}, {front.mapspace}: frontier of {len(front.members)}, hypervolume"
    left = (len(columns) + 1, len(head) - 2, len(head) - 1)  # the mapspace, the proof, and the remark
    return TextTable(head, rows, left, f"{title} {front.hypervolume:.4f}")
