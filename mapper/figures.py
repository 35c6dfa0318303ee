"""Pictures of results. matplotlib is imported where one is drawn, and without a display."""

from pathlib import Path
from typing import TYPE_CHECKING

from .report import NetworkResult, Result
from .tables import energy_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, told apart with any common colour blindness; MACs in grey
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
GREY = "#7F7F7F"
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "oooo")  # and in print without colour


def draw_energy(result: Result | NetworkResult, path: Path) -> None:
    """Save the energy breakdown: by level and tensor; of a network by layer and level."""
    if isinstance(result, NetworkResult):
        rows, series = _by_layer(result)
        title = f"{result.name} on {result.layers[0][0].arch.name}: {_total(result.energy_pj)}"
    else:
        rows, series = _by_level(result)
        title = f"{result.workload.name} on {result.arch.name}: {_total(result.energy_pj)}"
    _draw(rows, series, title, path)


def _total(energy_pj: float) -> str:
    unit, size = energy_unit(energy_pj)
    return f"{energy_pj / size:.4g} {_symbol(unit)}"


def _symbol(unit: str) -> str:
    return unit.replace("u", "\N{MICRO SIGN}")


Series = dict[str, list[float]]  # name: pJ per row


def _by_level(result: Result) -> tuple[list[str], Series]:
    """Rows: the levels and the MACs. Series: the tensors and the MACs."""
    costs = result.costs
    assert costs is not None, "no costs to draw"
    levels = [level.name for level in result.arch.levels]
    energy = costs.level_energy_pj[0]  # (level, tensor)
    series = {tensor.name: [*energy[:, t].tolist(), 0.0] for t, tensor in enumerate(result.workload.tensors)}
    series["MACs"] = [0.0] * len(levels) + [costs.compute_energy_pj]
    return [*levels, result.arch.compute.name], series


def _by_layer(result: NetworkResult) -> tuple[list[str], Series]:
    """Rows: the layers, all occurrences. Series: the levels and the MACs."""
    arch = result.layers[0][0].arch
    rows = [
        layer.workload.name + (f" \N{MULTIPLICATION SIGN}{count}" if count > 1 else "")
        for layer, count in result.layers
    ]
    series: Series = {name: [] for name in (*(level.name for level in arch.levels), "MACs")}
    for layer, count in result.layers:
        assert layer.costs is not None, "no costs to draw"
        for i, level in enumerate(arch.levels):
            series[level.name].append(count * float(layer.costs.level_energy_pj[0, i].sum()))
        series["MACs"].append(count * layer.costs.compute_energy_pj)
    return rows, series


def _draw(rows: list[str], series: Series, title: str, path: Path) -> None:
    from matplotlib.figure import Figure

    sums = [sum(values[i] for values in series.values()) for i in range(len(rows))]
    unit, size = energy_unit(max(sums))
    figure = Figure(figsize=(6.5, 1.3 + 0.28 * len(rows)), layout="constrained")
    axes = figure.add_subplot()
    _bars(axes, {name: [value / size for value in values] for name, values in series.items()}, len(rows))
    for i, total in enumerate(sums):
        axes.text(total / size, i, f" {total / sum(sums):.1%}", va="center", fontsize=8)
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    axes.set_ylim(len(rows) - 0.4, -0.6)  # outermost level, first layer on top
    axes.set_xlim(0, max(sums) / size * 1.12)
    axes.set_xlabel(f"energy [{_symbol(unit)}]", fontsize=9)
    axes.tick_params(axis="x", labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title, fontsize=9, loc="left")
    axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    figure.savefig(path, dpi=200)


def _bars(axes: "Axes", series: Series, rows: int) -> None:
    """One stacked bar per row."""
    left = [0.0] * rows
    for i, (name, values) in enumerate(series.items()):
        colour, hatch = (GREY, "") if name == "MACs" else (PALETTE[i % 7], HATCHES[i % 7])
        bars = axes.barh(range(rows), values, 0.72, left, label=name, color=colour, hatch=hatch)
        for bar in bars:
            bar.set(edgecolor="white", linewidth=0.5)
        left = [a + b for a, b in zip(left, values, strict=True)]
