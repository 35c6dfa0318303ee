"""Pictures of how a mapping uses the machine: a map of the array, the roofline."""

from collections.abc import Callable
from math import ceil, floor, log10
from typing import TYPE_CHECKING

from ..arch import Architecture
from .figures import GREY, PALETTE
from .report import NetworkResult, Result
from .usage import Limit, array_usage, axes_of, limit, sides

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_usage(result: Result, axes: "Axes | None" = None) -> "Figure":
    """A map of the array: the share of the steps in which the MAC units of each coordinate work."""
    from matplotlib.ticker import MaxNLocator

    from .picture import axes_on, picture_of

    assert result.batch is not None, "no mapping to draw"
    share = array_usage(result.batch)  # (Y, X)
    down, across = (_axis_names(result.arch, side) for side in sides(result.arch))
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
    title = f"{result.workload.name} on {result.arch.name}:\n{share.mean():.1%} on average"
    axes.set_title(title, fontsize=9, loc="left")
    return figure


def _axis_names(arch: Architecture, side: list[int]) -> str:
    axes = [axes_of(arch)[i] for i in side]
    return " \N{MULTIPLICATION SIGN} ".join(f"{axis.name} ({axis.size})" for axis in axes)


def draw_roofline(result: Result | NetworkResult, axes: "Axes | None" = None) -> "Figure":
    """The roofline of the outermost level: a point per layer, coloured by the level that binds it."""
    from matplotlib.ticker import NullFormatter

    from .picture import axes_on, picture_of

    layers = result.layers if isinstance(result, NetworkResult) else ((result, 1),)
    arch, name = layers[0][0].arch, result.name if isinstance(result, NetworkResult) else result.workload.name
    points = [limit(layer) for layer, _ in layers]
    peak, outer = arch.instances(len(arch.levels)), arch.levels[0]
    ceilings = {"reads": outer.read_bandwidth, "writes": outer.write_bandwidth}
    ridges = [peak / rate for rate in ceilings.values() if rate]
    axes = axes_on(axes, 6.5, max(3.4, 0.7 + 0.135 * len(points)))
    axes.set(xscale="log", yscale="log")
    low = _decade(min([point.intensity for point in points] + ridges), floor)
    high = _decade(max([point.intensity for point in points] + ridges), ceil)
    axes.plot([low, high], [peak, peak], color="black", linewidth=1)
    axes.annotate(f"{peak:,} MACs per cycle", (low, peak), (4, 4), textcoords="offset points", fontsize=8)
    for (what, rate), style in zip(ceilings.items(), ("-", "--"), strict=True):
        if rate and (what == "reads" or rate != ceilings["reads"]):
            which = "" if ceilings["writes"] == ceilings["reads"] else f" {what}"
            axes.plot([low, peak / rate], [low * rate, peak], style, color="black", linewidth=1,
                      label=f"{outer.name}{which}: {rate:g} words per cycle")  # fmt: skip
    if not ridges:
        axes.plot([], [], " ", label=f"{outer.name}: no bandwidth given")
    _points(axes, arch, points)
    names = [f"{i}  {layer.workload.name}" for i, (layer, _) in enumerate(layers, 1)]
    axes.set_xlim(low, high)
    least = min(point.macs_per_cycle for point in points)
    axes.set_ylim(_decade(min(least, peak / 10), floor), peak * 1.8)
    axes.set_xlabel(f"MACs per word of {outer.name}", fontsize=9)
    axes.set_ylabel("MACs per cycle", fontsize=9)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,g}")
        axis.set_minor_formatter(NullFormatter())
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8, frameon=False, loc="lower right")
    axes.set_title(f"{name} on {arch.name}", fontsize=9, loc="left")
    if len(names) > 1:
        axes.text(1.03, 1, "\n".join(names), transform=axes.transAxes, fontsize=6.5, va="top", linespacing=1.35)
        picture_of(axes).draw_without_rendering()  # settles where things are
        _numbers(axes, points)
    return picture_of(axes)


def _decade(value: float, rounded: Callable[[float], int]) -> float:
    """The power of ten below (floor) or above (ceil) a value, not nearer than a fifth of a decade."""
    return 10.0 ** rounded(log10(value) + (-0.2 if rounded is floor else 0.2))


def _points(axes: "Axes", arch: Architecture, points: list[Limit]) -> None:
    """A marker per layer, in the colour and shape of the level that binds it, with its number."""
    binders = [arch.compute.name, *(level.name for level in arch.levels)]
    for i, binder in enumerate(binders):
        here = [point for point in points if point.binds == binder]
        if here:
            colour = GREY if i == 0 else PALETTE[(i - 1) % 7]
            spots = [p.intensity for p in here], [p.macs_per_cycle for p in here]
            axes.plot(*spots, "os^Dv<>"[i % 7], color=colour, markersize=5, label=f"bound by {binder}")


def _numbers(axes: "Axes", points: list[Limit]) -> None:
    """Each point's number beside it, at the first place around it that no point and no other number takes."""
    from .picture import picture_of

    spots = [(point.intensity, point.macs_per_cycle) for point in points]
    where = axes.transData.transform(spots) * 72 / picture_of(axes).dpi  # (spot, 2) in points
    taken = [tuple(spot) for spot in where]
    for number, (spot, (x, y)) in enumerate(zip(spots, where, strict=True), 1):
        places = [
            (dx * reach, dy * reach)
            for reach in (8, 14, 20, 27, 35, 44)
            for dx, dy in ((0, 1), (0, -1), (1, 0), (-1, 0), (0.7, 0.7), (-0.7, 0.7), (0.7, -0.7), (-0.7, -0.7))
        ]
        for dx, dy in places:
            if all(abs(x + dx - a) > 9 or abs(y + dy - b) > 7 for a, b in taken):
                break
        taken.append((x + dx, y + dy))
        line = {"arrowstyle": "-", "color": GREY, "linewidth": 0.4, "shrinkA": 0, "shrinkB": 2}
        axes.annotate(
            f"{number}",
            spot,
            (dx, dy),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=6,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.2, "alpha": 0.8},
            arrowprops=line if abs(dx) + abs(dy) > 9 else None,
        )
