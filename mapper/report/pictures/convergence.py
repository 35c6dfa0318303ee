"""Pictures of how searches converge: of one layer, and of all layers of a network."""

from typing import TYPE_CHECKING, Any

from ...problem import first_objective
from ..answer import minimised
from ..network_result import NetworkResult
from ..result import Result
from .palette import GREY, LINES, MARKERS, PALETTE, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SLOWEST = 5  # layers with a colour where there are more layers than colours


def draw_convergence(result: Result, axes: "Axes | None" = None) -> "Figure":
    """Draw the best so far by mappings looked at, a step per improvement. A second result adds its line to `axes`."""
    from .style import axes_on, picture_of

    axes = axes_on(axes, 6.5, 3)
    seen, best = zip(*result.statistics.trace, strict=True)
    end = max(result.statistics.evaluated, seen[-1])
    number = len(axes.get_legend_handles_labels()[1])
    name = f"{result.mapspace}: {best[-1]:.4g}"
    (line,) = axes.step([*seen, end], [*best, best[-1]], LINES[number % 7], where="post", linewidth=1.2, label=name)
    line.set(color=PALETTE[number % 7], marker=MARKERS[number % 7], markersize=2.5, markevery=range(len(seen)))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("mappings looked at", fontsize=9)
    axes.set_ylabel(f"best {minimised(str(result.objective))[1]}", fontsize=9)
    axes.legend(fontsize=8, frameon=False)
    finish(axes, f"{result.workload.title} on {result.arch.name}")
    return picture_of(axes)


def draw_convergences(result: NetworkResult, axes: "Axes | None" = None) -> "Figure":
    """Draw the best so far of each layer by the mappings of it looked at, as a multiple of its last best."""
    from .style import axes_on, picture_of

    axes = axes_on(axes, 6.5, 3.6)
    layers = [layer for layer, _ in result.layers if layer.found]
    slow = layers if len(layers) <= len(PALETTE) else sorted(layers, key=_near_its_best)[-SLOWEST:]
    grey: dict[str, Any] = {"color": GREY, "alpha": 0.5, "label": f"{len(layers) - len(slow)} other layers"}
    for layer in sorted(layers, key=lambda layer: layer in slow):  # these on top
        seen, best = zip(*layer.statistics.trace, strict=True)
        end = max(layer.statistics.evaluated, seen[-1])
        ratios = [value / best[-1] for value in (*best, best[-1])]
        style = grey
        if layer in slow:
            number = slow.index(layer)
            style = {"color": PALETTE[number], "linestyle": LINES[number], "label": layer.workload.name}
        axes.step([*seen, end], ratios, where="post", linewidth=1.2 if layer in slow else 0.6, **style)
        grey |= {} if layer in slow else {"label": "_"}  # in the legend once
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("mappings of the layer looked at", fontsize=9)
    objective = first_objective(str(result.layers[0][0].objective)).short
    axes.set_ylabel(f"best {objective} / the last best", fontsize=9)
    which = f", {SLOWEST} of {len(layers)} layers: the last to come within 10 % of their best"
    title = f"{result.title} on {result.machine.name}"
    axes.legend(fontsize=8, frameon=False)
    finish(axes, title + (which if len(slow) < len(layers) else ": a line per layer"))
    return picture_of(axes)


def _near_its_best(layer: Result) -> int:
    """How many mappings had been looked at when the best so far came within 10 % of the last."""
    trace = layer.statistics.trace
    return next(seen for seen, value in trace if value <= 1.1 * trace[-1][1])
