"""The picture of a sweep: its points and frontiers, with bars over the seeds and labels, none over another."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...workloads import Fault, InputError
from ..mapping import Floats
from ..report.pictures import GREY, LINES, MARKERS, PALETTE, plain_powers
from .fronts import ALL, MEASURES, Candidate, Measure, MedianFrontier, candidates
from .labels import write_labels
from .result import SweepResult
from .tables import design_label, parameter_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMED = 40  # points of which all are named
BAR_APART = 5.0  # points between the bars of two mapspaces
BAR_END = {False: "_", True: "|"}  # across a vertical and a horizontal bar


@dataclass(frozen=True)
class Style:
    """How a mapspace is drawn."""

    colour: str
    marker: str
    line: str
    size: float  # points; smaller for each mapspace, so that where designs are equal every mark is seen
    shift: float  # points; of the bars of a mapspace, so that those of equal designs stand side by side


def style(number: int, mapspaces: int) -> Style:
    """The style of mapspace `number` among so many."""
    wider = (mapspaces - 1 - number) * min(2.5, 8 / mapspaces)
    colour, marker, line = (choices[number % len(choices)] for choices in (PALETTE, MARKERS, LINES))
    return Style(colour, marker, line, 5 + wider, BAR_APART * (number - (mapspaces - 1) / 2))


def draw_pareto(swept: SweepResult, axes: "Axes | None" = None) -> "Figure":
    """Draw the points and the frontier of each mapspace on the first two measures, a panel per workload.

    Raises InputError where `axes` are given and there are several workloads.
    """
    from ..report.pictures.style import Picture, picture_of

    measures = [MEASURES[axis] for axis in swept.plan.axes]
    workloads = list(dict.fromkeys(front.workload for front in swept.fronts))
    if axes is not None:
        if len(workloads) > 1:
            rule = f"hold one workload, and there are {len(workloads)}: {', '.join(workloads)}"
            raise InputError(Fault("axes", None, "", rule))
        _draw_workload(axes, swept, workloads[0], measures)
        axes.legend(fontsize=8, frameon=False)
        return picture_of(axes)
    figure = Picture(figsize=(6.5, 0.8 + 3.6 * len(workloads)), layout="constrained")
    panels = figure.subplots(len(workloads), 1, squeeze=False)[:, 0]
    for panel, workload in zip(panels, workloads, strict=True):
        _draw_workload(panel, swept, workload, measures)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, frameon=False, loc="outside lower center", ncols=min(len(labels), 4))
    top, own = panels[0], [panel.get_title(loc="left") for panel in panels]
    top.set_title("\n".join([*_heading(swept, measures), own[0]]), fontsize=9, loc="left")
    for panel, workload, title in zip(panels, workloads, own, strict=True):
        if unplaced := _name_points(panel, swept, workload):
            head = panel.get_title(loc="left").removesuffix(title)
            panel.set_title(f"{head}{title} ({unplaced} labels have no room)", fontsize=9, loc="left")
    return figure


def _name_points(panel: "Axes", swept: SweepResult, workload: str) -> int:
    """Name designs of a panel by their parameters, all of a few, else those on frontiers; returns how many have no
    room."""
    units = np.array([MEASURES[axis].size for axis in swept.plan.axes])[:2]
    members = [one for front in swept.fronts if front.workload == workload for one in front.members]
    every = [one for one in candidates(swept.found_points(), swept.plan.axes) if one.workload == workload]
    members += every if len(every) <= NAMED else []
    points = [tuple((one.middle[:2] / units).tolist()) for one in members]
    labels = [design_label(swept.plan, swept.values, one.design, names=False) for one in members]
    return write_labels(panel, points, labels) if any(labels) else 0


def _heading(swept: SweepResult, measures: list[Measure]) -> Iterator[str]:
    """Yield the lines that say what the marks cannot."""
    yield f"{swept.plan.name}: less is better on both axes"
    if len(measures) > 2:
        yield f"{measures[2].name} [{measures[2].unit}] is the third axis, not drawn: the frontier may look beaten"
    if names := list(parameter_columns(swept.plan)):
        yield f"labels: {', '.join(names)}"
    if len(swept.plan.mapspaces) > 1:
        yield "marks inside one another: equal designs"
    pool = candidates(swept.found_points(), swept.plan.axes)
    if any((candidate.least < candidate.middle).any() for candidate in pool):
        yield "dotted bars: down to what is proven of a point that is not certified"
    if open_ones := sum(candidate.gap is None for candidate in pool):
        count = "all" if open_ones == len(pool) else open_ones
        yield f"not proven, with bars down to the ideal: {count} of {len(pool)} points"


def _draw_workload(panel: "Axes", swept: SweepResult, workload: str, measures: list[Measure]) -> None:
    pool = [
        candidate for candidate in candidates(swept.found_points(), swept.plan.axes) if candidate.workload == workload
    ]
    for front in swept.fronts:
        if front.workload == workload and front.mapspace != ALL:
            number = swept.plan.mapspaces.index(front.mapspace)
            own_candidates = [candidate for candidate in pool if candidate.mapspace == front.mapspace]
            _draw_front(panel, front, own_candidates, measures, style(number, len(swept.plan.mapspaces)))
    _label(panel, workload, measures)


def _draw_front(panel: "Axes", front: MedianFrontier, pool: list[Candidate], axes: list[Measure], look: Style) -> None:
    """Draw all points pale, those of the frontier full with bars over the seeds; a line bounds what they dominate."""
    units = np.array([axis.size for axis in axes])
    every = np.array([candidate.middle for candidate in pool]) / units  # (candidate, axis)
    panel.plot(
        every[:, 0], every[:, 1], look.marker, color=look.colour, alpha=0.3, markersize=0.7 * look.size, linewidth=0
    )
    _draw_gaps(panel, pool, units, look)
    middles = np.array([candidate.middle for candidate in front.members]) / units
    low = middles - np.array([candidate.values.min(axis=0) for candidate in front.members]) / units
    high = np.array([candidate.values.max(axis=0) for candidate in front.members]) / units - middles
    if max(len(candidate.seeds) for candidate in front.members) > 1:
        spread = (np.stack([low[:, i], high[:, i]]) for i in (0, 1))
        x_bars, y_bars = spread
        panel.errorbar(
            middles[:, 0], middles[:, 1], y_bars, x_bars, fmt="none", ecolor=look.colour, elinewidth=1, capsize=2
        )
    line = look.line if len(axes) == 2 else ""
    panel.plot(middles[:, 0], middles[:, 1], linestyle=line or "none", drawstyle="steps-post", color=look.colour,
               marker=look.marker, markersize=look.size, linewidth=1.4, label=front.mapspace)  # fmt: skip
    at = front.knee.middle / units
    panel.plot(at[0], at[1], "o", markersize=look.size + 6, markerfacecolor="none", markeredgecolor=GREY)


def _draw_gaps(panel: "Axes", pool: list[Candidate], units: Floats, look: Style) -> None:
    """Draw a dotted bar from each point that is not certified down to what is proven of it, on both axes."""
    from matplotlib.transforms import offset_copy

    for candidate in pool:
        (x, y), (least_x, least_y) = (point[:2] / units[:2] for point in (candidate.middle, candidate.least))
        for across, xs, ys in ((False, (x, x), (y, least_y)), (True, (x, least_x), (y, y))):
            if min(xs + ys) > 0 and (xs[0] > xs[1] or ys[0] > ys[1]):
                place = offset_copy(panel.transData, panel.get_figure(root=True), units="points",
                                    x=0.0 if across else look.shift, y=look.shift if across else 0.0)  # fmt: skip
                panel.update_datalim([(xs[1], ys[1])])  # an offset line is left out of it
                panel.plot(xs, ys, ":", marker=BAR_END[across], markevery=[1], markersize=6, linewidth=1.2,
                           color=look.colour, transform=place)  # fmt: skip


def _label(panel: "Axes", workload: str, axes: list[Measure]) -> None:
    panel.plot([], [], "o", markersize=9, markerfacecolor="none", markeredgecolor=GREY, label="knee")
    _scale(panel)
    plain_powers(panel)
    panel.set_xlabel(f"{axes[0].name} [{axes[0].unit}]", fontsize=9)
    panel.set_ylabel(f"{axes[1].name} [{axes[1].unit}]", fontsize=9)
    panel.set_title(workload, fontsize=9, loc="left")
    panel.tick_params(labelsize=8, which="both")
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(alpha=0.3)


def _scale(panel: "Axes") -> None:
    """Scale axes logarithmically where figures differ much; moderate ticks at 1, 2, 5, 10... in plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    limits, axes = panel.dataLim, (panel.xaxis, panel.yaxis)
    scales = (panel.set_xscale, panel.set_yscale)
    for (low, high), drawn, scale in zip((limits.intervalx, limits.intervaly), axes, scales, strict=True):
        if low <= 0 or high < 5 * low:
            if high < 1e7:
                drawn.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
            continue
        scale("log")
        if low > 1e-3 and high < 1e4:
            drawn.set_major_locator(LogLocator(subs=(1, 2, 5)))
            drawn.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            drawn.set_minor_formatter(NullFormatter())
