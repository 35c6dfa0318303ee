"""A matrix product on a machine of ZigZag's, by both: `python benchmarks/bench_zigzag.py`.

Needs `pip install '.[zigzag]'`. ZigZag searches its gemm_l1_l3 with the changes that zigzag_gemm.yaml lists, uneven and
even; its mappings are counted by ruby-map, memory by memory, and the loop order of ruby-map's best is allocated and
counted by ZigZag.
"""

import argparse
import logging
import sys
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import yaml
import zigzag
from mapping_nodes import Node, as_batch, as_nodes
from ruby_map.arch import Architecture, load_arch, stacked
from ruby_map.energy import energy_table, stacked_table
from ruby_map.mapper import Result, SearchOptions, explore
from ruby_map.mapper.model.cost import Costs, evaluate
from ruby_map.mapper.model.figures import by_memory
from ruby_map.workloads import Workload, shaped
from zigzag.api import get_hardware_performance_zigzag
from zigzag.hardware.architecture.memory_port import DataDirection

HERE = Path(__file__).parent
MACHINE = Path(zigzag.__path__[0], "inputs/hardware/gemm_l1_l3.yaml")
DIMS = {"D0": "N", "D1": "M", "D2": "K"}
OPERANDS = {"W": "Weights", "I": "Inputs", "O": "Outputs"}
MEMORIES = {"W": ("l1", "l3"), "I": ("l1", "l3"), "O": ("reg_O", "l1", "l3")}  # innermost first
PLACES = [(memory, OPERANDS[op]) for op, memories in MEMORIES.items() for memory in memories]
SPREAD = {"D1": ["D0, 8"], "D2": ["D2, 8"], "D3": ["D1, 8"]}


def mapped(workload: Workload, kind: str, lpf: int, order: Sequence[Any] = ()) -> tuple[Any, float]:
    """ZigZag's best mapping by energy, of a loop order if it is given; and the CPU-seconds."""
    sizes = [workload.size(dim) for dim in DIMS.values()]
    precision = {"W": 8, "I": 8, "O": 32, "O_final": 32}
    layer = {"id": 0, "name": "gemm", "operator_type": "Gemm", "equation": "O[d0][d1]+=I[d0][d2]*W[d2][d1]"}
    layer |= {"loop_dims": list(DIMS), "loop_sizes": sizes, "operand_precision": precision}
    layer |= {"operand_source": {"I": 0, "W": 0}}
    mapping = {"name": "default", "spatial_mapping": SPREAD, "memory_operand_links": {"O": "O", "W": "I2", "I": "I1"}}
    mapping |= {"temporal_ordering": list(order)} if order else {}
    with TemporaryDirectory() as folder:
        files = {"layer": [layer], "hardware": machine(), "mapping": [mapping]}
        paths = {name: Path(folder, f"{name}.yaml") for name in files}
        for name, path in paths.items():
            path.write_text(yaml.safe_dump(files[name], sort_keys=False))
        start = process_time()
        *_, results = get_hardware_performance_zigzag(
            str(paths["layer"]),
            str(paths["hardware"]),
            str(paths["mapping"]),
            opt="energy",
            dump_folder=folder,
            lpf_limit=lpf,
            temporal_mapping_type=kind,
            loma_show_progress_bar=False,
        )
        seconds = process_time() - start
    ((_, layers),) = results  # the sum, and each layer with what came of its search
    return layers[0][0], seconds


def machine() -> dict[str, Any]:
    """ZigZag's file with the changes that zigzag_gemm.yaml lists."""
    data: dict[str, Any] = yaml.safe_load(MACHINE.read_text())
    del data["memories"]["l1"]["force_double_buffering"]
    data["memories"]["l1"]["ports"][2]["bandwidth_max"] = 512
    return data


def as_plain(mapping: Any) -> list[Node]:
    """A mapping of ZigZag as nodes, from the outside in."""
    chains = {
        str(op): [[(DIMS[str(dim)], int(size)) for dim, size in loops] for loops in levels]
        for op, levels in mapping.temporal_mapping.mapping_dic_stationary.items()
    }
    loops = [loop for level in chains["I"] for loop in level]  # innermost first; all operands have the same
    cuts = {(m, op): sum(map(len, chains[op][: i + 1])) for op, names in MEMORIES.items() for i, m in enumerate(names)}
    # here a register is inside l1; between the two cuts are only loops of K, which leave an output in place
    cuts["reg_O", "O"] = min(cuts["reg_O", "O"], *(cut for (memory, _), cut in cuts.items() if memory == "l1"))
    nodes: list[Node] = []
    spread = {"N": 8, "M": 8, "K": 8}
    for inside in range(len(loops), -1, -1):
        for memory in ("l3", "l1", "reg_O"):
            operands = [OPERANDS[op] for (name, op), cut in cuts.items() if name == memory and cut == inside]
            if memory == "reg_O" and operands:
                nodes += [{"dim": "N", "tile": 1, "axis": "D1"}, {"dim": "M", "tile": 1, "axis": "D3"}]
                spread |= {"N": 1, "M": 1}
            nodes += [{"memory": memory, "tensors": operands}] if operands else []
        if inside:
            dim = loops[inside - 1][0]
            tile = spread[dim] * prod(size for other, size in loops[: inside - 1] if other == dim)
            if nodes[-1].get("dim") == dim and "axis" not in nodes[-1]:
                nodes.pop()  # a factor of the same loop
            nodes.append({"dim": dim, "tile": tile})
    return [*nodes, {"dim": "K", "tile": 1, "axis": "D2"}, {"memory": "latch", "tensors": ["Weights", "Inputs"]}]


def loop_order(result: Result) -> list[list[Any]]:
    """The temporal loops of our best, innermost first, as ZigZag reads them."""
    assert result.batch is not None
    names = {dim: name for name, dim in DIMS.items()}
    tile = dict(zip(result.workload.dims, result.workload.sizes, strict=True))
    order = []
    for node in as_nodes(result.batch):
        if "dim" in node:
            order += [] if "axis" in node else [[names[node["dim"]], tile[node["dim"]] // node["tile"]]]
            tile[node["dim"]] = node["tile"]
    return order[::-1]


def theirs(mapping: Any) -> list[float]:
    """Energies of PLACES, the MACs and all in pJ; the read of what leaves a memory upwards is of the next memory."""
    energies = dict.fromkeys(PLACES, 0.0)
    for op, levels in mapping.mem_energy_breakdown_further.items():
        names = MEMORIES[str(op)]
        for i, (energy, total) in enumerate(zip(levels, mapping.mem_energy_breakdown[op], strict=True)):
            up = energy.get(DataDirection.RD_OUT_TO_HIGH)
            energies[names[i], OPERANDS[str(op)]] += total - up
            if up:
                energies[names[i + 1], OPERANDS[str(op)]] += up
    return [*energies.values(), mapping.mac_energy, mapping.energy_total]


def ours(costs: Costs, arch: Architecture, workload: Workload) -> list[float]:
    """The same of a mapping of ours."""
    levels = by_memory(costs, arch).level_energy_pj[0]
    memories = [arch.levels[stack[0]].of_memory for stack in arch.stacks]
    tensors = [tensor.name for tensor in workload.tensors]
    energies = [float(levels[memories.index(memory), tensors.index(tensor)]) for memory, tensor in PLACES]
    total = float(costs.energy_pj[0])
    return [*energies, total - sum(energies), total]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs=3, default=[512, 768, 3072], metavar=("N", "M", "K"))
    parser.add_argument("--lpf", type=int, default=6, help="how many factors of loops ZigZag orders")
    parser.add_argument("--time-limit", type=float, default=120.0, help="seconds of each proof of ruby-map")
    args = parser.parse_args()
    workload = shaped("matmul", **dict(zip("NMK", args.sizes, strict=True)))
    arch = load_arch(HERE / "zigzag_gemm.yaml")
    levels, table = stacked(arch, workload), stacked_table(energy_table(arch), stacked(arch, workload))
    columns: dict[str, list[float]] = {}
    for kind in ("uneven", "even"):
        mapping, seconds = mapped(workload, kind, args.lpf)
        columns[f"ZigZag {kind}"] = theirs(mapping)
        costs = evaluate(as_batch(as_plain(mapping), levels, workload), table)
        columns[f"the same by our count, {kind}"] = ours(costs, levels, workload)
        sys.stdout.write(f"ZigZag {kind}: {seconds:.1f} CPU-seconds\n")
    for kind in ("even", "uneven"):
        placed = tuple(replace(level, placement=kind if level.name == "l1" else "even") for level in arch.levels)
        options = SearchOptions(strategy="optimal", objective="energy", time_limit=args.time_limit)
        start = process_time()
        result = explore(replace(arch, levels=placed), workload, "pfm", options)
        assert isinstance(result, Result)
        assert result.batch is not None
        proof = "proven" if result.optimal else f"at most {result.gap:.1%} lower"
        sys.stdout.write(f"ruby-map {kind}: {process_time() - start:.1f} CPU-seconds, {proof}\n")
        own = stacked_table(energy_table(arch), result.batch.arch)
        columns[f"ruby-map {kind}"] = ours(evaluate(result.batch, own), result.batch.arch, workload)
    columns["its loop order by ZigZag"] = theirs(mapped(workload, "uneven", args.lpf, loop_order(result))[0])
    show(columns)


def show(columns: dict[str, list[float]]) -> None:
    """The table in uJ."""
    sys.stdout.write(f"\n| uJ | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}\n")
    names = [*(" ".join(place) for place in PLACES), "MAC", "total"]
    for name, *values in zip(names, *columns.values(), strict=True):
        sys.stdout.write(f"| {name} | {' | '.join(f'{value / 1e6:.4f}' for value in values)} |\n")


if __name__ == "__main__":
    logging.getLogger().setLevel(logging.ERROR)
    main()
