"""Pictures of results, each on a figure of its own or on given axes. matplotlib is imported where one is drawn."""

from math import log10
from typing import TYPE_CHECKING, Any

from ...model import OBJECTIVES, first_objective
from ..result import NetworkResult, Result
from ..tables import energy_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, told apart with any common colour blindness; MACs in grey
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
GREY = "#7F7F7F"
MARKERS = "osD^vPX"
LINES = ("-", "--", ":", "-.", "-", "--", ":")
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "oooo")  # and in print without colour
SLOWEST = 5  # layers with a colour where there are more layers than colours
CYCLES = ("all MAC units at work", "MAC units without work", "waiting for a bandwidth")
OWN = {"MACs": (GREY, ""), "leakage": ("#C8C8C8", "----")}  # beside tensors and levels


def draw_energy(result: Result | NetworkResult, axes: "Axes | None" = None) -> "Figure":
    """The energy breakdown: by level and tensor; of a network by layer and level."""
    if isinstance(result, NetworkResult):
        rows, series = _by_layer(result)
        title = f"{result.name} on {result.layers[0][0].arch.name}: {_total(result.energy_pj)}"
    else:
        rows, series = _by_level(result)
        title = f"{result.workload.name} on {result.arch.name}: {_total(result.energy_pj)}"
    return _draw(rows, series, title, axes)


def _total(energy_pj: float) -> str:
    unit, size = energy_unit(energy_pj)
    return f"{energy_pj / size:.4g} {_symbol(unit)}"


def _symbol(unit: str) -> str:
    return unit.replace("u", "\N{MICRO SIGN}")


Series = dict[str, list[float]]  # name: pJ per row


def _by_level(result: Result) -> tuple[list[str], Series]:
    """Rows: the levels, each with the network below it, the MACs, leakage. Series: the tensors, network, MACs, leakage.

    Network and leakage only where they are counted.
    """
    costs = result.costs
    assert costs is not None, "no costs to draw"
    levels = [level.name for level in result.arch.levels]
    energy = costs.level_energy_pj[0]  # (level, tensor)
    series = {tensor.name: [*energy[:, t].tolist(), 0.0] for t, tensor in enumerate(result.workload.tensors)}
    if costs.options.network:
        series["network"] = [*costs.network_energy_pj[0].sum(axis=1).tolist(), 0.0]
    series["MACs"] = [0.0] * len(levels) + [costs.compute_energy_pj]
    rows = [*levels, result.arch.compute.name]
    if leak := float(costs.leak_energy_pj[0]):
        series = {name: [*values, 0.0] for name, values in series.items()}
        series["leakage"] = [0.0] * len(rows) + [leak]
        rows.append("leakage")
    return rows, series


def _by_layer(result: NetworkResult) -> tuple[list[str], Series]:
    """Rows: the layers, all occurrences. Series: the levels with the network below each, the MACs, leakage."""
    arch, rows = result.layers[0][0].arch, _layer_names(result)
    series: Series = {name: [] for name in (*(level.name for level in arch.levels), "MACs", "leakage")}
    for layer, count in result.layers:
        assert layer.costs is not None, "no costs to draw"
        for i, level in enumerate(arch.levels):
            level_pj = layer.costs.level_energy_pj[0, i] + layer.costs.network_energy_pj[0, i]
            series[level.name].append(count * float(level_pj.sum()))
        series["MACs"].append(count * layer.costs.compute_energy_pj)
        series["leakage"].append(count * float(layer.costs.leak_energy_pj[0]))
    return rows, series if any(series["leakage"]) else {name: series[name] for name in list(series)[:-1]}


def draw_cycles(result: NetworkResult, axes: "Axes | None" = None) -> "Figure":
    """The cycles of each layer, all occurrences: those that full use of the MAC units would need, and the rest."""
    rows, series = _layer_names(result), dict[str, list[float]]()
    for layer, count in result.layers:
        assert layer.costs is not None, "no costs to draw"
        computing = float(layer.costs.counts.cycles[0])
        full = layer.cycles * layer.utilization
        for name, cycles in zip(CYCLES, (full, computing - full, layer.cycles - computing), strict=True):
            series.setdefault(name, []).append(count * cycles)
    if not any(series[CYCLES[-1]]):
        del series[CYCLES[-1]]
    title = f"{result.name} on {result.layers[0][0].arch.name}: {result.cycles:,} cycles"
    power = max(0, int(log10(max(map(sum, zip(*series.values(), strict=True))))) // 3 * 3)
    return _stacked(rows, series, 10**power, f"cycles [$10^{power}$]" if power else "cycles", title, axes)


def draw_layers(result: NetworkResult) -> "Figure":
    """Cycles and energy of each layer, side by side."""
    from .style import Picture

    figure = Picture(figsize=(13, 1.3 + 0.28 * len(result.layers)), layout="constrained")
    cycles, energy = figure.subplots(1, 2)
    draw_cycles(result, cycles)
    draw_energy(result, energy)
    energy.set_yticklabels([])  # the layers of the left side
    for axes in (cycles, energy):
        axes.get_legend().remove()
    style: dict[str, Any] = {"fontsize": 8, "frameon": False, "ncols": 4}
    figure.legend(*cycles.get_legend_handles_labels(), loc="outside lower left", **style)
    figure.legend(*energy.get_legend_handles_labels(), loc="outside lower right", **style)
    return figure


def _layer_names(result: NetworkResult) -> list[str]:
    return [
        layer.workload.name + (f" \N{MULTIPLICATION SIGN}{count}" if count > 1 else "")
        for layer, count in result.layers
    ]


def _draw(rows: list[str], series: Series, title: str, axes: "Axes | None") -> "Figure":
    unit, size = energy_unit(max(map(sum, zip(*series.values(), strict=True))))
    return _stacked(rows, series, size, f"energy [{_symbol(unit)}]", title, axes)


def _stacked(rows: list[str], series: Series, size: float, label: str, title: str, axes: "Axes | None") -> "Figure":
    """A bar per row, the series in units of `size`, and what share of the whole it is."""
    from .style import axes_on, picture_of

    sums = [sum(values[i] for values in series.values()) for i in range(len(rows))]
    axes = axes_on(axes, 6.5, 1.3 + 0.28 * len(rows))
    _bars(axes, {name: [value / size for value in values] for name, values in series.items()}, len(rows))
    for i, total in enumerate(sums):
        axes.text(total / size, i, f" {total / sum(sums):.1%}", va="center", fontsize=8)
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    axes.set_ylim(len(rows) - 0.4, -0.6)  # outermost level, first layer on top
    axes.set_xlim(0, max(sums) / size * 1.12)
    axes.set_xlabel(label, fontsize=9)
    axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    _finish(axes, title)
    return picture_of(axes)


def _bars(axes: "Axes", series: Series, rows: int) -> None:
    """One stacked bar per row."""
    left = [0.0] * rows
    for i, (name, values) in enumerate(series.items()):
        colour, hatch = OWN.get(name, (PALETTE[i % 7], HATCHES[i % 7]))
        bars = axes.barh(range(rows), values, 0.72, left, label=name, color=colour, hatch=hatch)
        for bar in bars:
            bar.set(edgecolor="white", linewidth=0.5)
        left = [a + b for a, b in zip(left, values, strict=True)]


def draw_convergence(result: Result, axes: "Axes | None" = None) -> "Figure":
    """The best so far by mappings looked at, a step at each improvement. A second result adds its line to `axes`."""
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
    axes.set_ylabel(f"best {first_objective(str(result.objective)).label}", fontsize=9)
    axes.legend(fontsize=8, frameon=False)
    _finish(axes, f"{result.workload.name} on {result.arch.name}")
    return picture_of(axes)


def draw_convergences(result: NetworkResult, axes: "Axes | None" = None) -> "Figure":
    """The best so far of each layer by the mappings of it looked at, as a multiple of what was found in the end."""
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
        grey |= {} if layer in slow else {"label": "_"}  # told once
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("mappings of the layer looked at", fontsize=9)
    objective = first_objective(str(result.layers[0][0].objective)).label.split(" [")[0]
    axes.set_ylabel(f"best {objective} / the last best", fontsize=9)
    which = f", {SLOWEST} of {len(layers)} layers: the last to come within 10 % of their best"
    title = f"{result.name} on {result.layers[0][0].arch.name}"
    axes.legend(fontsize=8, frameon=False)
    _finish(axes, title + (which if len(slow) < len(layers) else ": a line per layer"))
    return picture_of(axes)


def _near_its_best(layer: Result) -> int:
    """How many mappings had been looked at when the best so far came within 10 % of the last."""
    trace = layer.statistics.trace
    return next(seen for seen, value in trace if value <= 1.1 * trace[-1][1])


def draw_front(result: Result, axes: "Axes | None" = None) -> "Figure":
    """The front in its first two axes; a third is the colour. A second result adds its front to `axes`."""
    from .style import axes_on, picture_of

    axes = axes_on(axes, 6.5, 3.6)
    units = [_unit(axis, max(one.value(axis) for one in result.front)) for axis in result.axes]
    columns = [
        [one.value(axis) / size for one in result.front] for axis, (_, size) in zip(result.axes, units, strict=True)
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
    for one, name in zip((axes.xaxis, axes.yaxis), result.axes, strict=False):
        if not all(OBJECTIVES[name].powers):
            one.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axes.legend(fontsize=8, frameon=False)
    _finish(axes, f"{result.workload.name} on {result.arch.name}")
    return picture_of(axes)


def _unit(axis: str, largest: float) -> tuple[str, float]:
    """The label of an axis of the front, and the size of its unit; energies in a unit in which they are legible."""
    if not OBJECTIVES[axis].in_pj:
        return OBJECTIVES[axis].label, 1.0
    unit, size = energy_unit(largest)
    return f"energy [{_symbol(unit)}]", size


def _finish(axes: "Axes", title: str) -> None:
    axes.tick_params(axis="both", labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title, fontsize=9, loc="left")
