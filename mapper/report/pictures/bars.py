"""Pictures with a bar per level or layer, each on a figure of its own or on given axes: energy and cycles."""

from math import log10
from typing import TYPE_CHECKING, Any

from ..network_result import NetworkResult
from ..result import Result
from ..tables import energy_unit
from .palette import GREY, HATCHES, PALETTE, finish, power_of_ten, symbol

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CYCLES = ("busy", "idle", "stalled")  # docs/glossary.md defines them
OWN = {"MACs": (GREY, ""), "leakage": ("#C8C8C8", "----")}  # beside tensors and levels


def draw_energy(result: Result | NetworkResult, axes: "Axes | None" = None) -> "Figure":
    """Draw the energy breakdown: by level and tensor; of a network by layer and level."""
    rows, series = _by_layer(result) if isinstance(result, NetworkResult) else _by_level(result)
    return _draw(rows, series, f"{result.title} on {result.machine.name}: {_total(result.energy_pj)}", axes)


def _total(energy_pj: float) -> str:
    unit, size = energy_unit(energy_pj)
    return f"{energy_pj / size:.4g} {symbol(unit)}"


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
    if costs.options.has_interconnect:
        series["network"] = [*costs.interconnect_energy_pj[0].sum(axis=1).tolist(), 0.0]
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
            level_pj = layer.costs.level_energy_pj[0, i] + layer.costs.interconnect_energy_pj[0, i]
            series[level.name].append(count * float(level_pj.sum()))
        series["MACs"].append(count * layer.costs.compute_energy_pj)
        series["leakage"].append(count * float(layer.costs.leak_energy_pj[0]))
    return rows, series if any(series["leakage"]) else {name: series[name] for name in list(series)[:-1]}


def draw_cycles(result: NetworkResult, axes: "Axes | None" = None) -> "Figure":
    """Draw the cycles of each layer, all occurrences: those that full use of the MAC units needs, idle ones, stalls."""
    rows, series = _layer_names(result), dict[str, list[float]]()
    for layer, count in result.layers:
        assert layer.costs is not None, "no costs to draw"
        computing = float(layer.costs.counts.cycles[0])
        full = layer.cycles * layer.utilization
        for name, cycles in zip(CYCLES, (full, computing - full, layer.cycles - computing), strict=True):
            series.setdefault(name, []).append(count * cycles)
    if not any(series[CYCLES[-1]]):
        del series[CYCLES[-1]]
    title = f"{result.title} on {result.machine.name}: {result.cycles:,} cycles"
    power = max(0, int(log10(max(map(sum, zip(*series.values(), strict=True))))) // 3 * 3)
    return _stacked(rows, series, 10**power, f"cycles [{power_of_ten(power)}]" if power else "cycles", title, axes)


def draw_layers(result: NetworkResult) -> "Figure":
    """Draw cycles and energy of each layer, side by side."""
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
    return _stacked(rows, series, size, f"energy [{symbol(unit)}]", title, axes)


def _stacked(rows: list[str], series: Series, size: float, label: str, title: str, axes: "Axes | None") -> "Figure":
    """Draw a bar per row, the series in units of `size`, with its share of the whole."""
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
    finish(axes, title)
    return picture_of(axes)


def _bars(axes: "Axes", series: Series, rows: int) -> None:
    """Stack the series, a bar per row."""
    left = [0.0] * rows
    for i, (name, values) in enumerate(series.items()):
        colour, hatch = OWN.get(name, (PALETTE[i % 7], HATCHES[i % 7]))
        bars = axes.barh(range(rows), values, 0.72, left, label=name, color=colour, hatch=hatch)
        for bar in bars:
            bar.set(edgecolor="white", linewidth=0.5)
        left = [a + b for a, b in zip(left, values, strict=True)]
