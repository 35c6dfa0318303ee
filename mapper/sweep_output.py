"""The files of a sweep: results.csv, results.json, pareto.json, pareto.png and report.html."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .figures import GREY, PALETTE
from .report import Json
from .sweep_front import ALL, MEASURES, Candidate, Front, Measure, candidates
from .sweep_report import report_html
from .sweep_run import SweepResult, measures
from .sweep_store import FOUND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "osD^vPX"  # told apart without colour too
LINES = ("-", "--", ":", "-.", "-", "--", ":")


def write_outputs(found: SweepResult, folder: Path) -> None:
    """Write the results to `folder`, over those of an earlier run; the picture where something was found."""
    rows = list(result_rows(found))
    _write_csv(rows, folder / "results.csv", found.plan.parameters)
    whole = [row | {"result": found.outcomes[number].result} for number, row in zip(found.outcomes, rows, strict=True)]
    _write_json({"sweep": found.plan.name, "points": whole}, folder / "results.json")
    _write_json(found.pareto_json(), folder / "pareto.json")
    (folder / "report.html").write_text(report_html(found), encoding="utf-8")
    if found.fronts:
        draw_pareto(found, folder / "pareto.png")


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


def _write_json(value: object, path: Path) -> None:
    path.write_text(json.dumps(value, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _write_csv(rows: list[Json], path: Path, parameters: tuple[str, ...]) -> None:
    """The rows, a column per parameter."""
    flat = []
    for row in rows:
        values = row["parameters"]
        assert isinstance(values, dict)
        own = {name: _cell(values.get(name)) for name in parameters}
        rest = {key: _cell(value) for key, value in row.items() if key not in ("design", "parameters")}
        flat.append({"design": row["design"]} | own | rest)
    with path.open("w", newline="", encoding="utf-8") as file:
        if flat:
            writer = csv.DictWriter(file, list(flat[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(flat)


def _cell(value: object) -> object:
    """Lists as text."""
    return "; ".join(map(str, value)) if isinstance(value, list) else value


def draw_pareto(found: SweepResult, path: Path) -> None:
    """Save the points and the frontier of each mapspace on the first two axes, a panel per workload."""
    from matplotlib.figure import Figure

    axes = [MEASURES[axis] for axis in found.plan.axes]
    pool = candidates(found.found_points(), found.plan.axes)
    workloads = list(dict.fromkeys(front.workload for front in found.fronts))
    figure = Figure(figsize=(6.5, 0.8 + 3.6 * len(workloads)), layout="constrained")
    panels = figure.subplots(len(workloads), 1, squeeze=False)[:, 0]
    for panel, workload in zip(panels, workloads, strict=True):
        own = [front for front in found.fronts if front.workload == workload and front.mapspace != ALL]
        for front in own:
            number = found.plan.mapspaces.index(front.mapspace)
            mine = [one for one in pool if (one.workload, one.mapspace) == (workload, front.mapspace)]
            _draw_front(panel, front, mine, axes, number % len(MARKERS))
        _label(panel, workload, axes)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, frameon=False, loc="outside lower center", ncols=min(len(labels), 4))
    more = f"; {axes[2].name} [{axes[2].unit}] is the third axis, not drawn" if len(axes) > 2 else ""
    figure.suptitle(f"{found.plan.name}: less is better on both axes{more}", fontsize=9, x=0.01, ha="left")
    figure.savefig(path, dpi=150)


def _draw_front(panel: "Axes", front: Front, pool: list[Candidate], axes: list[Measure], number: int) -> None:
    """All points pale, those of the frontier full, with bars over the seeds; a line bounds what is dominated."""
    colour, marker = PALETTE[number], MARKERS[number]
    units = np.array([axis.size for axis in axes])
    every = np.array([one.middle for one in pool]) / units  # (candidate, axis)
    panel.plot(every[:, 0], every[:, 1], marker, color=colour, alpha=0.3, markersize=3.5, linewidth=0)
    middles = np.array([one.middle for one in front.members]) / units
    low = middles - np.array([one.values.min(axis=0) for one in front.members]) / units
    high = np.array([one.values.max(axis=0) for one in front.members]) / units - middles
    if max(len(one.seeds) for one in front.members) > 1:
        spread = (np.stack([low[:, i], high[:, i]]) for i in (0, 1))
        x_bars, y_bars = spread
        panel.errorbar(middles[:, 0], middles[:, 1], y_bars, x_bars, fmt="none", ecolor=colour, elinewidth=1, capsize=2)
    line = LINES[number] if len(axes) == 2 else ""
    panel.plot(middles[:, 0], middles[:, 1], linestyle=line or "none", drawstyle="steps-post", color=colour,
               marker=marker, markersize=5, linewidth=1.4, label=front.mapspace)  # fmt: skip
    at = front.knee.middle / units
    panel.plot(at[0], at[1], "o", markersize=11, markerfacecolor="none", markeredgecolor=GREY)


def _label(panel: "Axes", workload: str, axes: list[Measure]) -> None:
    panel.plot([], [], "o", markersize=9, markerfacecolor="none", markeredgecolor=GREY, label="knee")
    _scale(panel)
    panel.set_xlabel(f"{axes[0].name} [{axes[0].unit}]", fontsize=9)
    panel.set_ylabel(f"{axes[1].name} [{axes[1].unit}]", fontsize=9)
    panel.set_title(workload, fontsize=9, loc="left")
    panel.tick_params(labelsize=8, which="both")
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(alpha=0.3)


def _scale(panel: "Axes") -> None:
    """Logarithmic axes where figures differ much; sizes below 10,000 as plain numbers at 1, 2, 5, 10..."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    limits, axis = panel.dataLim, (panel.xaxis, panel.yaxis)
    scales = (panel.set_xscale, panel.set_yscale)
    for (low, high), one, scale in zip((limits.intervalx, limits.intervaly), axis, scales, strict=True):
        if low <= 0 or high < 5 * low:
            continue
        scale("log")
        if low > 1e-3 and high < 1e4:
            one.set_major_locator(LogLocator(subs=(1, 2, 5)))
            one.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            one.set_minor_formatter(NullFormatter())
