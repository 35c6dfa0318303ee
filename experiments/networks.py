"""What the searches of a network's layers say of two mapspaces, in numbers and as a picture.

Each layer is searched twice over. At random, many times: the paper stops a search at 3000 valid mappings in a row
without improvement and runs 24 threads, and leaves open whether they count together. *In total*: one search is one
such count. *Per thread*: it is the best of 24, layer by layer. And with proof (`--search optimal`): what the mapspace
holds, whoever looks for it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from common import save, tell
from numpy.typing import NDArray
from ruby_map.mapper.report.pictures import PALETTE
from searches import COLUMNS, Json, Measure, Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes

THREADS = 24  # that search in the paper
SPACES = ("pfm", "ruby-s")
ROUNDING = 1e-9

Floats = NDArray[np.float64]
Tasks = dict[str, dict[str, list[Task]]]  # kind, "random" or "proven": mapspace: a task per layer


@dataclass(frozen=True, eq=False)
class Searches:
    """The searches of several layers for the least `objective`; each layer is there `counts` times in the network."""

    objective: Measure
    counts: Floats  # (layer,)
    energy_pj: Floats  # (layer, search)
    cycles: Floats  # (layer, search)
    utilization: Floats  # (layer, search)
    lower_bound: Floats  # (layer, search) of the objective; nan where nothing is proven
    area_um2: float

    @property
    def layers(self) -> Floats:
        """The objective of each layer, once. # (layer, search)"""
        return {"edp": self.energy_pj * self.cycles, "energy": self.energy_pj, "delay": self.cycles}[self.objective]

    def network(self, measure: Measure) -> Floats:
        """Of the whole network: energies and cycles add up, EDP is the product of the sums. # (search,)"""
        energy, cycles = self.counts @ self.energy_pj, self.counts @ self.cycles
        return {"edp": energy * cycles, "energy": energy, "delay": cycles}[measure]

    def best_of(self, many: int) -> "Searches":
        """Each `many` searches in turn as one: the best of each layer."""
        whole = self.energy_pj.shape[1] // many * many
        value = self.layers[:, :whole].reshape(len(self.counts), -1, many)
        best = value.argmin(axis=2)[..., None]

        def chosen(of: Floats) -> Floats:
            return np.take_along_axis(of[:, :whole].reshape(value.shape), best, axis=2)[..., 0]

        parts = (chosen(getattr(self, name)) for name in COLUMNS)
        return Searches(self.objective, self.counts, *parts, area_um2=self.area_um2)

    @property
    def proven(self) -> NDArray[np.bool_]:
        """Whether the first search of each layer is proven to have found the least. # (layer,)"""
        return self.lower_bound[:, 0] >= self.layers[:, 0] * (1 - ROUNDING)

    @property
    def least_network_edp(self) -> float:
        """What the network cannot go below with the mappings found where proven, and others of least EDP elsewhere.

        These have E D of at least their bound, and (sum E)(sum D) is at least (sum sqrt(E D))^2. Two mappings of one
        least EDP may divide it otherwise between energy and cycles; a proven layer keeps the one found.
        """
        known, c = self.proven, self.counts
        energy, cycles = c[known] @ self.energy_pj[known, 0], c[known] @ self.cycles[known, 0]
        return float((np.sqrt(energy * cycles) + c[~known] @ np.sqrt(self.lower_bound[~known, 0])) ** 2)


def together(outcomes: dict[Task, Json], tasks: Sequence[Task], counts: Iterable[int]) -> Searches:
    """What was found for the tasks, a layer each."""
    rows = [outcomes[task] for task in tasks]
    arrays = (np.array([row[name] for row in rows], dtype=np.float64) for name in COLUMNS)  # None becomes nan
    counted = np.array(list(counts), dtype=np.float64)
    return Searches(tasks[0].objective, counted, *arrays, area_um2=rows[0]["area_um2"])


def spread(values: Floats) -> list[float]:
    """Median, least and largest."""
    return [float(figure) for figure in (np.median(values), values.min(), values.max())]


def readings(runs: Searches) -> dict[str, Searches]:
    """One search of the paper as searches of ours: each of them or, of enough, the best of as many as the threads."""
    enough = runs.energy_pj.shape[1] >= THREADS
    return {"in total": runs} | ({"per thread": runs.best_of(THREADS)} if enough else {})


def against(new: Searches, old: Searches) -> Json:
    """`new` over `old`, the network and each layer: median, least and largest over the searches."""
    ratios = new.layers / old.layers
    return {
        "network": {of: spread(new.network(of) / old.network(of)) for of in ("edp", "energy", "delay")},
        "mean_of_layers": spread(ratios.mean(axis=0)),
        "best_of_both_mean": spread(np.minimum(ratios, 1.0).mean(axis=0)),
        "worst_layer": spread(ratios.max(axis=0)),
        "layers": [spread(row) for row in ratios],
    }


def proven_against(new: Searches, old: Searches) -> Json:
    """The same of certified optima: how many are, and the interval that is certain where some are not."""
    low, high = new.lower_bound[:, 0] / old.layers[:, 0], new.layers[:, 0] / old.lower_bound[:, 0]
    comparison = against(new, old) | {
        "certified": [int((new.proven & old.proven).sum()), len(new.counts)],
        "layers_within": np.stack([low, high], axis=1).tolist(),
        "utilization": {"new": new.utilization[:, 0].tolist(), "old": old.utilization[:, 0].tolist()},
    }
    if new.objective != "edp":
        return comparison
    within = (new.least_network_edp / old.network("edp")[0], new.network("edp")[0] / old.least_network_edp)
    return comparison | {"network_edp_within": [float(figure) for figure in within]}


def pairs(
    machine: str,
    layers: Iterable[str],
    searches: int,
    variables: tuple[tuple[str, int], ...] = (),
    objective: Measure = "edp",
) -> Tasks:
    """PFM and Ruby-S on one machine: so many random searches of each layer, and one with proof."""
    every = list(layers)
    return {
        kind: {space: [Task(machine, layer, space, many, objective, variables) for layer in every] for space in SPACES}
        for kind, many in (("random", searches), ("proven", 0))
    }


def flat(several: Iterable[Tasks]) -> list[Task]:
    """All tasks, in turn."""
    return [task for kinds in several for spaces in kinds.values() for own in spaces.values() for task in own]


def compare(outcomes: dict[Task, Json], tasks: Tasks, counts: Iterable[int]) -> dict[str, Json]:
    """Ruby-S over PFM in both readings of the random search, with what it misses, and in proven optima."""
    counts = list(counts)
    runs = {space: readings(together(outcomes, own, counts)) for space, own in tasks["random"].items()}
    best = {space: together(outcomes, own, counts) for space, own in tasks["proven"].items()}
    comparisons = {reading: against(runs["ruby-s"][reading], runs["pfm"][reading]) for reading in runs["pfm"]}
    for reading, one in comparisons.items():
        one["over_optimum"] = {
            space: spread((runs[space][reading].layers / best[space].layers).mean(axis=0)) for space in SPACES
        }
    return comparisons | {"proven": proven_against(best["ruby-s"], best["pfm"])}


HEAD = """| machine | search | EDP | energy | cycles | EDP, mean of the layers | EDP, worst layer |
|---|---|---|---|---|---|---|"""


def rows(name: str, comparisons: dict[str, Json]) -> list[str]:
    """A line per reading below HEAD: Ruby-S over PFM for the network, with the range over the searches."""
    lines = []
    for reading, one in comparisons.items():
        figures = [
            *(one["network"][of] for of in ("edp", "energy", "delay")),
            one["mean_of_layers"],
            one["worst_layer"],
        ]
        search = f"proven, {one['certified'][0]} of {one['certified'][1]}" if reading == "proven" else f"3000 {reading}"
        cells = [f"{middle:.3f}" + f" ({low:.3f} to {high:.3f})" * (low < high) for middle, low, high in figures]
        lines.append(f"| {' | '.join([name, search, *cells])} |")
    return lines


def report(script: str, out: Path, result: Json) -> None:
    """Print, draw and save Ruby-S over PFM of ResNet-50's layers (with counts) on two machines."""
    by_machine = {machine.removesuffix(".yaml"): one for machine, one in result["ruby_s_over_pfm"].items()}
    tell("\n".join([HEAD, *(row for name, one in by_machine.items() for row in rows(name, one))]))

    def draw(*panels: "Axes") -> None:
        draw_layers(panels, shown_names(result["layers"]), by_machine)
        for axes in panels:
            axes.set_xlabel("EDP of Ruby-S / EDP of PFM", fontsize=9)

    save(script, out, result, draw, (1, 2), (9, 6))


def draw_layers(panels: Sequence["Axes"], names: Sequence[str], by_title: dict[str, Json]) -> None:
    """Ruby-S over PFM by layer, a panel each for `by_title`: certified optima as bars, searches as marks with their
    range.

    Panels stand side by side and share their axes; the legend stands above.
    """
    for number, (axes, (title, one)) in enumerate(zip(panels, by_title.items(), strict=True)):
        _draw_panel(axes, len(names), one)
        axes.set_title(title, fontsize=9, loc="left")
        axes.set_yticks(np.arange(len(names)), names if number == 0 else [""] * len(names), fontsize=7)
        axes.tick_params(axis="x", labelsize=8)
    widest = max(axes.get_xlim()[1] for axes in panels)
    for axes in panels:
        axes.set(xlim=(0, widest), ylim=(len(names) - 0.4, -0.6))
    _legend(panels[0])


def draw_columns(panels: Sequence["Axes"], names: Sequence[str], by_title: dict[str, Json]) -> None:
    """The same with a column for each of many layers, the panels below one another."""
    for axes, (title, one) in zip(panels, by_title.items(), strict=True):
        _draw_panel(axes, len(names), one, upright=True)
        axes.set_title(title, fontsize=9, loc="left")
        last = axes is panels[-1]
        axes.set_xticks(np.arange(len(names)), names if last else [""] * len(names), fontsize=6.5, rotation=90)
        axes.tick_params(axis="y", labelsize=8)
        axes.set(xlim=(-0.7, len(names) - 0.3), ylim=(0, None))
    _legend(panels[0])


def _legend(axes: "Axes") -> None:
    handles, labels = axes.get_legend_handles_labels()
    axes.figure.legend(handles, labels, loc="outside upper center", ncols=3, fontsize=8, frameon=False)


def _draw_panel(axes: "Axes", layers: int, comparisons: Json, *, upright: bool = False) -> None:
    at = np.arange(layers)
    values = [layer[0] for layer in comparisons["proven"]["layers"]]
    bars, lines, at_one = (axes.bar, axes.vlines, axes.axhline) if upright else (axes.barh, axes.hlines, axes.axvline)
    bars(at, values, 0.75, color=PALETTE[4], alpha=0.55, label="certified optimum", zorder=1)
    shown = [reading for reading in comparisons if reading != "proven"]
    for number, (reading, marker) in enumerate(zip(shown, "oD", strict=False)):
        middle, low, high = np.array(comparisons[reading]["layers"]).T
        place, colour = at + (0.18, -0.18)[number], PALETTE[(5, 0)[number]]
        lines(place, low, high, color=colour, linewidth=0.9, zorder=2)
        label = f"random search, 3000 {reading}: median and range"
        where = (place, middle) if upright else (middle, place)
        axes.plot(*where, marker, color=colour, markersize=3.5, label=label, zorder=3)
    at_one(1, color="0.3", linewidth=0.8)


def shown_names(layers: dict[str, int]) -> list[str]:
    """The layers without their network, with how often each occurs."""
    times = {count: f" \N{MULTIPLICATION SIGN}{count}" if count > 1 else "" for count in layers.values()}
    return [layer.split("/")[1] + times[count] for layer, count in layers.items()]
