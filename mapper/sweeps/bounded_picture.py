"""The picture of a sweep that optimises: designs by two scores, and the band in which better ones may still be."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..designs import Score
from ..mapping import Bools, Floats, Ints
from ..report.pictures import GREY, MARKERS, PALETTE, plain_powers
from .answer import Answer
from .labels import write_labels
from .result import SweepResult
from .tables import parameter_columns, short_names, short_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SEEN = 1e-4  # of a gap that is drawn, as a share
MOST = 8  # values of a parameter that colours or shapes can tell apart


def draw_bounded(swept: SweepResult, axes: "Axes | None" = None) -> "Figure":
    """Draw designs by area, or the first axis, and what mappings decide: values, bounds, and the frontier.

    A colour is a value of one parameter, a shape one of another. Designs that were not searched stand at their bounds.
    """
    from ..report.pictures.style import Picture, picture_of

    if axes is not None:
        _draw(axes, swept)
        axes.legend(fontsize=7, frameon=False)
        return picture_of(axes)
    figure = Picture(figsize=(7.5, 5.4), layout="constrained")
    panel = figure.subplots()
    _draw(panel, swept)
    figure.legend(fontsize=7, frameon=False, loc="outside lower center", ncols=5)
    _name(panel, swept)
    return figure


def scores_of(answer: Answer) -> tuple[Score, Score]:
    """The score of the horizontal axis, known of each design, and that of the vertical one."""
    wanted, area = answer.standing.wanted, answer.optimised.candidates.area
    vertical = next(
        (own for own in (*wanted.axes, *((wanted.minimise,) if wanted.minimise else ())) if own.power), None
    )
    across = next((own for own in wanted.axes if not own.power), area)
    across = area if across.unit == "um2" else across
    return across, vertical or wanted.questions[0][0]


def _draw(panel: "Axes", swept: SweepResult) -> None:
    answer = swept.answer
    standing, (across, up) = answer.standing, scores_of(answer)
    x, low, high = across.of(standing.lower), up.of(standing.lower), up.of(standing.upper)
    possible, known = standing.wanted.possible & ~standing.excluded, standing.known
    _band(panel, x, low, np.where(known, high, np.inf), possible)
    bounded = possible & ~known & (low > 0) & np.isfinite(low)
    panel.plot(x[bounded], low[bounded], "_", color=GREY, markersize=7, label="not searched: no better than this")
    _marks(panel, swept, x, high, known)
    rows = np.flatnonzero(known & (low < high * (1 - SEEN)))
    if len(rows):
        panel.vlines(x[rows], low[rows], high[rows], color=GREY, linestyle=":", linewidth=1, label="gaps")
    if answer.row is not None:
        panel.plot(x[answer.row], high[answer.row], "o", markersize=12, markerfacecolor="none", markeredgecolor="black",
                   label="best")  # fmt: skip
    _label(panel, swept, across, up)


def _band(panel: "Axes", x: Floats, low: Floats, high: Floats, possible: Bools) -> None:
    """Draw the frontier of what is known, and down to that of all bounds: where better designs may still be."""
    rows = np.flatnonzero(possible)
    rows = rows[np.lexsort((high[rows], x[rows]))]  # of equal places the best known first
    if not np.isfinite(high[rows]).any():
        return
    least, best = np.minimum.accumulate(low[rows]), np.minimum.accumulate(high[rows])
    reached, end = np.isfinite(best), x[rows].max() * 1.03
    top = high[np.isfinite(high)].max()
    panel.step([*x[rows][reached], end], [*best[reached], best[-1]], where="post", color="black", linewidth=1.2,
               label="frontier of those searched")  # fmt: skip
    best = np.where(reached, best, max(top, least.max()) * 1.02)  # nothing so small is known
    if (least < best * (1 - SEEN)).any():
        floor = np.maximum(least, best * 1e-3)
        panel.fill_between([*x[rows], end], [*floor, floor[-1]], [*best, best[-1]], step="post", color=PALETTE[0],
                           alpha=0.15, linewidth=0, label="better designs may be here")  # fmt: skip


def _marks(panel: "Axes", swept: SweepResult, x: Floats, high: Floats, known: Bools) -> None:
    """Draw the searched designs: a colour for each value of one parameter, a shape for each of another."""
    candidates = swept.answer.optimised.candidates
    first, second = (*_telling(swept), "", "")[:2]
    colours, shapes = dict[str, int](), dict[str, int]()
    for row in np.flatnonzero(known):
        own = candidates.described(int(row)).values
        texts = [short_value(swept.plan, name, own.get(name)) if name else "" for name in (first, second)]
        colour, shape = (seen.setdefault(text, len(seen)) for seen, text in zip((colours, shapes), texts, strict=True))
        panel.plot(x[row], high[row], MARKERS[shape % len(MARKERS)], color=PALETTE[colour % len(PALETTE)], markersize=6)
    short = short_names(swept.plan.parameters)
    for name, seen, marker in ((first, colours, False), (second, shapes, True)):
        for text, number in sorted(seen.items(), key=lambda own: _in_order(own[0])) if name else ():
            look = (MARKERS[number % len(MARKERS)], GREY) if marker else ("s", PALETTE[number % len(PALETTE)])
            panel.plot([], [], look[0], color=look[1], markersize=6, label=f"{short[name]} {text}")


def _telling(swept: SweepResult) -> Sequence[str]:
    """The parameters that vary, those with few enough values to tell them apart first."""
    groups = [group for group in swept.plan.groups if group.size > 1]
    return [group.names[0] for group in sorted(groups, key=lambda group: group.size > MOST)]


def _in_order(text: str) -> tuple[float, str]:
    """Numbers by their size, before other texts."""
    try:
        return float(text), text
    except ValueError:
        return float("inf"), text


def _label(panel: "Axes", swept: SweepResult, across: Score, up: Score) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    panel.set_title(f"{swept.plan.name}: less is better on both axes", fontsize=9, loc="left")
    panel.set_xlabel(f"{across.text}{across.unit and f' [{across.unit}]'}", fontsize=9)
    panel.set_ylabel(f"{up.text}{up.unit and f' [{up.unit}]'}", fontsize=9)
    low, high = panel.dataLim.intervaly
    if low > 0 and high > 5 * low:
        panel.set_yscale("log")
    plain_powers(panel)
    low, high = panel.dataLim.intervalx
    if low > 0 and high > 5 * low:
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        panel.xaxis.set_minor_formatter(NullFormatter())
    panel.tick_params(labelsize=8, which="both")
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(alpha=0.3)


def _name(panel: "Axes", swept: SweepResult) -> None:
    """Write the values of parameters beside the designs of the frontier, and the best; says how many have no room."""
    answer = swept.answer
    rows: Ints = np.unique([*answer.rows, *([] if answer.row is None else [answer.row])]).astype(np.int64)
    across, up = scores_of(answer)
    upper = answer.standing.upper
    places = [(float(x), float(y)) for x, y in zip(across.of(upper), up.of(upper), strict=True)]
    names = [name for columns in parameter_columns(swept.plan).values() for name in columns]
    labels = []
    for row in rows:
        own = answer.optimised.candidates.described(int(row)).values
        labels.append(", ".join(short_value(swept.plan, name, own.get(name)) for name in names))
    beside = [places[row] for row in np.flatnonzero(answer.standing.known)]
    unplaced = write_labels(panel, [places[row] for row in rows], labels, beside) if any(labels) else 0
    short = short_names(swept.plan.parameters)
    said = f"labels: {', '.join(short[name] for name in names)}" + (f" ({unplaced} have no room)" if unplaced else "")
    panel.set_title(f"{panel.get_title(loc='left')}\n{said}", fontsize=9, loc="left")
