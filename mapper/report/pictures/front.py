"""The picture of a Pareto front of mappings."""

from typing import TYPE_CHECKING

from ...problem import OBJECTIVES
from ..result import Result
from ..tables import energy_unit
from .palette import LINES, MARKERS, PALETTE, finish, symbol

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_front(result: Result, axes: "Axes | None" = None) -> "Figure":
    """Draw the front in its first two axes; a third is the colour. A second result adds its front to `axes`."""
    from .style import axes_on, picture_of

    axes = axes_on(axes, 6.5, 3.6)
    units = [_unit(axis, max(point.value(axis) for point in result.front)) for axis in result.axes]
    columns = [
        [point.value(axis) / size for point in result.front] for axis, (_, size) in zip(result.axes, units, strict=True)
    ]
    number = len(axes.get_legend_handles_labels()[1])
    name, marker = f"{result.mapspace}: front of {len(result.front)} mappings", MARKERS[number % 7]
    if len(columns) == 2:
        axes.step(columns[0], columns[1], LINES[number % 7], where="post", color=PALETTE[number % 7], linewidth=0.8,
                  marker=marker, markersize=3.5, label=name)  # fmt: skip
    else:
        dots = axes.scatter(columns[0], columns[1], c=columns[2], s=14, cmap="viridis", marker=marker, label=name)
        bar = picture_of(axes).colorbar(dots, ax=axes)
        bar.set_label(units[2][0], fontsize=9)
        bar.ax.tick_params(labelsize=8)
    axes.set_xlabel(units[0][0], fontsize=9)
    axes.set_ylabel(units[1][0], fontsize=9)
    for drawn, name in zip((axes.xaxis, axes.yaxis), result.axes, strict=False):
        if not all(OBJECTIVES[name].powers):
            drawn.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axes.legend(fontsize=8, frameon=False)
    finish(axes, f"{result.workload.title} on {result.arch.name}")
    return picture_of(axes)


def _unit(axis: str, largest: float) -> tuple[str, float]:
    """The label of an axis of the front, and the size of its unit; energies in a unit in which they are legible."""
    if not OBJECTIVES[axis].in_pj:
        return OBJECTIVES[axis].label, 1.0
    unit, size = energy_unit(largest)
    return f"energy [{symbol(unit)}]", size
