"""The picture of how a mapping uses the array."""

from typing import TYPE_CHECKING

from ....arch import Axis
from ...model import array_usage, sides
from ..result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_usage(result: Result, axes: "Axes | None" = None) -> "Figure":
    """Draw a map of the array: the share of the steps in which the MAC units of each coordinate work."""
    from matplotlib.ticker import MaxNLocator

    from .style import axes_on, picture_of

    assert result.batch is not None, "no mapping to draw"
    share = array_usage(result.batch)  # (Y, X)
    down, across = (_axis_names(side) for side in sides(result.arch))
    rows, columns = share.shape
    cell = min(0.3, 6 / columns, 6 / rows)
    axes = axes_on(axes, max(4.2, columns * cell + 1.8), max(1.7, rows * cell + 1.2))
    figure = picture_of(axes)
    image = axes.imshow(share, cmap="cividis", vmin=0, vmax=1, interpolation="nearest")
    if rows * columns <= 400:
        axes.set_xticks([x - 0.5 for x in range(1, columns)], minor=True)
        axes.set_yticks([y - 0.5 for y in range(1, rows)], minor=True)
        axes.grid(which="minor", color="white", linewidth=0.6)
    axes.tick_params(which="minor", length=0)
    axes.tick_params(labelsize=8)
    for axis, names, size in ((axes.xaxis, across, columns), (axes.yaxis, down, rows)):
        axis.set_major_locator(MaxNLocator(integer=True))
        axis.set_label_text(names or "", fontsize=9)
        if size == 1:
            axis.set_ticks([])
    bar = figure.colorbar(image, ax=axes, shrink=0.9, aspect=12, ticks=[0, 0.25, 0.5, 0.75, 1])
    bar.ax.set_yticklabels([f"{tick:.0%}" for tick in (0, 0.25, 0.5, 0.75, 1)], fontsize=8)
    bar.set_label("share of steps active", fontsize=9)
    title = f"{result.workload.title} on {result.arch.name}:\n{share.mean():.1%} on average"
    axes.set_title(title, fontsize=9, loc="left")
    return figure


def _axis_names(axes: list[Axis]) -> str:
    return " \N{MULTIPLICATION SIGN} ".join(f"{axis.name} ({axis.size})" for axis in axes)
