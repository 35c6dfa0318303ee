"""The files of a sweep: results.csv, results.json, pareto.json, pareto.png and report.html."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

from ...workloads import written_together
from ..report.result import Json
from ..report.show import Rows
from .fronts import MEASURES
from .page import report_html
from .picture import draw_pareto
from .run import SweepResult, measures
from .store import FOUND


def write_outputs(found: SweepResult, folder: Path) -> None:
    """Write the results to `folder`, over those of an earlier run, all or none; the picture where something was found.

    Raises InputError where that fails.
    """
    with written_together(folder, "results.json", "make room and run the same command again to write them") as part:
        _write(found, part)


def _write(found: SweepResult, folder: Path) -> None:
    rows = list(result_rows(found))
    _write_csv(list(flat_rows(found)), folder / "results.csv")
    whole = [row | {"result": found.outcomes[number].result} for number, row in zip(found.outcomes, rows, strict=True)]
    _write_json({"sweep": found.plan.name, "points": whole}, folder / "results.json")
    _write_json(found.pareto_json(), folder / "pareto.json")
    (folder / "report.html").write_text(report_html(found), encoding="utf-8")
    if found.fronts:
        draw_pareto(found).savefig(folder / "pareto.png", dpi=150)


def result_rows(found: SweepResult) -> Iterator[Json]:
    """A row per point: what it is, how it ended, and its figures, null where nothing was found."""
    for number, outcome in found.outcomes.items():
        point = found.plan.point(number)
        result = outcome.result or {}
        figures = measures(outcome) if outcome.status == FOUND else dict.fromkeys(MEASURES)
        search = result.get("search")
        assert search is None or isinstance(search, dict)
        yield {
            "design": point.design,
            "parameters": found.values[point.design],
            "workload": point.workload,
            "mapspace": point.mapspace,
            "seed": point.seed,
            "status": outcome.status,
            **figures,
            "utilization": result.get("utilization"),
            "macs": result.get("macs"),
            **{key: (search or {}).get(key) for key in ("evaluated", "valid", "seconds")},
            "message": outcome.message,
            "warnings": list(outcome.warnings),
        }


def flat_rows(found: SweepResult) -> Iterator[Json]:
    """The rows with a column per parameter."""
    for row in result_rows(found):
        values = row.pop("parameters")
        assert isinstance(values, dict)
        design = {"design": row.pop("design")} | {name: values.get(name) for name in found.plan.parameters}
        yield {name: _cell(value) for name, value in (design | row).items()}


def _write_json(value: object, path: Path) -> None:
    path.write_text(json.dumps(value, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _write_csv(rows: Rows, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        if rows:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


def _cell(value: object) -> object:
    """Lists as text."""
    return "; ".join(map(str, value)) if isinstance(value, list) else value
