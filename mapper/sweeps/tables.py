"""The frontiers of a sweep as tables of text: short heads, and notes on what all designs share."""

from collections.abc import Iterator, Mapping, Sequence

from ..designs import LinkedParameters, Values
from ..model.figures import RATES, short
from ..problem import ROUNDING
from ..report import TextTable
from .fronts import MEASURES, Candidate, MedianFrontier
from .plan import Plan
from .proofs import gap_text

HEADS = {  # of what a clock gives
    "milliseconds": "latency [ms]",
    "watts": "power [W]",
    "tops": "TOPS",
    "tops_per_watt": "TOPS/W",
    "tokens_per_second": "tokens/s",
    "joules_per_token": "J/token",
}
Place = tuple[int, str, str]  # design, workload, mapspace
Rates = Mapping[Place, Mapping[str, float]]  # figures by name, medians over the seeds

APART = ", "  # between parameters that vary together
NAMED = 12  # designs in a sentence


def front_parts(
    plan: Plan, values: Mapping[int, Values], fronts: Sequence[MedianFrontier], rates: Rates
) -> list[str | TextTable]:
    """What all designs share, then a table per frontier; `values` are those of each design by its number.

    `rates` are latency, power and throughput of the points whose machine has a clock.

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
        parts.append(_table(plan, values, columns, front, rates))
        if said := "\n".join(_open(plan, values, front)):
            parts.append(said)
    return parts


def _open(plan: Plan, values: Mapping[int, Values], front: MedianFrontier) -> Iterator[str]:
    """Lines on what the proofs leave open of a frontier: of its hypervolume, its knee, and who is on it."""
    low, high = front.volumes
    if high - low > ROUNDING:
        yield f"of the best mappings, by what is proven: hypervolume {low:.4f} to {high:.4f}"
    if len(front.knees) > 1:
        yield f"may be the knee, by the gaps: {_named(plan, values, front.knees)}"
    if front.joining:
        yield f"not on it, and with a gap that leaves it open: {_named(plan, values, front.joining)}"


def _named(plan: Plan, values: Mapping[int, Values], designs: Sequence[Candidate]) -> str:
    """Name designs by their parameters, with their mapspaces where there are several; of many the first."""
    several = len(plan.mapspaces) > 1
    names = [f"{label} {one.mapspace}" if several else label
             for one in designs[:NAMED] for label in [design_label(plan, values, one.design)]]  # fmt: skip
    return "; ".join(names) + (f" and {len(designs) - NAMED} more" if len(designs) > NAMED else "")


def design_label(plan: Plan, values: Mapping[int, Values], design: int, *, names: bool = True) -> str:
    """What tells a design from the others: the parameters that vary, with or without their short names."""
    short = short_names(plan.parameters)
    own = [name for columns in parameter_columns(plan).values() for name in columns]
    shown = values.get(design, {})
    texts = {name: short_value(plan, name, shown.get(name)) for name in own}
    parts = [f"{short[name]} {text}" if names else text for name, text in texts.items()]
    return APART.join(parts) or ("the design" if names else "")


def value_text(value: object) -> str:
    """The value of a parameter for a reader: of a level by its keys, or that there is none."""
    if value is None:
        return "none"
    return f"{{{_keys_text(value)}}}" if isinstance(value, Mapping) else str(value)


def _keys_text(level: Mapping[str, object]) -> str:
    return APART.join(f"{key}: {value_text(own)}" for key, own in level.items())


def short_value(plan: Plan, name: str, value: object) -> str:
    """The same of a value beside the others of a parameter: of levels the keys in which they differ."""
    if not isinstance(value, Mapping):
        return value_text(value)
    group = next(group for group in plan.groups if name in group.names)
    levels = [own for index in range(group.size) if isinstance(own := group.values(index)[name], Mapping)]
    keys = dict.fromkeys(key for level in levels for key in level)
    differing = {key: value[key] for key in keys if key in value and any(own.get(key) != value[key] for own in levels)}
    return _keys_text(differing) or "this level"


def shown_values(plan: Plan, values: Values) -> dict[str, int | float | str]:
    """The values of a design as a page shows them: numbers as they are, all others as text."""
    return {name: value if isinstance(value, int | float) and not isinstance(value, bool)
            else short_value(plan, name, value) for name, value in values.items()}  # fmt: skip


def five_digits(value: float) -> str:
    """Five digits."""
    return format(value, ",.5g")


def value_cells(plan: Plan, values: Values) -> list[str]:
    """The values of a design, by the columns of its parameters."""
    return [APART.join(short_value(plan, name, values[name]) for name in names)
            for names in parameter_columns(plan).values()]  # fmt: skip


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
        shown = {value_text(design[name]): None for design in values.values() if name in design}
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


def _table(
    plan: Plan, values: Mapping[int, Values], columns: Mapping[str, Sequence[str]], front: MedianFrontier, rates: Rates
) -> TextTable:
    axes = [MEASURES[axis] for axis in plan.axes]
    several = len(plan.seeds) > 1
    clocked = [rates.get((member.design, front.workload, member.mapspace), {}) for member in front.members]
    shown = [name for name in RATES if any(name in own for own in clocked)]
    head = ["design", *columns, "mapspace", *(f"{axis.name} [{axis.unit}]" for axis in axes)]
    head += [*(HEADS[name] for name in shown), "proof", ""]
    rows = []
    for member, own in zip(front.members, clocked, strict=True):
        places = zip(member.middle, axes, strict=True)
        figures = [format(value / axis.size, axis.form) for value, axis in places]
        figures += [short(own[name]) if name in own else "" for name in shown]
        cells = value_cells(plan, values[member.design])
        remark = _remark(member, front, several)
        rows.append([str(member.design), *cells, member.mapspace, *figures, gap_text(member.gap), remark])
    title = f"{front.workload}, {front.mapspace}: frontier of {len(front.members)}, hypervolume"
    left = (len(columns) + 1, len(head) - 2, len(head) - 1)  # the mapspace, the proof, and the remark
    return TextTable(head, rows, left, f"{title} {front.hypervolume:.4f}")


def _remark(member: Candidate, front: MedianFrontier, several: bool) -> str:
    """In how many of `several` seeds a member is on its front, how sure that is, and whether it is the knee."""
    sure = [f"on it in {member.share:.0%} of seeds"] if several else []
    mark = ["surely on it" if member.surely else "may be dominated, by the gaps"]
    knee = member.design == front.knee.design and member.mapspace == front.knee.mapspace
    return APART.join([*sure, *mark, *(["knee"] if knee else [])])
