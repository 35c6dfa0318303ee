"""Claim: fused groups count what RTL measured, cost no more than AccelForge finds, and recompute at DeFiNES's price.

TileFlow (MICRO 2023, figure 7c and d, and its repository's accelerator) measured two fused products in RTL, 76 runs
(fused_peers/tileflow_rtl.csv): each is written as a plan and counted here. Three pairs on AccelForge's machines
(fused_peers/accelforge_*.yaml, the same in our form beside them): the best group that each tool finds, perfect factors
alone, drained words read. Its figures are those of version 1.0.467; `--accelforge PYTHON`, an interpreter that has it,
runs it again beside ours, for CPU seconds. It draws a mapping by `dot`, which has to be there.

DeFiNES (HPCA 2023) fuses the eight layers of FSRCNN on its prototype: a run of it with what tiles share computed again
took 1.095 times the energy of one that retains it. The same two groups are counted here, in tiles of 60 x 72.
"""

import argparse
import csv
import json
import subprocess
import tempfile
import time
from collections import Counter
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

from common import Result, arguments, recorded, save, tell
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table, no_energies
from ruby_map.mapper import Result as MapResult
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.exploration import evaluate_plan, explore_group
from ruby_map.mapper.fusion import Group, GroupCosts, Standing, stages_of
from ruby_map.mapper.model.figures import Mapped
from ruby_map.mapper.problem import Charges, Problem
from ruby_map.mapper.report.pictures import HATCHES, MARKERS, PALETTE
from ruby_map.workloads import Fault, Network, load_workload, parse_yaml

FILES = Path(__file__).parent / "fused_peers"
Row = dict[str, Any]
DEFINES = 1.095  # energy with recomputation over that with retention

# title: our machine, words of its buffer, layers, objective; AccelForge's machine and workload, its parameters; what it
# found fused, and layer by layer: pJ and cycles
PEERS: dict[str, tuple[str, int, str, str, str, str, dict[str, Any], tuple[float, float], tuple[float, float]]] = {
    "two products of 64": (
        *("two_levels.yaml", 2048, "matmul0+matmul1", "energy", "accelforge_arch2.yaml", "accelforge_mm.yaml"),
        {"M": 64, "N": [64, 64, 64]}, (7_135_232, 524_288), (7_405_568, 524_288),
    ),
    "BERT head": (
        *("two_levels.yaml", 8192, "scores+context", "energy", "accelforge_arch2.yaml", "accelforge_attention.yaml"),
        {"H": 1, "M": 128, "P": 128, "E": 64, "SOFTMAX": 0}, (23_691_264, 2_097_152), (24_231_936, 2_097_152),
    ),
    "expand and depthwise": (
        *("two_levels.yaml", 2048, "expand+depthwise", "energy", "accelforge_arch2.yaml", "accelforge_block.yaml"),
        {"S1": 14, "N0": 8, "T": 48, "N1": 8, "PROJECT": 0}, (3_359_520, 182_976), (4_035_360, 182_976),
    ),
    "BERT head, 16 x 16, EDP": (
        *("three_levels.yaml", 8192, "scores+context", "edp", "accelforge_arch3.yaml", "accelforge_attention.yaml"),
        {"H": 1, "M": 128, "P": 128, "E": 64, "SOFTMAX": 0}, (8_830_976, 8_192), (9_371_648, 8_192),
    ),
}  # fmt: skip
NETWORK = """name: products
layers:
  - {{name: first, shape: matmul, sizes: {{N: {M}, M: {L}, K: {K}}}}}
  - {{name: second, shape: matmul, sizes: {{N: {M}, M: {N}, K: {L}}}, from: {{Inputs: first}}, through: {operator}}}
"""
PLAN = """group: {{stages: [first, second], shared: [[N, {tile}]], keeper: buffer, halo: {{N: recompute}}, life: {{}}}}
stages:
"""
STAGE = """- name: {name}
  layers:
  - mapping:
    - {{target: DRAM, type: temporal, factors: N=1}}
    - {{target: buffer, type: temporal, factors: N={rows} M={made} K={added}, permutation: KMN}}
    - {{target: column, type: spatial, factors: M=16}}
    - {{target: row, type: spatial, factors: K=16}}
    - {{target: register, type: temporal, factors: N=16}}
"""
ACCELFORGE = """
import json, sys, time
import accelforge
spec = accelforge.Spec.from_yaml(sys.argv[1], sys.argv[2], jinja_parse_data=json.loads(sys.argv[3]))
both = accelforge.Metrics.ENERGY | accelforge.Metrics.LATENCY
spec.mapper.metrics = both if sys.argv[4] == "edp" else accelforge.Metrics.ENERGY
accelforge.set_n_parallel_jobs(1)
began = time.process_time()
found = spec.map_workload_to_arch(print_progress=False).data
pairs = zip(found["Total<SEP>energy"], found["Total<SEP>latency"])
energy, cycles = min(pairs, key=lambda own: own[0] * (own[1] if sys.argv[4] == "edp" else 1))
json.dump({"energy_pj": float(energy), "cycles": float(cycles), "seconds": time.process_time() - began}, sys.stdout)
"""


def main() -> None:
    def accelforge(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--accelforge", metavar="PYTHON", help="an interpreter that has AccelForge")

    options = arguments(__doc__, more=accelforge)
    result = recorded(__file__, options) or measured(options)
    save(__file__, options.out, result, partial(draw, result), panels=(1, 2), size=(9, 3.6))


def measured(options: argparse.Namespace) -> Result:
    """Count the runs of the array, and search the pairs."""
    with (FILES / "tileflow_rtl.csv").open(encoding="utf-8") as file:
        runs = [{key: round(float(own)) for key, own in row.items()} for row in csv.DictReader(file)]
    rows = [counted(run) for run in (runs[::25] if options.quick else runs)]
    ratios = [row["cycles_rtl"] / row["cycles"] for row in rows]
    equal = sum(row["equal"] for row in rows)
    shares = f"cycles {min(ratios):.3f} to {max(ratios):.3f}"
    tell(f"{equal} of {len(rows)} runs: all words equal but those of sums that return; {shares}")
    stacks = {} if options.quick else {halo: stacked(halo) for halo in ("retain", "recompute")}
    if stacks:
        ratio = stacks["recompute"]["energy_pj"] / stacks["retain"]["energy_pj"]
        tell(f"FSRCNN: recompute over retain {ratio:.4f}, DeFiNES {DEFINES}")
    return {
        "stacks": stacks,
        "rtl": rows,
        "accelforge": [searched(title, options) for title in list(PEERS)[: 1 if options.quick else 9]],
    }


def counted(run: Row) -> Row:
    """Count a run as a plan: words of DRAM, words of the buffer by what they are, and cycles, beside the RTL's."""
    sizes = {key: run[key] for key in "MLKN"}
    words = {key: run[f"words_{key}"] for key in ("dram_to_buffer", "buffer_to_dram")}
    share = 4 * words["dram_to_buffer"] / sum(words.values())  # of the port that both directions have
    arch = load_arch(str(FILES / "rtl.yaml"), {"dram_words": share})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "products.yaml"
        path.write_text(NETWORK.format(**sizes, operator="{Inputs: softmax}"), encoding="utf-8")
        network = load_workload(str(path))
    assert isinstance(network, Network)
    blocks = {key: run[key] // 16 for key in ("L", "K", "N", "tile_M")}
    stages = [
        STAGE.format(name=name, rows=blocks["tile_M"], made=blocks[made], added=blocks[added])
        for name, made, added in (("first", "L", "K"), ("second", "N", "L"))
    ]
    plan = parse_yaml("".join([PLAN.format(tile=run["tile_M"]), *stages]), "plan.yaml")
    costs = evaluate_plan(network, plan, (arch, no_energies(arch), Charges())).costs
    buffer, moved = Counter[str](), costs.outer_words
    for layer, number in costs.layers.items():
        counts = costs.mapped[layer].costs.counts
        for v, tensor in enumerate(costs.mapped[layer].batch.workload.tensors):
            buffer["sums" if tensor.output else "operands"] += number * int(counts.reads[0, 1, v])
            buffer["updates"] += number * int(counts.updates[0, 1, v])
    passed = (
        run["M"] * run["L"]
    )  # each word of the middle tensor is read and written once more, by the softmax of a plan
    ours = {
        "dram_to_buffer": sum(own for (_, name), own in moved.items() if name != "Outputs"),
        "buffer_to_dram": moved[1, "Outputs"],
        "registers_to_buffer": buffer["updates"] + passed,
        "operands": buffer["operands"] + passed,
    }
    # the RTL reads each sum once, however many parts it has; here a sum returns for every part but the first
    returned = run["M"] * (run["L"] + run["N"])
    theirs = {key: run[f"words_{key}"] for key in list(ours)[:3]} | {
        "operands": run["words_buffer_to_registers"] - returned
    }
    return {
        **{key: run[key] for key in ("M", "L", "K", "N", "tile_M", "cycles_rtl")},
        "cycles": costs.cycles, "words": ours, "equal": ours == theirs, "sums": buffer["sums"], "sums_rtl": returned,
    }  # fmt: skip


def searched(title: str, options: argparse.Namespace) -> Row:
    """Search a pair, and run AccelForge beside it where it is there."""
    machine, words, names, objective, arch, workload, parameters, fused, unfused = PEERS[title]
    ours = load_arch(str(FILES / machine), {"glb_words": words})
    network = load_workload(str(FILES / "chains.yaml"))
    assert isinstance(network, Network)
    limits = SearchOptions(objective=objective, effort="quick" if options.quick else "thorough")
    began, figures = time.process_time(), (ours, energy_table(ours), Charges(drain_reads=True))
    found = explore_group(network, names.split("+"), figures, "pfm", limits).json()
    row: Row = {
        "pair": title, "objective": objective, "seconds": time.process_time() - began,
        **{key: found[key] for key in ("energy_pj", "cycles", "optimal", "gap")},
        "alone": found["alone"] and {key: found["alone"][key] for key in ("energy_pj", "cycles")},
        "accelforge": dict(zip(("energy_pj", "cycles"), fused, strict=True)),
        "accelforge_alone": dict(zip(("energy_pj", "cycles"), unfused, strict=True)),
    }  # fmt: skip
    if options.accelforge:
        given = json.dumps(parameters | {"GLB_WORDS": words})
        command = [
            options.accelforge,
            "-W",
            "ignore",
            "-c",
            ACCELFORGE,
            FILES / arch,
            FILES / workload,
            given,
            objective,
        ]
        with tempfile.TemporaryDirectory() as folder:  # it draws its mapping there
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        again = json.loads(done.stdout.splitlines()[-1])
        assert [again[key] for key in ("energy_pj", "cycles")] == [
            row["accelforge"][key] for key in ("energy_pj", "cycles")
        ]
        row["accelforge"] = again
    theirs = row["accelforge"]
    tell(f"{title}: {row['energy_pj']:,.0f} pJ, gap {row['gap']:.2%}, {row['seconds']:.0f} s; AccelForge {theirs}")
    return row


def stacked(halo: str) -> Row:
    """The layers of FSRCNN in tiles, each layer in each kind of step by a mapping of least energy that is found."""
    costs, _ = stack(halo, (72, 60))
    return {
        "energy_pj": costs.energy_pj, "cycles": costs.cycles, "dram_words": sum(costs.outer_words.values()),
        "macs": sum(number * prod(layer.sizes) for layer, number in costs.layers.items()),
    }  # fmt: skip


def stack(halo: str, tile: tuple[int, int]) -> tuple[GroupCosts, float]:
    """FSRCNN in tiles of so many rows and columns, and the energy in pJ that no mappings of its layers are below.

    Each layer in each kind of step has a mapping of least energy that a quick search finds.
    """
    arch, network = load_arch(str(FILES / "meta_prototype.yaml")), load_workload(str(FILES / "fsrcnn.yaml"))
    assert isinstance(network, Network)
    table, names = energy_table(arch), [layer.name for layer, _ in network.layers]
    stages, links = stages_of(network, names, lambda message: Fault("fsrcnn.yaml", None, "", message))
    kept = tuple(((number, "Weights"), 0) for number in range(len(stages)))
    retained = frozenset({"P", "Q"} if halo == "retain" else ())
    standing = Standing(Group(stages, links, "global_buffer", (("P", tile[0]), ("Q", tile[1])), retained, kept), arch)
    numbers = standing.layers
    mapped, open_pj = {}, 0.0
    for layer in numbers:
        work, own = layer.workload(standing.group), standing.machine(layer)
        found = explore(own, work, "ruby-s", SearchOptions(objective="energy", effort="quick"))
        assert isinstance(found, MapResult)
        assert found.batch is not None
        mapped[layer] = Mapped.of(Problem(found.batch.arch, work, table, Charges()), found.batch)
        open_pj += numbers[layer] * (mapped[layer].energy_pj - (found.lower_bound or 0.0))
    costs = GroupCosts(standing, table, Charges(), numbers, mapped)
    return costs, costs.energy_pj - open_pj


def draw(result: Result, rtl: Any, peers: Any) -> None:
    """Draw the cycles of the RTL by those counted, and energies by AccelForge's layer by layer."""
    rows = result["rtl"]
    rtl.scatter(
        [row["cycles"] for row in rows], [row["cycles_rtl"] / row["cycles"] for row in rows],
        s=14, color=PALETTE[0], marker=MARKERS[0],
    )  # fmt: skip
    rtl.axhspan(0.95, 1.2, color=PALETTE[0], alpha=0.12, zorder=0)
    rtl.set_xscale("log")
    ticks = [50_000, 100_000, 200_000, 500_000]
    rtl.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    rtl.set_xticks([], minor=True)
    rtl.set_ylim(0.8, 1.3)
    rtl.set_xlabel("cycles counted", fontsize=9)
    rtl.set_ylabel("cycles in RTL, by those counted", fontsize=9)
    rtl.set_title(f"two fused products, {len(rows)} runs in RTL", fontsize=9)
    pairs = result["accelforge"]
    bars = (
        ("accelforge_alone", "AccelForge, layer by layer"),
        ("accelforge", "AccelForge, fused"),
        ("", "ruby-map, fused"),
    )
    for number, (key, label) in enumerate(bars):
        places = [i + (number - 1) * 0.27 for i in range(len(pairs))]
        base = [row["accelforge_alone"]["energy_pj"] for row in pairs]
        energies = [(row[key] if key else row)["energy_pj"] for row in pairs]
        shares = [own / least for own, least in zip(energies, base, strict=True)]
        peers.bar(places, shares, 0.25, color=PALETTE[number], hatch=HATCHES[number], edgecolor="white", label=label)
    peers.set_xticks(
        range(len(pairs)),
        [row["pair"].replace(" and ", "\nand ").replace(" of ", "\nof ").replace(", ", "\n") for row in pairs],
        fontsize=7,
    )
    peers.set_ylabel("energy", fontsize=9)
    peers.set_ylim(0, 1.35)
    peers.legend(fontsize=7, frameon=False, ncols=1, loc="upper right")
    peers.set_title("pairs on AccelForge's machines", fontsize=9)
    for axes in (rtl, peers):
        axes.tick_params(labelsize=8)


if __name__ == "__main__":
    main()
