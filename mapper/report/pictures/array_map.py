"""Pictures of how a mapping uses the machine: a map of the array, the roofline."""

from collections.abc import Callable
from math import cos, hypot, log10, pi, sin
from typing import TYPE_CHECKING, Any

from ....arch import Architecture, Axis
from ...model import array_usage, sides
from ..result import NetworkResult, Result
from ..roofline import RooflinePoint, roofline_point
from .bars import GREY, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

Spot = tuple[float, float]
REACHES = (8, 13, 18, 24, 30, 37, 45)  # points, from a point to its number
TURNS = (4, 12, 0, 8, 2, 6, 14, 10, 3, 5, 13, 11, 1, 7, 15, 9)  # sixteenths of a turn: above, below, beside...


def draw_usage(result: Result, axes: "Axes | None" = None) -> "Figure":
    """A map of the array: the share of the steps in which the MAC units of each coordinate work."""
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
    title = f"{result.workload.name} on {result.arch.name}:\n{share.mean():.1%} on average"
    axes.set_title(title, fontsize=9, loc="left")
    return figure


def _axis_names(axes: list[Axis]) -> str:
    return " \N{MULTIPLICATION SIGN} ".join(f"{axis.name} ({axis.size})" for axis in axes)


def draw_roofline(result: Result | NetworkResult, axes: "Axes | None" = None) -> "Figure":
    """The roofline of the outermost level: a point per layer, coloured by the level that binds it."""
    from .style import axes_on, picture_of

    layers = result.layers if isinstance(result, NetworkResult) else ((result, 1),)
    arch, name = layers[0][0].arch, result.name if isinstance(result, NetworkResult) else result.workload.name
    points = [roofline_point(layer) for layer, _ in layers]
    peak, outer = arch.instances(len(arch.levels)), arch.levels[0]
    ceilings = {"reads": outer.read_bandwidth, "writes": outer.write_bandwidth}
    ridges = [peak / rate for rate in ceilings.values() if rate]
    axes = axes_on(axes, 6.5, max(3.4, 0.7 + 0.135 * len(points)))
    axes.set(xscale="log", yscale="log")
    low = min([point.intensity for point in points] + ridges) / 2
    high = max([point.intensity for point in points] + ridges) * 2
    axes.plot([low, high], [peak, peak], color="black", linewidth=1)
    top: dict[str, Any] = {"textcoords": "offset points", "ha": "right", "fontsize": 8}
    label = axes.annotate(f"{peak:,} MACs per cycle", (high, peak), (0, 4), **top)
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
    margin = 10 ** max(0.18, 0.1 + 0.15 * log10(peak / least))
    axes.set_ylim(least / margin, peak * margin)
    axes.set_xlabel(f"MACs per word of {outer.name}", fontsize=9)
    axes.set_ylabel("MACs per cycle", fontsize=9)
    _ticks(axes)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(0, -0.14), ncols=2)
    axes.set_title(f"{name} on {arch.name}", fontsize=9, loc="left")
    if len(names) > 1:
        axes.text(1.03, 1, "\n".join(names), transform=axes.transAxes, fontsize=6.5, va="top", linespacing=1.35)
        picture_of(axes).draw_without_rendering()  # settles where things are
        rates = [rate for rate in ceilings.values() if rate]
        _numbers(axes, points, lambda x: min([peak, *(rate * x for rate in rates)]), label.get_window_extent())
    return picture_of(axes)


def _ticks(axes: "Axes") -> None:
    """Plain numbers at powers of ten; where there are less than two of them, at 2 and 5 times these too."""
    from matplotlib.ticker import LogLocator, NullFormatter

    for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 100 else (1,), numticks=20))
        axis.set_major_formatter(lambda value, _: f"{value:,g}")
        axis.set_minor_formatter(NullFormatter())


def _points(axes: "Axes", arch: Architecture, points: list[RooflinePoint]) -> None:
    """A marker per layer, in the colour and shape of the level that binds it, with its number."""
    binders = [arch.compute.name, *(level.name for level in arch.levels)]
    for i, binder in enumerate(binders):
        here = [point for point in points if point.binds == binder]
        if here:
            colour = GREY if i == 0 else PALETTE[(i - 1) % 7]
            spots = [p.intensity for p in here], [p.macs_per_cycle for p in here]
            axes.plot(*spots, "os^Dv<>"[i % 7], color=colour, markersize=5, label=f"bound by {binder}")


def _numbers(axes: "Axes", points: list[RooflinePoint], roof: Callable[[float], float], label: "Bbox") -> None:
    """Each point's number beside it: at the nearest place around it where it covers nothing and its leader crosses
    nothing, neither points, numbers, leaders, the roof nor its `label`, or as little as can be."""
    from .style import picture_of

    scale = 72 / picture_of(axes).dpi  # to points
    spots = [(point.intensity, point.macs_per_cycle) for point in points]
    where = [(x, y) for x, y in (axes.transData.transform(spots) * scale).tolist()]
    taken, leaders = list(where), list[tuple[Spot, Spot]]()

    def bad(own: Spot, at: Spot) -> int:
        """What a number there would cover, and what its leader would cross."""
        x = axes.transData.inverted().transform((at[0] / scale, 0))[0]
        line = axes.transData.transform((x, roof(x)))[1] * scale
        covered = sum(abs(at[0] - a) <= 9 and abs(at[1] - b) <= 7 for a, b in taken)
        struck = sum(_apart(at, *one) < 5 for one in leaders) + sum(_cross((own, at), one) for one in leaders)
        over = sum(_apart(one, own, at) < 3 for one in where if one != own)
        named = (
            label.x0 * scale - 6 < at[0] < label.x1 * scale + 6 and abs(at[1] / scale - label.y1) < label.height * 1.5
        )
        return int(covered + struck + over + (abs(at[1] - line) < 6) + named)

    for number, (spot, own) in enumerate(zip(spots, where, strict=True), 1):
        around = [(reach * cos(turn * pi / 8), reach * sin(turn * pi / 8)) for reach in REACHES for turn in TURNS]
        shift = min(around, key=lambda one: bad(own, (own[0] + one[0], own[1] + one[1])))  # the first of equals
        at = (own[0] + shift[0], own[1] + shift[1])
        taken.append(at)
        far = hypot(*shift) > 9
        leaders += [(own, at)] if far else []
        line = {"arrowstyle": "-", "color": GREY, "linewidth": 0.4, "shrinkA": 0, "shrinkB": 2}
        axes.annotate(f"{number}", spot, shift, textcoords="offset points", ha="center", va="center", fontsize=6,
                      arrowprops=line if far else None)  # fmt: skip


def _apart(spot: Spot, one: Spot, other: Spot) -> float:
    """The distance of a spot from the line between two others."""
    run = (other[0] - one[0], other[1] - one[1])
    share = ((spot[0] - one[0]) * run[0] + (spot[1] - one[1]) * run[1]) / (run[0] ** 2 + run[1] ** 2)
    share = min(1.0, max(0.0, share))
    return hypot(spot[0] - one[0] - share * run[0], spot[1] - one[1] - share * run[1])


def _cross(one: tuple[Spot, Spot], other: tuple[Spot, Spot]) -> bool:
    """Whether two lines between spots cross."""

    def side(a: Spot, b: Spot, c: Spot) -> bool:
        return (b[0] - a[0]) * (c[1] - a[1]) > (b[1] - a[1]) * (c[0] - a[0])

    return side(*one, other[0]) != side(*one, other[1]) and side(*other, one[0]) != side(*other, one[1])
