"""Claim: the best perfect mappings on the hardware of DOSA's designs, proven by our counts, have 0 to 12 % less EDP by
DOSA's own formula than the mappings that DOSA published for it.

DOSA (Hong et al., MICRO 2023) chooses sizes of Gemmini's memories and a mapping of each layer by descent. For each of
its four networks both designs are costed by its formula (chips/dosa.py) and by our counts; in a sweep the sizes are
chosen, too, with a proof. The published mappings are in chips/gemmini_designs.csv; machine, layers and sweep in dosa/;
docs/codesign.md says what compares. CPU seconds depend on the machine, the rest does not: effort is counted.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from chips.dosa import Hardware, Nest, costs, least_hardware
from chips.gemmini import batch_of, layer_of, loops_of
from chips.tables import lines_of
from common import Result, arguments, markdown, recorded, save, tell
from ruby_map.arch import Architecture
from ruby_map.energy import EnergyTable
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.mapping import MappingBatch
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model import evaluate, validity
from ruby_map.mapper.report import NetworkResult, result_json
from ruby_map.mapper.report.pictures import HATCHES, PALETTE
from ruby_map.mapper.sweeps import sweep
from ruby_map.mapper.sweeps.design_rows import design_rows
from ruby_map.workloads import Network, load_workload
from searches import Json, jobs_option, kept, machine_of

FILES = Path(__file__).parent / "dosa"
MOST = 1.1  # that the colours tell apart
STEPS = 7 * 1490  # starts and steps of a descent, each of all layers: mapping_driven_hw_search.py, 1584 to 1590


@dataclass(frozen=True)
class Published:
    """What DOSA published of a network: github ucb-bar/dosa a7a3239, data/firesim_test_data/analytical.csv."""

    title: str
    first: int  # of its mappings in chips/gemmini_designs.csv, one of each layer,
    layers: int
    hardware: Hardware
    timeloop_uj: float  # of all layers by Timeloop, each as often as it occurs
    timeloop_cycles: int

    @property
    def timeloop(self) -> Json:
        return edp_of(self.timeloop_uj * 1e6, self.timeloop_cycles)


PUBLISHED = {
    "bert": Published("BERT", 0, 5, Hardware(16, 108, 16), 1975.71353, 2_966_528),
    "retinanet": Published("RetinaNet", 29, 22, Hardware(16, 261, 49), 8837.65559, 14_084_485),
    "resnet50": Published("ResNet-50", 5, 24, Hardware(16, 127, 32), 13093.2179, 18_570_061),
    "unet": Published("U-Net", 51, 23, Hardware(16, 389, 86), 445978.39, 666_428_414),
}
SWEEPS = {"bert16": "bert"}
MODELS = {"formula": "by DOSA's formula", "counts": "by our counts, proven"}


@dataclass(frozen=True)
class Case:
    """The first layers of a network, all where 0, on hardware."""

    network: str
    side: int
    scratchpad_kib: int
    accumulators_kib: int
    layers: int = 0

    @classmethod
    def on(cls, network: str, hardware: Hardware, layers: int = 0) -> "Case":
        return cls(network, *asdict(hardware).values(), layers)

    @property
    def hardware(self) -> Hardware:
        return Hardware(self.side, self.scratchpad_kib, self.accumulators_kib)

    def loaded(self) -> Network:
        network = load_workload(str(FILES / f"{self.network}.yaml"))
        assert isinstance(network, Network)
        return replace(network, layers=network.layers[: self.layers or None])


@dataclass(frozen=True)
class Sweep:
    """A sweep of sizes, or a corner of it."""

    name: str
    network: str
    quick: bool


TABLE: dict[str, Callable[[Json], str]] = {
    "network, DOSA's hardware": lambda row: f"{PUBLISHED[row['network']].title}, {sizes_of(row['hardware'])}",
    "DOSA, by Timeloop": lambda row: "" if row["timeloop"] is None else short(row["timeloop"]),
    "DOSA, by its formula": lambda row: short(row["dosa"]["formula"]),
    "here, by its formula": lambda row: short(row["ours"]["formula"]),
    "here / DOSA": lambda row: f"**{row['ratio']['formula']:.3f}**",
    "DOSA, by our counts": lambda row: short(row["dosa"]["counts"]),
    "here, by our counts": lambda row: short(row["ours"]["counts"]) + (", proven" if row["optimal"] else ""),
    "here / DOSA, by our counts": lambda row: f"{row['ratio']['counts']:.3f}",
    "mappings evaluated: DOSA": lambda row: f"{row['dosa_evaluated']:,}",
    "here": lambda row: f"{row['evaluated']:,}",
    "and steps of bounds": lambda row: f"{row['steps']:,}",
    "CPU s here": lambda row: f"{row['cpu_seconds']:.0f}",
}


def main() -> None:
    options = arguments(__doc__, more=jobs_option)
    result = recorded(__file__, options) or measured(options)
    save(__file__, options.out, result, partial(draw, result), panels=(1, 2), size=(9.6, 3.8))


def measured(options: argparse.Namespace) -> Result:
    """Search the networks on DOSA's hardware, then the hardware; in a quick run two layers, and four sizes."""
    names = list(PUBLISHED)[: 1 if options.quick else None]
    on_same = [Case.on(name, PUBLISHED[name].hardware, 2 if options.quick else 0) for name in names]
    rows = list(kept(search, on_same, options.out, "dosa", options.jobs).values())
    tell(markdown(TABLE, rows))
    sweeps = [Sweep(*pair, options.quick) for pair in SWEEPS.items()]
    swept = list(kept(choose, sweeps, options.out, "dosa_sweeps", options.jobs).values())
    for row in swept:
        tell(f"{row['sweep']}: {said(row)}, {row['cpu_seconds']:.0f} CPU-seconds")
    best = [Case(row["network"], *row["best"]["parameters"].values()) for row in swept]
    return {"networks": rows, "sweeps": swept, "best": list(kept(search, best, options.out, "dosa_best").values())}


def search(case: Case) -> Json:
    """The best perfect mappings of a network on hardware, and DOSA's on its own, by both models."""
    published, network, began = PUBLISHED[case.network], case.loaded(), time.process_time()
    arch, table = machine(case.hardware)
    result = explore(arch, network, "pfm", SearchOptions(objective="edp"), table=table)
    assert isinstance(result, NetworkResult)
    seconds = round(time.process_time() - began, 1)
    layers, effort = len(network.layers), result_json(result)["search"]
    dosa = designed(network, dosas(network, published), published.hardware)
    ours = designed(network, [own.batch for own, _ in result.layers], case.hardware)
    return {
        "network": case.network, "layers": layers,
        "hardware": asdict(case.hardware), "dosa_hardware": asdict(published.hardware),
        "timeloop": published.timeloop if layers == published.layers else None,
        "dosa": dosa, "dosa_evaluated": STEPS * layers,
        "ours": ours, **{key: effort[key] for key in ("evaluated", "steps")},
        "optimal": result.optimal, "lower_bound": result.lower_bound, "gap": result.gap,
        "ratio": {model: ours[model]["edp"] / dosa[model]["edp"] for model in MODELS}, "cpu_seconds": seconds,
    }  # fmt: skip


def choose(task: Sweep) -> Json:
    """The sizes of least EDP by branch and bound: what was searched, and what is known of each design."""
    asked = yaml.safe_load((FILES / f"{task.name}.yaml").read_text(encoding="utf-8"))
    asked |= {"architecture": FILES / "gemmini.yaml", "workloads": [FILES / f"{task.network}.yaml"]}
    if task.quick:
        asked["parameters"] = {"side": [16], "sp_kib": [64, 108], "acc_kib": [8, 16]}
    began = time.process_time()
    answer = sweep(asked).answer
    assert answer is not None
    seconds, result = round(time.process_time() - began, 1), answer.json()
    return {
        "sweep": task.name, "network": task.network, "cpu_seconds": seconds,
        "designs": {key: result["designs"][key] for key in ("searched", "open", "of")},
        "proofs": {key: result["proofs"][key] for key in ("made", "of")},
        "best": {key: result["best"][key] for key in ("parameters", "value", "lower_bound", "gap")},
        "grid": [
            {"sp_kib": row["sp_kib"], "acc_kib": row["acc_kib"], "edp": row["edp"], "bound": row["edp, bound"],
             "searched": row["state"] == "searched"}
            for row in design_rows(answer)
        ],
    }  # fmt: skip


def said(row: Json) -> str:
    """What a sweep searched and proved."""
    designs, proofs, best = row["designs"], row["proofs"], row["best"]
    searched = f"{designs['searched']} of {designs['of']} designs searched, {designs['open']} left open"
    made = f"{proofs['made']:,} of {proofs['of']:,} proofs made"
    return f"{searched}, {made}, best {sizes_of(best['parameters'])}: {short({'edp': best['value']})}"


def machine(hardware: Hardware) -> tuple[Architecture, EnergyTable]:
    """The machine with these sizes, and its energies."""
    names = ("side", "sp_kib", "acc_kib")
    return machine_of("dosa/gemmini.yaml", tuple(zip(names, asdict(hardware).values(), strict=True)))


def dosas(network: Network, published: Published) -> list[MappingBatch]:
    """The published mapping of each layer; each is valid, and in the mapspace that is searched."""
    arch, _ = machine(published.hardware)
    lines = lines_of("gemmini_designs.csv")[published.first : published.first + published.layers]
    mappings = {layer_of(line).nameless: line["mapping"] for line in lines}
    batches = []
    for layer, _ in network.layers:
        batch = batch_of(arch, layer, loops_of(mappings[layer.nameless]))
        assert validity(batch)[0] == 0
        assert Mapspace(arch, layer, "pfm").index(batch)  # raises where it is not one of them
        batches.append(batch)
    return batches


def designed(network: Network, batches: Sequence[MappingBatch], hardware: Hardware) -> Json:
    """The EDP of a design by our counts, by DOSA's formula, and so on the least hardware that runs its mappings."""
    nests = [Nest.of(batch) for batch in batches]
    least = least_hardware(nests)
    counted = [evaluate(batch, machine(hardware)[1]) for batch in batches]
    by_model = {
        "counts": [(float(own.energy_pj[0]), int(own.cycles[0])) for own in counted],
        "formula": [costs(nest, hardware) for nest in nests],
        "formula_on_least": [costs(nest, least) for nest in nests],
    }
    times = [count for _, count in network.layers]
    sums = {model: [sum(n * own for n, own in zip(times, column, strict=True)) for column in zip(*rows, strict=True)]
            for model, rows in by_model.items()}  # fmt: skip
    return {model: edp_of(*both) for model, both in sums.items()} | {"least_hardware": asdict(least)}


def edp_of(energy_pj: float, cycles: float) -> Json:
    """Energy, cycles and their product."""
    return {"energy_pj": energy_pj, "cycles": cycles, "edp": energy_pj * cycles}


def short(figures: Json) -> str:
    """EDP in uJ x cycles."""
    return f"{figures['edp'] / 1e6:.3e}".replace("e+0", "e").replace("e+", "e")


def sizes_of(hardware: Json) -> str:
    """The side of the array, and KiB of scratchpad and accumulators."""
    return ", ".join(map(str, hardware.values()))


def draw(result: Result, ratios: Any, sizes: Any) -> None:
    """Draw our EDP by DOSA's on its hardware, and what the sweep knows of all sizes."""
    rows = result["networks"]
    for number, (model, label) in enumerate(MODELS.items()):
        places = [place + 0.4 * number - 0.2 for place in range(len(rows))]
        shares = [row["ratio"][model] for row in rows]
        ratios.bar(places, shares, 0.38, color=PALETTE[number], hatch=HATCHES[number], edgecolor="white", label=label)
        for place, share in zip(places, shares, strict=True):
            above = share if share < 0.94 else 1  # the line of 1
            ratios.text(place, above + 0.01, f"{share:.3f}", ha="center", va="bottom", fontsize=7)
    ratios.axhline(1, color="0.3", linewidth=1)
    ratios.set_xticks(
        range(len(rows)), [f"{PUBLISHED[row['network']].title}\n{sizes_of(row['hardware'])}" for row in rows]
    )
    ratios.set_ylim(0, 1.25)
    ratios.set_xlabel("side of the array, KiB of scratchpad and accumulators", fontsize=9)
    ratios.set_ylabel("EDP here / DOSA's", fontsize=9)
    ratios.set_title("mappings: the best on DOSA's hardware", fontsize=9)
    ratios.legend(fontsize=8, frameon=False, ncols=2, loc="upper center")
    draw_sizes(result["sweeps"][0], sizes)
    for axes in (ratios, sizes):
        axes.tick_params(labelsize=8)


def draw_sizes(row: Json, axes: Any) -> None:
    """Draw what no mapping of each design is below, by the best; which were searched, the best, and DOSA's."""
    best, dosa = row["best"]["parameters"], PUBLISHED[row["network"]].hardware
    across, up = (sorted({own[key] for own in row["grid"]}) for key in ("sp_kib", "acc_kib"))
    bounds = np.full((len(up), len(across)), np.nan)
    for own in row["grid"]:
        bounds[up.index(own["acc_kib"]), across.index(own["sp_kib"])] = own["bound"] / row["best"]["value"]
    shown = axes.imshow(bounds, origin="lower", aspect="auto", cmap="cividis_r", vmin=1, vmax=MOST, zorder=2)
    marks = {
        "searched": ("o", 5, [(own["sp_kib"], own["acc_kib"]) for own in row["grid"] if own["searched"]]),
        "the best, proven": ("*", 13, [(best["sp_kib"], best["acc_kib"])]),
        "DOSA's": ("s", 13, [(dosa.scratchpad_kib, dosa.accumulators_kib)]),
    }
    for number, (label, (marker, size, designs)) in enumerate(marks.items()):
        axes.plot(
            [across.index(own) for own, _ in designs], [up.index(own) for _, own in designs],
            marker, linestyle="none", markersize=size, markerfacecolor="white" if number < 2 else "none",
            markeredgecolor="black" if number < 2 else PALETTE[5], markeredgewidth=1 if number < 2 else 2,
            label=label, zorder=3,
        )  # fmt: skip
    axes.set_xticks(range(len(across)), across)
    axes.set_yticks(range(len(up)), up)
    axes.set_xlabel("scratchpad, KiB", fontsize=9)
    axes.set_ylabel("accumulators, KiB", fontsize=9)
    made, of = row["proofs"].values()
    axes.set_title(f"sizes for {PUBLISHED[row['network']].title}, {made} of {of} proofs made", fontsize=9)
    axes.legend(fontsize=8, frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.17))
    bar = axes.figure.colorbar(shown, ax=axes, extend="max")
    bar.set_label("proven lower bound of EDP / the best", fontsize=9)
    bar.ax.tick_params(labelsize=8)


if __name__ == "__main__":
    main()
