"""What a comparison is written as: a page, tables, pictures, text and JSON."""

from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from ...workloads import written_together
from ..report import Json
from ..report.pictures import PICTURES, save_figure
from .cases import CasePair, LayerPair, Matched, summed_parts
from .formats import TABLES
from .pictures import drawn, rows_of
from .stored import Stored
from .table import Table
from .tables import case_table, count_table, layer_table, part_table
from .told import left_out, properties, summary, title_of

FORMATS = (*TABLES, *PICTURES)
ROWS = 100  # of a table that is printed


def _tables(found: Matched, *makers: Callable[[Matched], Table]) -> Iterator[Table]:
    """Yield the tables that have rows."""
    return (table for make in makers if (table := make(found)).rows)


def write_files(found: Matched, folder: Path, formats: Collection[str]) -> None:
    """Write each table and picture in each of `formats`, all files or none. Raises InputError where that fails."""
    with written_together(folder, f"cases.{next(iter(formats))}", "make room and give the command again") as part:
        for table in _tables(found, case_table, part_table, layer_table, count_table):
            for suffix, text in TABLES.items():
                if suffix in formats:
                    (part / f"{table.name}.{suffix}").write_text(text(table), encoding="utf-8")
        kinds = [one for one in PICTURES if one in formats]
        for name, figure in drawn(found, rows_of(found)[0]) if kinds else ():
            save_figure(figure, part / name, kinds)


def comparison_text(found: Matched) -> str:
    """Tell the comparison to a reader: in what the sides differ, totals, parts of the energy, layers."""
    differing = [f"{name}: {' | '.join(values)}" for name, values, differs in properties(found) if differs]
    left = [f"left out, {one}" for one in left_out(found)]
    left = left if len(left) <= ROWS else [*left[:ROWS], f"left out, and {len(left) - ROWS:,} more"]
    parts = [title_of(found), *differing, *left, summary(found)]
    tables = [_cut(table) for table in _tables(found, case_table, part_table, layer_table)]
    return "\n\n".join(["\n".join(part for part in parts if part), *tables])


def _cut(table: Table) -> str:
    """A table as text, of a long one the first rows."""
    left = len(table.rows) - ROWS
    more = f"\n... and {left:,} more rows: --files and --json have all" if left > 0 else ""
    return f"{table.first(ROWS).text()}{more}"


def comparison_json(found: Matched) -> Json:
    """Write the comparison as an object; energies in pJ, `ratio` is b over a, null where it is not known."""
    folders = {letter.lower(): str(one.path) for letter, one in zip(found.letters, found.folders, strict=True)}
    return {**folders, "cases": [_case_json(pair) for pair in found.pairs], "left_out": left_out(found)}


def _case_json(pair: CasePair) -> Json:
    case = pair.sides[0]
    told = {"workload": case.workload, "mapspace": case.mapspace or None, "parameters": dict(case.parameters)}
    sides = [summed_parts(layer.sides[side] for layer in pair.layers) for side in range(len(pair.sides))]
    names = dict.fromkeys(name for side in sides for name in side)
    return {
        "case": pair.label,
        **told,
        "found": [one.found for one in pair.sides],
        **_figures([one.result for one in pair.sides], pair.alike),
        "parts_pj": {name: _sides([side.get(name) for side in sides]) for name in names},
        "layers": [_layer_json(layer) for layer in pair.layers],
        "left_out": list(pair.left_out),
    }


def _layer_json(layer: LayerPair) -> Json:
    return {"layer": layer.name, **_figures(layer.sides, True)}


def _figures(sides: "list[Stored | None] | tuple[Stored, ...]", compared: bool) -> Json:
    names = ("edp", "energy_pj", "cycles", "utilization")
    return {name: _sides([None if one is None else getattr(one, name) for one in sides], compared) for name in names}


def _sides(values: list[float | None], compared: bool = True) -> Json:
    """The values by side, and the ratio of two."""
    named: Json = dict(zip("ab", values, strict=False))
    if len(values) > 1:
        a, b = values
        named["ratio"] = b / a if compared and a and b is not None else None
    return named
