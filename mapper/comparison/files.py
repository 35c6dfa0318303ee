"""What a comparison is written as: a page, tables, pictures, text and JSON."""

from collections.abc import Callable, Collection, Iterator, Sequence
from math import inf
from pathlib import Path

from ...workloads import written_together
from ..report import Json
from ..report.pictures import PICTURES, save_picture
from ..report.table_files import TABLES, Table
from .cases import CasePair, LayerPair, Matched
from .limits import FIGURES, Interval, ratio_limits
from .overall import Overall, overall
from .pictures import drawn, rows_of
from .stored import Stored
from .summary import left_out, properties, summary, title_of
from .tables import case_table, count_table, layer_table, part_table, verdict_table

FORMATS = (*TABLES, *PICTURES)
ROWS = 100  # of a table that is printed
SHOWN = ("edp", "energy_pj", "cycles", "utilization")


def _tables(matched: Matched, *makers: Callable[[Matched], Table]) -> Iterator[Table]:
    """Yield the tables that have rows."""
    return (table for make in makers if (table := make(matched)).rows)


def write_files(matched: Matched, folder: Path, formats: Collection[str], *, force: bool = False) -> None:
    """Write each table and picture in each of `formats`, all files or none.

    Raises InputError where that fails, and unless `force` where a file of this name was not written here.
    """
    again = "make room and give the command again"
    with written_together(folder, f"cases.{next(iter(formats))}", again, "ruby-report", force) as part:
        for table in _tables(matched, case_table, verdict_table, part_table, layer_table, count_table):
            for suffix, text in TABLES.items():
                if suffix in formats:
                    (part / f"{table.name}.{suffix}").write_text(text(table), encoding="utf-8")
        kinds = [one for one in PICTURES if one in formats]
        for name, draw in drawn(matched, rows_of(matched)[0]) if kinds else ():
            save_picture(draw, part / name, kinds)


def comparison_text(matched: Matched) -> str:
    """Tell the comparison to a reader: in what the sides differ, totals, parts of the energy, layers."""
    differing = [f"{name}: {' | '.join(values)}" for name, values, differs in properties(matched) if differs]
    omitted = [f"left out, {one}" for one in left_out(matched)]
    omitted = omitted if len(omitted) <= ROWS else [*omitted[:ROWS], f"left out, and {len(omitted) - ROWS:,} more"]
    parts = [title_of(matched), *differing, *omitted, *summary(matched)]
    tables = [_cut(table) for table in _tables(matched, case_table, verdict_table, part_table, layer_table)]
    return "\n\n".join(["\n".join(part for part in parts if part), *tables])


def _cut(table: Table) -> str:
    """A table as text, of a long one the first rows."""
    remaining = len(table.rows) - ROWS
    more = f"\n... and {remaining:,} more rows: --files and --json have all" if remaining > 0 else ""
    return f"{table.first(ROWS).text()}{more}"


def comparison_json(matched: Matched) -> Json:
    """Write the comparison as an object; energies in pJ, `ratio` is b over a, null where it is not known.

    The ratio of the best mappings is between `at_least` and `at_most`, by what is proven; null where that is open.
    """
    folders = {letter.lower(): one.title for letter, one in zip(matched.letters, matched.folders, strict=True)}
    own = {name: dict(zip("ab", values, strict=False)) for name, values, _ in properties(matched)}
    cases = [_case_json(pair) for pair in matched.pairs]
    whole: Json = {**folders, "properties": own, "cases": cases, "left_out": left_out(matched)}
    return whole if len(matched.letters) == 1 else whole | {"mean": _mean_json(overall(matched))}


def _mean_json(whole: Overall | None) -> Json | None:
    """The geometric mean of the ratios of all cases; null where there is none."""
    if whole is None:
        return None
    cases = {str(verdict): count for verdict, count in whole.verdicts.items()}
    return {"figure": whole.column, "ratio": whole.mean, **_limits(whole.limits), "cases": cases}


def _case_json(pair: CasePair) -> Json:
    case = pair.sides[0]
    identity = {"workload": case.workload, "mapspace": case.mapspace or None, "parameters": dict(case.parameters)}
    sides = pair.parts
    names = dict.fromkeys(name for side in sides for name in side)
    return {
        "case": pair.label,
        **identity,
        "found": [one.found for one in pair.sides],
        **_figures([one.result for one in pair.sides], pair.comparable),
        "parts_pj": {name: _sides([side.get(name) for side in sides]) for name in names},
        "layers": [_layer_json(layer) for layer in pair.layers],
        "left_out": list(pair.left_out),
    }


def _layer_json(layer: LayerPair) -> Json:
    return {"layer": layer.name, **_figures(layer.sides, True)}


def _figures(sides: Sequence[Stored | None], compared: bool) -> Json:
    named = {name: _sides([None if one is None else getattr(one, name) for one in sides], compared) for name in SHOWN}
    known = [one for one in sides if one is not None]
    if compared and len(known) == len(sides) == 2:
        for name in FIGURES:
            if named[name]["ratio"] is not None:
                named[name] |= _limits(ratio_limits(known, name))
    return dict(named)


def _limits(limits: Interval) -> Json:
    """The limits of a ratio, null on an open side, and the verdict."""
    low, high = limits.low or None, None if limits.high == inf else limits.high
    return {"at_least": low, "at_most": high, "verdict": str(limits.verdict)}


def _sides(values: list[float | None], compared: bool = True) -> Json:
    """The values by side, and the ratio of two."""
    named: Json = dict(zip("ab", values, strict=False))
    if len(values) > 1:
        a, b = values
        named["ratio"] = b / a if compared and a and b is not None else None
    return named
