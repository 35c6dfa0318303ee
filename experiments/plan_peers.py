"""Claim: Stream's plan counts the cycles of its loops; FSRCNN in tiles takes 1.2 times DeFiNES's least energy.

Stream (version 1.13.14) says 114,999 cycles for two convolutions on its eyeriss_like_single_core, in the figures that
its tests record; a run of the package gave its parts (STREAM). Its plan is written as a file
(plan_peers/stream.plan.yaml) and counted here, and plans of the same machine are searched: a third fewer cycles.

DeFiNES (HPCA 2023) tiles FSRCNN on its prototype in 108 ways. The scale of its figure 12 in its repository begins at
the least of them: 1.8 mJ, 18 million cycles. Some of the same tiles are counted here, with mappings of least energy
that a quick search finds, and what no mappings are below in these tiles.
"""

import argparse
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from common import Result, arguments, recorded, save, tell
from fused_peers import Row, stack
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.exploration import evaluate_plan, plan_document
from ruby_map.mapper.fusion import group_items
from ruby_map.mapper.problem import Charges
from ruby_map.mapper.report import NetworkResult
from ruby_map.mapper.report.pictures import HATCHES, PALETTE
from ruby_map.mapper.report.plan_files import CountedPlan
from ruby_map.workloads import Network, load_workload

FILES = Path(__file__).parent / "plan_peers"
PAIR = 2  # of Stream's cycles: one of ours, as its registers need two for an operand
# Stream's cycles of each layer: those of its loops, those to fill and drain the array, and of transfers beside layers
STREAM = {"loops": {"Conv1": 20_735, "Conv2": 82_943}, "ends": 793, "transfers": 10_528, "total": 114_999}
# its energies of the layers in pJ, all levels but DRAM
STREAM_PJ = {"Conv1": 13_961_664, "Conv2": 55_315_980}
DEFINES = {"energy_mj": 1.8, "cycles": 18e6}  # the least of 108 schedules
TILES = ((4, 72), (60, 72), (16, 18), (60, 18), (240, 72), (960, 18))  # columns, rows: of DeFiNES's 36


def main() -> None:
    options = arguments(__doc__)
    result = recorded(__file__, options) or measured(options)
    save(__file__, options.out, result, partial(draw, result), panels=(1, 2), size=(9, 3.4))


def measured(options: argparse.Namespace) -> Result:
    """Count Stream's plan; search others, and count FSRCNN in tiles, where the run is no quick one."""
    counted = stream_plan()
    tell(f"Stream's plan: {counted['cycles']:,} cycles, Stream {STREAM['total']:,}")
    if options.quick:
        return {
            "stream": STREAM,
            "stream_pj": STREAM_PJ,
            "counted": counted,
            "plans": [],
            "defines": DEFINES,
            "tiles": [],
        }
    plans = [searched("delay"), searched("edp")]
    return {
        "stream": STREAM, "stream_pj": STREAM_PJ, "counted": counted, "plans": plans,
        "defines": DEFINES, "tiles": [tiled(*tile) for tile in TILES],
    }  # fmt: skip


def inputs() -> tuple[Any, Network]:
    """Stream's machine and network in our form."""
    network = load_workload(str(FILES / "two_convolutions.yaml"))
    assert isinstance(network, Network)
    return load_arch(str(FILES / "eyeriss_like_single_core.yaml")), network


def stream_plan() -> Row:
    """Stream's plan counted here, in its cycles: of each layer, and energy by level."""
    arch, network = inputs()
    document = plan_document(FILES / "stream.plan.yaml")
    assert document is not None
    counted = evaluate_plan(network, document, (arch, energy_table(arch), Charges()))
    assert isinstance(counted, CountedPlan)
    parts = dict(zip(("Conv1", "Conv2"), counted.costs.parts, strict=True))
    return {
        "cycles": PAIR * counted.costs.cycles,
        "layers": {name: PAIR * part.cycles for name, part in parts.items()},
        "on_chip_pj": {
            name: part.energy_pj - sum(own.energies_pj["DRAM"] for own in part.items) for name, part in parts.items()
        },
        "limits": list(counted.limits),
    }


def searched(objective: str) -> Row:
    """The best plan found on Stream's machine in which tensors stay, in its cycles, and what no plan is below."""
    arch, network = inputs()
    options = SearchOptions("optimal", objective=objective, effort="quick")
    result = explore(arch, network, "ruby-s", options, table=energy_table(arch), fuse="resident")
    assert isinstance(result, NetworkResult)
    assert result.plan is not None
    plan = result.plan
    row: Row = {
        "objective": objective, "cycles": PAIR * plan.costs.cycles, "energy_pj": plan.costs.energy_pj,
        "resident": len(plan.costs.plan.residents), "gap": plan.gap, "lower_bound": PAIR * plan.lower_bound,
    }  # fmt: skip
    tell(f"{objective}: {row['cycles']:,} cycles, {row['energy_pj']:,.0f} pJ, gap {row['gap']:.1%}")
    return row


def tiled(columns: int, rows: int) -> Row:
    """FSRCNN in tiles, what they share retained."""
    costs, bound = stack("retain", (rows, columns))
    levels = Counter[str]()
    for item in group_items(costs):
        levels.update(item.energies_pj)
    row: Row = {
        "columns": columns, "rows": rows, "energy_pj": costs.energy_pj, "lower_bound_pj": bound,
        "cycles": costs.cycles, "dram_words": sum(costs.outer_words.values()),
        "levels_pj": dict(levels),
    }  # fmt: skip
    tell(
        f"tiles of {columns} x {rows}: {costs.energy_pj / 1e9:.3f} mJ, bound {bound / 1e9:.3f}, {costs.cycles:,} cycles"
    )
    return row


def draw(result: Result, cycles: Any, energies: Any) -> None:
    """Draw cycles of the two convolutions, Stream's by part, and energies of FSRCNN down to what none is below."""
    stream, counted, (fastest, *_) = result["stream"], result["counted"], result["plans"] or [None]
    parts = {
        "Conv1": (stream["loops"]["Conv1"], counted["layers"]["Conv1"]),
        "Conv2": (stream["loops"]["Conv2"], counted["layers"]["Conv2"]),
        "fill and drain the array": (stream["ends"], 0),
        "transfers beside layers": (stream["transfers"], 0),
    }
    below = [0, 0]
    for number, (label, own) in enumerate(parts.items()):
        cycles.bar(
            range(2),
            own,
            0.6,
            bottom=below,
            color=PALETTE[number],
            hatch=HATCHES[number],
            edgecolor="white",
            label=label,
        )
        below = [a + b for a, b in zip(below, own, strict=True)]
    if fastest is not None:
        cycles.bar(2, fastest["cycles"], 0.6, color="0.6", edgecolor="white", label="both layers")
        cycles.plot([1.65, 2.35], [fastest["lower_bound"]] * 2, color="black", linewidth=1.5, label="no plan is below")
    names = ["Stream", "Stream's plan\ncounted here", "fastest plan\nfound here"]
    cycles.set_xticks(range(len(names)), names, fontsize=8)
    cycles.set_ylim(0, 200_000)
    cycles.set_ylabel("cycles", fontsize=9)
    cycles.legend(fontsize=7, frameon=False, ncols=2, loc="upper center")
    cycles.set_title("two convolutions, one Eyeriss-like core", fontsize=9)
    tiles = result["tiles"]
    energies.bar(
        range(len(tiles)), [own["energy_pj"] / 1e9 for own in tiles], 0.6, color=PALETTE[0], hatch=HATCHES[0],
        edgecolor="white", label="counted here",
    )  # fmt: skip
    for place, own in enumerate(tiles):
        label = "no mappings in these tiles are below" if place == 0 else None
        energies.plot(
            [place - 0.35, place + 0.35], [own["lower_bound_pj"] / 1e9] * 2, color="black", linewidth=1.5, label=label
        )
    energies.axhline(result["defines"]["energy_mj"], color=PALETTE[1], linestyle="--", label="DeFiNES, least of 108")
    energies.set_xticks(range(len(tiles)), [f"{own['columns']} x {own['rows']}" for own in tiles], fontsize=8)
    energies.set_xlabel("tile of FSRCNN, columns x rows", fontsize=9)
    energies.set_ylabel("energy [mJ]", fontsize=9)
    energies.set_ylim(0, 1.5 * max([2.0, *(own["energy_pj"] / 1e9 for own in tiles)]))
    energies.legend(fontsize=7, frameon=False, loc="upper right")
    energies.set_title("FSRCNN in tiles on DeFiNES's prototype", fontsize=9)
    for axes in (cycles, energies):
        axes.tick_params(labelsize=8)


if __name__ == "__main__":
    main()
