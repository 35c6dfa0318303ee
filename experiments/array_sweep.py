"""Claim: over arrays of 2 x 7 to 16 x 16 elements no design with perfect factors, padded or not, beats that of Ruby-S
on the same array: of the arrays on the frontier of area and EDP, Ruby-S is on nine in ten or more.

Ruby paper (ISPASS 2022), Fig. 13 and 14: Eyeriss-like arrays of 2 x 7 to 16 x 16, perfect factors (PFM), PFM on padded
layers, and Ruby-S; (a) ResNet-50, (b) a selection of DeepBench; area against EDP, and by how much Ruby-S is better. The
list of arrays, the buffer of each and the selection are not printed: ours are ARRAYS, a buffer in proportion to the
array, and SELECTION, three convolutions or so of each domain with its matrix products. EDP of (a) is the network's, of
(b) the geometric mean of the layers. Seeds 0, 1... for all mapspaces; searches are read as `networks` says.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from common import LINES, MARKERS, Result, arguments, recorded, save, tell
from networks import THREADS, Floats, Searches, readings, spread, together
from ruby_map.mapper.mapping import frontier
from ruby_map.mapper.report.pictures import PALETTE
from searches import Json, Task, jobs_option, layers_of, run

ARRAYS = ((2, 7), (4, 8), (8, 11), (11, 13), (12, 14), (14, 15), (16, 16))  # rows, columns
MAPSPACES = ("pfm", "pfm+pad", "ruby-s")
SEARCHES = THREADS  # at random, of each layer
SELECTION = ("face_1", "face_3", "face_5", "speaker_1", "speaker_5", "speaker_8", "vision_5", "vision_12",
             "speech_1", "speech_2", "speech_4", "speech_9")  # fmt: skip
QUICK = {"resnet50": ("fc",), "deepbench": ("speech_4",)}


@dataclass(frozen=True)
class Study:
    """One network on every array."""

    network: str
    layers: dict[str, int]
    arrays: tuple[tuple[int, int], ...]
    searches: int

    def tasks(self, array: tuple[int, int], mapspace: str, searches: int) -> list[Task]:
        rows, columns = array
        kib = max(16, rows * columns * 128 // 168)
        variables = (("rows", rows), ("columns", columns), ("glb_kib", kib))
        return [Task("eyeriss_like", layer, mapspace, searches, variables=variables) for layer in self.layers]

    def every(self) -> list[Task]:
        kinds = (0, self.searches)
        return [task for a in self.arrays for m in MAPSPACES for kind in kinds for task in self.tasks(a, m, kind)]

    def found(self, outcomes: dict[Task, Json], searches: int) -> list[list[Searches]]:
        """The searches of each mapspace, on each array."""
        counts = self.layers.values()
        return [[together(outcomes, self.tasks(a, m, searches), counts) for a in self.arrays] for m in MAPSPACES]

    def edp(self, found: list[list[Searches]]) -> dict[str, Floats]:
        """EDP in each reading of the searches. # (mapspace, array, search)"""
        read = [[readings(one) for one in row] for row in found]
        return {name: np.array([[self.total(one[name]) for one in row] for row in read]) for name in read[0][0]}

    def total(self, one: Searches) -> Floats:
        """The network's EDP; of DeepBench, which is none, the geometric mean of the layers. # (search,)"""
        return one.network("edp") if self.network == "resnet50" else np.exp(np.log(one.layers).mean(axis=0))


def on_frontier(area: Floats, edp: Floats) -> Floats:
    """Which designs # (mapspace, array) are on the frontier of area and EDP; but for rounding, equals stay equal."""
    rounded = [float(f"{value:.9g}") for value in edp.ravel()]
    points = np.stack([np.broadcast_to(area, edp.shape).ravel(), rounded], axis=1)
    return frontier(points).reshape(edp.shape)


def frontier_means(saved: Floats, on: Floats) -> Iterator[float]:
    """The mean over the arrays whose Ruby-S design is on the frontier, of each search with such. # (array, search)"""
    return (float(one[own].mean()) for one, own in zip(saved.T, on.T, strict=True) if own.any())


def judged(area: Floats, edp: Floats) -> Result:
    """Of EDP # (mapspace, array, search): what is on the frontier, and by how much Ruby-S is better than each."""
    runs = range(edp.shape[2])
    on = np.stack([on_frontier(area, edp[:, :, run]) for run in runs], axis=2)
    saved = 1 - edp[2] / edp[:2]  # (mapspace but Ruby-S, array, search)
    best = 1 - edp[2] / edp[:2].min(axis=0)
    return {
        "edp": {space: [spread(row) for row in edp[number]] for number, space in enumerate(MAPSPACES)},
        "on_frontier": {space: on[number].mean(axis=1).tolist() for number, space in enumerate(MAPSPACES)},
        "arrays_on_frontier": spread(on.any(axis=0).sum(axis=0)),
        "ruby_s_share_of_them": spread(on[2].sum(axis=0) / on.any(axis=0).sum(axis=0)),
        "saved_against": {
            name: {
                "by_array": [spread(row) for row in rows],
                "mean": spread(rows.mean(axis=0)),
                "most": spread(rows.max(axis=0)),
                "mean_on_frontier": spread(np.array(means)) if (means := [*frontier_means(rows, on[2])]) else None,
            }
            for name, rows in (("pfm", saved[0]), ("pfm+pad", saved[1]), ("the better of both", best))
        },
    }


def main() -> None:
    options = arguments(__doc__, more=jobs_option)
    result = recorded(__file__, options) or measured(options)
    save(__file__, options.out, result, partial(draw, result), (2, 2), (9, 7.5))


def measured(options: argparse.Namespace) -> Result:
    """Search every layer on every array, and judge the frontiers."""
    arrays = ARRAYS[:2] if options.quick else ARRAYS
    chosen = QUICK if options.quick else {"resnet50": (), "deepbench": SELECTION}
    searches = 2 if options.quick else SEARCHES
    studies = {name: Study(name, layers_of(name, only), arrays, searches) for name, only in chosen.items()}
    outcomes = run(
        [task for study in studies.values() for task in study.every()], options.out, "array_sweep", options.jobs
    )
    results: Result = {}
    for name, study in studies.items():
        proven = study.found(outcomes, 0)
        area = np.array([one.area_um2 for one in proven[0]])
        sure = [one.proven for row in proven for one in row]
        readings_of = study.edp(study.found(outcomes, searches))
        results[name] = {
            "layers": list(study.layers),
            "area_um2": area.tolist(),
            "certified": [int(np.sum(sure)), int(np.size(sure))],
            "proven": judged(area, study.edp(proven)["in total"]),
            "random": {name: judged(area, edp) for name, edp in readings_of.items()},
        }

    tell("\n".join(report(results)))
    return {"arrays": arrays, "searches": searches, "networks": results}


def draw(result: Result, *panels) -> None:  # type: ignore[no-untyped-def]
    """A column for each network: the frontiers, and what Ruby-S saves."""
    for column, (name, outcome) in enumerate(result["networks"].items()):
        draw_frontier(panels[column], name, outcome, result["arrays"])
        draw_saved(panels[2 + column], outcome, result["arrays"])
    panels[0].legend(fontsize=7, frameon=False)
    panels[2].legend(fontsize=7, frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(-0.02, 1))


def report(results: Result) -> list[str]:
    """A table: EDP that Ruby-S saves, in %, mean over the arrays, most, and mean over those on the frontier."""
    lines = [
        "| network | search | against | mean | most | mean on the frontier | frontier: Ruby-S on |",
        "|---" * 7 + "|",
    ]
    for network, outcome in results.items():
        sure, every = outcome["certified"]
        searches = {f"proven, {sure:,} of {every:,}": outcome["proven"]}
        searches |= {f"3000 {reading}": one for reading, one in outcome["random"].items()}
        for search, one in searches.items():
            arrays, share = one["arrays_on_frontier"][0], one["ruby_s_share_of_them"][0]
            for against, saved in one["saved_against"].items():
                figures = [saved[key][0] if saved[key] else None for key in ("mean", "most", "mean_on_frontier")]
                cells = ["-" if figure is None else f"{100 * figure:.1f}" for figure in figures]
                lines.append(f"| {' | '.join([network, search, against, *cells, f'{share:.0%} of {arrays:g}'])} |")
    return lines


def draw_frontier(axes, name: str, outcome: Result, arrays) -> None:  # type: ignore[no-untyped-def]
    """Area against the certified EDP of each mapspace; a ring around what is on the frontier."""
    area = np.array(outcome["area_um2"]) / 1e6
    for number, space in enumerate(MAPSPACES):
        edp = np.array(outcome["proven"]["edp"][space])[:, 0]
        axes.plot(area, edp, LINES[number], marker=MARKERS[number], color=PALETTE[number], markersize=4, label=space)
        on = np.array(outcome["proven"]["on_frontier"][space]) > 0
        axes.plot(area[on], edp[on], "o", color="0.2", fillstyle="none", markersize=9, markeredgewidth=0.8)
    highest = np.max([np.array(one)[:, 0] for one in outcome["proven"]["edp"].values()], axis=0)
    for (rows, columns), x, y in zip(arrays, area, highest, strict=True):
        axes.annotate(f"{rows}x{columns}", (x, y), (6, 5), textcoords="offset points", fontsize=7)
    axes.margins(x=0.1, y=0.12)  # room for the labels
    axes.set(yscale="log", xlabel="area [mm\N{SUPERSCRIPT TWO}]", ylabel="EDP [pJ cycles]")
    axes.set_title(f"{name}: certified optima, rings: on the frontier", fontsize=9, loc="left")


def draw_saved(axes, outcome: Result, arrays) -> None:  # type: ignore[no-untyped-def]
    """What Ruby-S saves against PFM by array: certified as bars, random searches as marks, with their range of many."""
    rows = np.arange(len(arrays))
    for number, against in enumerate(("pfm", "pfm+pad")):
        x = rows + (number - 0.5) * 0.4
        certain = [100 * one[0] for one in outcome["proven"]["saved_against"][against]["by_array"]]
        axes.bar(x, certain, 0.38, color=PALETTE[number], alpha=0.6, label=f"against {against}, certified")
        for shift, (reading, one) in zip((-0.07, 0.07), outcome["random"].items(), strict=False):
            middle, low, high = 100 * np.array(one["saved_against"][against]["by_array"]).T
            axes.errorbar(
                x + shift, middle, (middle - low, high - middle), fmt=MARKERS[number], color="0.2", markersize=4,
                linewidth=0.9, fillstyle="none" if shift < 0 else "full", label=f"against {against}, 3000 {reading}",
            )  # fmt: skip
    axes.axhline(0, color="0.3", linewidth=0.8)
    axes.set_xticks(rows, [f"{r}x{c}" for r, c in arrays], fontsize=8)
    axes.set(xlabel="rows x columns", ylabel="EDP that Ruby-S saves [%]")


if __name__ == "__main__":
    main()
