"""Claim: on the library's machines the default search certifies most layers of three networks, or tells the gap.

ResNet-18, BERT-base (128) and MobileNetV2 by EDP, each network within a budget. Beside it the chip of Eyeriss on
AlexNet, batches of four: the best mappings by EDP on a machine of its sizes, and the active elements and the bytes of
the paper (Chen et al., Eyeriss, JSSC 2017, table V, from memory; its sums agree with the 0.0029 DRAM accesses per MAC
of the abstract). docs/validation.md has the tables.
"""

import argparse
from dataclasses import replace
from functools import partial
from typing import Any

from chips.tables import accesses
from common import arguments, recorded, save, tell
from ruby_map.arch import parse_arch
from ruby_map.mapper import NetworkResult, Result, SearchOptions, explore
from ruby_map.mapper.report.pictures import HATCHES, PALETTE
from ruby_map.workloads import Network, Workload, load_workload, parse_yaml

MACHINES = (
    "tpu_v1_like", "tpu_edge_like", "gemmini_like", "nvdla_full_like", "nvdla_small_like", "eyeriss_v2_like",
    "shidiannao_like", "diannao_like", "tensor_core_like",
)  # fmt: skip
MODELS = ("resnet18", "bert_base_128", "mobilenet_v2")
SECONDS = 25  # for all layers of a network
CHIP = """
base: eyeriss_like
name: eyeriss_chip
technology: 65nm
variables: {glb_kib: 100}
levels:
  - {name: psum_spad, depth: 24}
"""  # JSSC 2017: 108 KB, of which 100 hold inputs and partial sums; 24 sums in an element
# layer: active elements of 168, MB from and to the global buffer, MB from and to DRAM, of four images
PUBLISHED = {
    "conv1": (154, 18.5, 5.0),
    "conv2": (135, 77.6, 4.0),
    "conv3": (156, 50.2, 3.0),
    "conv4": (156, 37.4, 2.1),
    "conv5": (156, 24.9, 1.3),
}
BATCH, WORD_BYTES = 4, 2


def row(machine: str, model: str, result: NetworkResult) -> dict[str, Any]:
    """What a search of a network came to."""
    layers = [layer for layer, _ in result.layers]
    gaps = [layer.own_gap for layer in layers]
    return {
        "machine": machine,
        "model": model,
        "layers": len(layers),
        "certified": sum(layer.optimal for layer in layers),
        "largest_gap": max(gaps),
        "gap": result.gap,
        "edp": result.edp,
        "energy_uj": result.energy_pj / 1e6,
        "cycles": result.cycles,
        "utilization": result.utilization,
    }


def searched(machine: str, model: str, seconds: int, layers: int | None) -> dict[str, Any]:
    """Search a network, or its first `layers`, and tell."""
    network = load_workload(model)
    assert isinstance(network, Network)
    if layers is not None:
        network = Network(network.name, network.layers[:layers], network.tokens)
    network_result = explore(machine, network, "ruby-s", SearchOptions(budget=f"{seconds}s"))
    assert isinstance(network_result, NetworkResult)
    result = row(machine, model, network_result)
    tell(f"{machine}, {model}: {result['certified']} of {result['layers']} layers certified, "
         f"{result['utilization']:.1%} utilisation")  # fmt: skip
    return result


def chip(layers: list[str], seconds: int) -> dict[str, dict[str, float]]:
    """The best mappings of AlexNet on a machine of the chip's sizes, beside what is published."""
    machine, by_layer = parse_arch(parse_yaml(CHIP, "eyeriss_chip")), {}
    for name in layers:
        layer = load_workload(f"alexnet/{name}")
        assert isinstance(layer, Workload)
        sizes = tuple(BATCH if dim == "N" else size for dim, size in zip(layer.dims, layer.sizes, strict=True))
        options = SearchOptions(budget=f"{seconds}s")
        result = explore(machine, replace(layer, sizes=sizes), "ruby-s", options)
        assert isinstance(result, Result)
        counts = result.valid_costs.counts
        words = [accesses(result.valid_costs, level) for level in (0, 1)]
        elements, buffer, dram = PUBLISHED[name]
        by_layer[name] = {
            "macs": result.macs,
            "elements": elements,
            "our_elements": int(counts.instances[0, -1]),
            "our_utilization": result.utilization,
            "buffer_mb": buffer,
            "our_buffer_mb": words[1] * WORD_BYTES / 1e6,
            "dram_mb": dram,
            "our_dram_mb": words[0] * WORD_BYTES / 1e6,
        }
    return by_layer


def draw(result: dict[str, Any], left: Any, right: Any) -> None:
    """Draw the utilisation by machine and network, and the chip's bytes beside ours."""
    rows, beside = result["rows"], result["chip"]
    machines, models = (list(dict.fromkeys(run[key] for run in rows)) for key in ("machine", "model"))
    for number, model in enumerate(models):
        used = [run["utilization"] for run in rows if run["model"] == model]
        places = [at + (number - 1) * 0.26 for at in range(len(machines))]
        left.barh(
            places, used, height=0.24, color=PALETTE[number], hatch=HATCHES[number], edgecolor="white", label=model
        )
    left.set_yticks(range(len(machines)), machines, fontsize=8)
    left.invert_yaxis()
    left.set(xlabel="MACs / (cycles x MAC units)", xlim=(0, 1))
    left.legend(fontsize=8, frameon=False, loc="upper right")
    left.set_title("Utilisation of the best found by EDP", fontsize=10, loc="left")
    names = list(beside)
    for offset, (key, label) in enumerate((("dram_mb", "chip"), ("our_dram_mb", "ours"))):
        values = [beside[name][key] for name in names]
        right.bar(
            [at + (offset - 0.5) * 0.38 for at in range(len(names))],
            values,
            0.36,
            color=PALETTE[offset],
            hatch=HATCHES[offset],
            edgecolor="white",
            label=label,
        )
    right.set_xticks(range(len(names)), names)
    right.set(ylabel="MB from and to DRAM, four images")
    right.legend(fontsize=8, frameon=False)
    right.set_title("Eyeriss's chip on AlexNet", fontsize=10, loc="left")


def main() -> None:
    options = arguments(__doc__)
    result = recorded(__file__, options) or measured(options)
    save(__file__, options.out, result, partial(draw, result), (1, 2), (11, 4.2))


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Search the networks on the machines, and the chip's layers."""
    machines, models = (("nvdla_small_like",), ("bert_base_128",)) if options.quick else (MACHINES, MODELS)
    few = 2 if options.quick else None
    rows = [searched(machine, model, 2 if options.quick else SECONDS, few) for machine in machines for model in models]
    beside = chip(["conv5"] if options.quick else list(PUBLISHED), 1 if options.quick else SECONDS)
    return {"seconds": SECONDS, "rows": rows, "chip": beside}


if __name__ == "__main__":
    main()
