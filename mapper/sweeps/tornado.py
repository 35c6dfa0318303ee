"""The picture of a sensitivity: a bar for each design one step from the best, from the best to its factor."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from textwrap import fill
from typing import TYPE_CHECKING

from ..problem import ROUNDING
from ..report import gap_between
from ..report.pictures import GREY, PALETTE, finish
from .plan import Plan
from .proofs import gap_text
from .result import SweepResult
from .sensitivity import SensitivityRow
from .tables import five_digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STEPS = {-1: (PALETTE[0], "one step less"), 1: (PALETTE[1], "one step more"), 0: (PALETTE[2], "another value")}
HATCH = "//////"  # of designs outside the limits
HIGH = 0.8  # of a bar; between parameters there is as much again
WIDE = 44  # characters of a label in a line
LOGARITHMIC = 2.0  # from this factor on, up or down
FINE = 10.0  # up to this ratio of ends a logarithmic axis has many ticks
ROOM = 0.2  # beside the bars for their figures, as a share of what they span


@dataclass(frozen=True)
class _Bar:
    """A row and its place from the top."""

    row: SensitivityRow
    y: float

    @property
    def ends(self) -> list[float]:
        """Where it and its gap end: factors that are known."""
        ends = [1.0, self.row.factor or 1.0]
        return ends + [end for end in (self.row.limits.low, self.row.limits.high) if 0 < end < inf and self.row.factor]


def why_no_tornado(swept: SweepResult) -> str:
    """Why there is no picture; empty: there is one."""
    if not swept.plan.question.sensitivity:
        return "it needs sensitivity: true in the sweep's file"
    return "" if swept.answer.sensitivity else "there is no best design, or no parameter has another value"


def draw_tornado(swept: SweepResult, axes: "Axes | None" = None) -> "Figure":
    """Draw a bar for each design one step from the best, parameters with the largest effect on top.

    Gaps are drawn as bars of error, designs outside the limits hatched.
    """
    from ..report.pictures.style import axes_on, picture_of

    bars = _placed(swept.answer.sensitivity)
    own_figure = axes is None
    axes = axes_on(axes, 6.5, 1.5 + 0.26 * (bars[-1].y + 1))
    _scale(axes, bars)
    for bar in bars:
        _draw(axes, bar)
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set_yticks([bar.y for bar in bars], [_label(swept.plan, bar.row) for bar in bars], fontsize=8)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(bars[-1].y + 0.7, bars[0].y - 0.7)
    score = swept.answer.standing.wanted.minimise
    assert score is not None, "it was asked for"
    axes.set_xlabel(f"{score.text} over that of the best design", fontsize=9)
    value, bound = swept.answer.best
    figure = f"{five_digits(value)}{score.unit and f' {score.unit}'}, {gap_text(gap_between(value, bound))}"
    finish(axes, f"{swept.plan.name}: one step from the best design, all else equal\nbest {score.text}: {figure}")
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)
    _legend(axes, bars, outside=own_figure)
    return picture_of(axes)


def _placed(rows: Sequence[SensitivityRow]) -> list[_Bar]:
    """Place the rows of a parameter together: less above more, parameters in the order of their largest effect."""
    groups = dict[tuple[str, ...], list[SensitivityRow]]()
    for row in rows:
        groups.setdefault(row.parameters, []).append(row)
    bars, y = list[_Bar](), 0.0
    for group in groups.values():
        for row in sorted(group, key=lambda row: row.step):
            bars.append(_Bar(row, y))
            y += 1
        y += 0.6
    return bars


def _label(plan: Plan, row: SensitivityRow) -> str:
    """The parameters with their values, in lines that are not too long."""
    return fill(f"{row.label(plan)} {row.change(plan)}".replace(" -> ", " \N{RIGHTWARDS ARROW} "), WIDE)


def _scale(axes: "Axes", bars: Sequence[_Bar]) -> None:
    """Make the horizontal axis as wide as the bars and their figures need; logarithmic where factors are large."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ends = [end for bar in bars for end in bar.ends]
    low, high = min(ends), max(ends)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.6g}"))
    if max(high, 1 / low) > LOGARITHMIC:
        axes.set_xscale("log")
        if high / low < 1e3:
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low > FINE else (1, 1.5, 2, 3, 4, 5, 7)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        room = max(high / low, 1.1) ** ROOM
        axes.set_xlim(low / (room if low < 1 else room**0.3), high * (room if high > 1 else room**0.3))
    else:
        room = max(high - low, 1e-3) * ROOM
        axes.set_xlim(low - (room if low < 1 else 0.3 * room), high + (room if high > 1 else 0.3 * room))


def _draw(axes: "Axes", bar: _Bar) -> None:
    """Draw a bar with its gap and its factor; without a value, why there is none."""
    row, look = bar.row, {"fontsize": 8, "va": "center", "textcoords": "offset points"}
    if row.factor is None:
        axes.annotate(_why_none(row), (1.0, bar.y), (5, 0), color=GREY, **look)  # type: ignore[arg-type]
        return
    colour = STEPS[row.step][0]
    (patch,) = axes.barh(bar.y, row.factor - 1, HIGH, 1.0, color=colour, edgecolor="white", linewidth=0.5)
    if row.broken:
        patch.set(facecolor="white", edgecolor=colour, linewidth=1, hatch=HATCH)
    ends = [row.factor]
    if row.limits.high > row.limits.low * (1 + ROUNDING):
        left, right = axes.get_xlim()
        ends = [max(row.limits.low, left), row.factor, min(row.limits.high, right)]
        axes.plot([ends[0], ends[2]], [bar.y, bar.y], "|-", color="black", linewidth=1, markersize=6)
    end = max(ends) if row.factor >= 1 else min(ends)
    side = (4, 0, "left") if row.factor >= 1 else (-4, 0, "right")
    digits = 4 if f"{row.factor:.4g}" != "1" else 7
    text = f"\N{MULTIPLICATION SIGN}{row.factor:.{digits}g}"
    axes.annotate(text, (end, bar.y), side[:2], ha=side[2], **look)  # type: ignore[arg-type]


def _why_none(row: SensitivityRow) -> str:
    """Why a row has no value, in a few words."""
    return row.message if len(row.message) <= WIDE else "cannot be made" if row.area_mm2 is None else "no mapping"


def _legend(axes: "Axes", bars: Sequence[_Bar], *, outside: bool) -> None:
    """Name what there is to see."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Patch | Line2D] = [
        Patch(color=colour, label=text)
        for step, (colour, text) in STEPS.items()
        if any(bar.row.step == step and bar.row.factor is not None for bar in bars)
    ]
    if any(bar.row.broken for bar in bars):
        handles.append(Patch(facecolor="white", edgecolor=GREY, hatch=HATCH, label="outside the limits"))
    if any(bar.row.factor and bar.row.limits.high > bar.row.limits.low * (1 + ROUNDING) for bar in bars):
        handles.append(Line2D([], [], color="black", marker="|", linewidth=1, label="what proofs leave open"))
    figure = axes.get_figure(root=True)
    assert figure is not None, "axes are drawn on a figure"
    if outside:
        figure.legend(handles=handles, fontsize=8, frameon=False, loc="outside lower center", ncols=len(handles))
    else:
        axes.legend(handles=handles, fontsize=8, frameon=False)
