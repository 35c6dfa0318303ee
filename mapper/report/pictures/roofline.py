"""The picture of the roofline, with a point per layer."""

from collections.abc import Callable
from math import cos, hypot, log10, pi, sin
from typing import TYPE_CHECKING, Any

from ....arch import Architecture, Storage
from ..network_result import NetworkResult
from ..result import Result
from ..roofline import RooflinePoint, roofline_point
from .palette import GREY, PALETTE, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

Spot = tuple[float, float]
REACHES = (8, 13, 18, 24, 30, 37, 45)  # points, from a point to its number
TURNS = (4, 12, 0, 8, 2, 6, 14, 10, 3, 5, 13, 11, 1, 7, 15, 9)  # sixteenths of a turn: above, below, beside...


def draw_roofline(result: Result | NetworkResult, axes: "Axes | None" = None) -> "Figure":
    """Draw the roofline of the outermost level: a point per layer, coloured by the level that binds it."""
    from .style import axes_on, picture_of

    layers, arch, name = result.layers, result.machine, result.title
    points = [roofline_point(layer) for layer, _ in layers]
    peak, outer = arch.instances(len(arch.levels)), arch.levels[0]
    rates = [bandwidth.rate for bandwidth in outer.bandwidths if bandwidth.kind != "row"]  # those of words
    ridges = [peak / rate for rate in rates]
    axes = axes_on(axes, 6.5, max(3.4, 0.7 + 0.135 * len(points)))
    axes.set(xscale="log", yscale="log")
    low = min([point.intensity for point in points] + ridges) / 2
    high = max([point.intensity for point in points] + ridges) * 2
    label = _roof(axes, outer, peak, (low, high))
    _points(axes, arch, points)
    names = [f"{i}  {layer.workload.name}" for i, (layer, _) in enumerate(layers, 1)]
    axes.set_xlim(low, high)
    least = min(point.macs_per_cycle for point in points)
    margin = 10 ** max(0.18, 0.1 + 0.15 * log10(peak / least))
    axes.set_ylim(least / margin, peak * margin)
    axes.set_xlabel(f"MACs per word of {outer.name}", fontsize=9)
    axes.set_ylabel("MACs per cycle", fontsize=9)
    _ticks(axes)
    axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(0, -0.14), ncols=2)
    finish(axes, f"{name} on {arch.name}")
    if len(names) > 1:
        axes.text(1.03, 1, "\n".join(names), transform=axes.transAxes, fontsize=6.5, va="top", linespacing=1.35)
        picture_of(axes).draw_without_rendering()  # settles where things are
        _numbers(axes, points, lambda x: min([peak, *(rate * x for rate in rates)]), label.get_window_extent())
    return picture_of(axes)


def _roof(axes: "Axes", outer: Storage, peak: int, ends: Spot) -> "Annotation":
    """Draw the peak and the ceilings of the outermost level's bandwidths between two intensities; the peak's label."""
    low, high = ends
    axes.plot([low, high], [peak, peak], color="black", linewidth=1)
    place: dict[str, Any] = {"textcoords": "offset points", "ha": "right", "fontsize": 8}
    label = axes.annotate(f"{peak:,} MACs per cycle", (high, peak), (0, 4), **place)
    limited: dict[float, list[str]] = {}
    for bandwidth in (own for own in outer.bandwidths if own.kind != "row"):
        limited.setdefault(bandwidth.rate, []).append(bandwidth.words)
    for rate, words in limited.items():
        style = {"reads": "-", "writes": "--"}.get(words[0], "-.")
        which = "" if words == ["reads", "writes"] else f" {' and '.join(words)}"
        axes.plot([low, peak / rate], [low * rate, peak], style, color="black", linewidth=1,
                  label=f"{outer.name}{which}: {rate:g} words per cycle")  # fmt: skip
    if not limited:
        axes.plot([], [], " ", label=f"{outer.name}: no bandwidth given")
    return label


def _ticks(axes: "Axes") -> None:
    """Set plain numbers at powers of ten; where there are less than two of them, at 2 and 5 times these too."""
    from matplotlib.ticker import LogLocator, NullFormatter

    for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 100 else (1,), numticks=20))
        axis.set_major_formatter(lambda value, _: f"{value:,g}")
        axis.set_minor_formatter(NullFormatter())


def _points(axes: "Axes", arch: Architecture, points: list[RooflinePoint]) -> None:
    """Draw a marker per layer, in the colour and shape of the level that binds it."""
    binders = [arch.compute.name, *(level.name for level in arch.levels)]
    for i, binder in enumerate(binders):
        bound_points = [point for point in points if point.binds == binder]
        if bound_points:
            colour = GREY if i == 0 else PALETTE[(i - 1) % 7]
            spots = [p.intensity for p in bound_points], [p.macs_per_cycle for p in bound_points]
            axes.plot(*spots, "os^Dv<>"[i % 7], color=colour, markersize=5, label=f"bound by {binder}")


def _numbers(axes: "Axes", points: list[RooflinePoint], roof: Callable[[float], float], label: "Bbox") -> None:
    """Write each point's number beside it, as near as possible.

    A number covers nothing and its leader crosses nothing, neither points, numbers, leaders, the roof nor its `label`,
    or as little as can be.
    """
    from .style import picture_of

    scale = 72 / picture_of(axes).dpi  # to points
    spots = [(point.intensity, point.macs_per_cycle) for point in points]
    where = [(x, y) for x, y in (axes.transData.transform(spots) * scale).tolist()]
    taken, leaders = list(where), list[tuple[Spot, Spot]]()

    def clutter(own: Spot, at: Spot) -> int:
        """How much a number there would cover, and its leader cross."""
        x = axes.transData.inverted().transform((at[0] / scale, 0))[0]
        line = axes.transData.transform((x, roof(x)))[1] * scale
        covered = sum(abs(at[0] - a) <= 9 and abs(at[1] - b) <= 7 for a, b in taken)
        struck = sum(_apart(at, *leader) < 5 for leader in leaders)
        struck += sum(_cross((own, at), leader) for leader in leaders)
        over = sum(_apart(point, own, at) < 3 for point in where if point != own)
        named = (
            label.x0 * scale - 6 < at[0] < label.x1 * scale + 6 and abs(at[1] / scale - label.y1) < label.height * 1.5
        )
        return int(covered + struck + over + (abs(at[1] - line) < 6) + named)

    for number, (spot, own) in enumerate(zip(spots, where, strict=True), 1):
        around = [(reach * cos(turn * pi / 8), reach * sin(turn * pi / 8)) for reach in REACHES for turn in TURNS]
        shift = min(around, key=lambda move: clutter(own, (own[0] + move[0], own[1] + move[1])))  # the first of equals
        at = (own[0] + shift[0], own[1] + shift[1])
        taken.append(at)
        far = hypot(*shift) > 9
        leaders += [(own, at)] if far else []
        line = {"arrowstyle": "-", "color": GREY, "linewidth": 0.4, "shrinkA": 0, "shrinkB": 2}
        axes.annotate(f"{number}", spot, shift, textcoords="offset points", ha="center", va="center", fontsize=6,
                      arrowprops=line if far else None)  # fmt: skip


def _apart(spot: Spot, start: Spot, end: Spot) -> float:
    """The distance of a spot from the line between two others."""
    run = (end[0] - start[0], end[1] - start[1])
    share = ((spot[0] - start[0]) * run[0] + (spot[1] - start[1]) * run[1]) / (run[0] ** 2 + run[1] ** 2)
    share = min(1.0, max(0.0, share))
    return hypot(spot[0] - start[0] - share * run[0], spot[1] - start[1] - share * run[1])


def _cross(line: tuple[Spot, Spot], other: tuple[Spot, Spot]) -> bool:
    """Whether two lines between spots cross."""

    def side(a: Spot, b: Spot, c: Spot) -> bool:
        return (b[0] - a[0]) * (c[1] - a[1]) > (b[1] - a[1]) * (c[0] - a[0])

    return side(*line, other[0]) != side(*line, other[1]) and side(*other, line[0]) != side(*other, line[1])
