"""The files of a sweep: results.csv, results.json, pareto.json, pareto.png and report.html."""

import csv
import json
from functools import partial
from pathlib import Path

from ...workloads import written_together
from ..report import Rows
from ..report.pictures import save_picture
from ..runtime import csv_cell
from .page import report_html
from .picture import draw_pareto
from .result import SweepResult, flat_rows, result_rows


def write_outputs(swept: SweepResult, folder: Path) -> None:
    """Write the results to `folder`, over those of an earlier run, all or none; a picture if a point has a mapping.

    Raises InputError where that fails.
    """
    with written_together(folder, "results.json", "make room and run the same command again to write them") as part:
        _write(swept, part)


def _write(swept: SweepResult, folder: Path) -> None:
    rows = list(result_rows(swept))
    _write_csv(flat_rows(swept), folder / "results.csv")
    whole = [row | {"result": swept.outcomes[number].result} for number, row in zip(swept.outcomes, rows, strict=True)]
    _write_json({"sweep": swept.plan.name, "points": whole}, folder / "results.json")
    _write_json(swept.pareto_json(), folder / "pareto.json")
    (folder / "report.html").write_text(report_html(swept), encoding="utf-8")
    if swept.fronts:
        save_picture(partial(draw_pareto, swept), folder / "pareto", dpi=150)


def _write_json(value: object, path: Path) -> None:
    path.write_text(json.dumps(value, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _write_csv(rows: Rows, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        if rows:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows({name: csv_cell(value) for name, value in row.items()} for row in rows)
