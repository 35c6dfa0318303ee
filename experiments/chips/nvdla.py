"""NVDLA in seven sizes: the primer's frames a second, what its performance sheet's rules make of them, and ours.

The primer's figures are estimates. The rules, found from the columns of the sheet (nvdla_resnet50.csv): a layer takes
the longer of its MACs, all of which work (an image's channels padded to 8), and of its words at the bus that reads and
writes share. Words are inputs, weights, outputs, and the other operand of an addition; inputs come again for each group
of kernels that fits in the buffer beside the inputs of one output row, unless all of them fit beside 32 kernels.
Weights of strided 1x1 layers count four times.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cache
from math import ceil

from ruby_map.arch import Architecture, parse_arch
from ruby_map.mapper import Result, SearchOptions, explore
from ruby_map.workloads import Workload, parse_yaml, shaped

from .tables import Line, Row, Table, accesses, lines_of, numbers, ratio

KB = 1024
SHEET = {"macs": "2048", "channels": "64", "kernels": "32", "buffer_kb": "512", "gb_per_second": "10"}  # its own size
PADDED, KERNELS_HELD, STRIDED_WEIGHTS = 8, 32, 4
HERTZ = 1e9
MACHINE = """
base: nvdla_full_like
name: nvdla_{macs}
variables: {{channels: {channels}, kernels: {kernels}, buffer_kib: {buffer_kb}}}
levels:
  - {{name: DRAM, read_bandwidth: null, write_bandwidth: null, shared_bandwidth: {gb_per_second}}}
"""
# filter positions stand beside the few channels of an image
IMAGE = """  - name: Accumulators
    fanout:
      - {name: cell, size: kernels, mesh: X, dims: [M]}
      - {name: multiplier, size: channels, mesh: Y, dims: [C, R, S]}
"""


@dataclass(frozen=True)
class Layer:
    """A layer of the sheet; words of its tensors."""

    work: Workload
    adds: bool  # another operand to its output
    inputs: int  # all, whether a stride leaves some out or not
    row: int  # inputs of one output row
    weights: int
    outputs: int

    @classmethod
    def of(cls, line: Line) -> "Layer":
        """Read a line of the sheet."""
        m, c, p, q, r, s, stride = numbers(line, ("K", "C", "P", "Q", "R", "S", "stride"))
        work = shaped("conv2d", M=m, C=c, P=p, Q=q, R=r, S=s, stride=stride)  # without a name: several are the same
        inputs, row = (int(KB * float(line[key])) for key in ("input_kb", "row_kb"))
        return cls(work, line["adds"] == "1", inputs, row, m * c * r * s, m * p * q)

    @property
    def image(self) -> bool:
        """Whether it reads an image, of few channels."""
        return self.work.size("C") < PADDED

    @property
    def strided(self) -> bool:
        """Whether it is a 1x1 layer that leaves out rows and columns."""
        return self.work.size("R") == 1 and self.inputs > 2 * self.work.macs // self.work.size("M")


Network = tuple[Layer, ...]


def resnet50() -> Network:
    """Return the layers as in the sheet."""
    return tuple(map(Layer.of, lines_of("nvdla_resnet50.csv")))


def sheet_words(layer: Layer, buffer: int, weights: float) -> float:
    """Count the words at the bus by the rules of the sheet, with so many words of buffer and of weights."""
    fits = layer.inputs <= buffer - weights // layer.work.size("M") * KERNELS_HELD or weights <= buffer - layer.row
    times = 1 if fits else ceil(weights / (buffer - layer.row))
    return layer.inputs * times + weights + layer.outputs * (1 + layer.adds)


def by_the_sheet(line: Line, network: Network, strided_weights: int = STRIDED_WEIGHTS) -> float:
    """Compute frames a second by the rules of the sheet, with weights of strided 1x1 layers so many times."""
    macs, buffer, rate, cycles = int(line["macs"]), KB * int(line["buffer_kb"]), float(line["gb_per_second"]), 0.0
    for layer in network:
        words = sheet_words(layer, buffer, layer.weights * (strided_weights if layer.strided else 1))
        channels = layer.work.size("C")
        cycles += max(layer.work.macs / channels * max(channels, PADDED) / macs, words / rate)
    return HERTZ / cycles


def searched(line: Line, network: Network) -> dict[Layer, Result]:
    """Find the mapping of least delay, then energy, of each distinct layer on the library's NVDLA in another size."""
    found = {}
    for layer in dict.fromkeys(network):
        text = MACHINE.format(**line) + (IMAGE if layer.image else "")
        options = SearchOptions(objective="delay,energy", effort="quick")
        result = explore(_machine(text), layer.work, "ruby-s", options)
        assert isinstance(result, Result)
        found[layer] = result
    return found


@cache
def _machine(text: str) -> Architecture:
    return parse_arch(parse_yaml(text, "nvdla"))


def ours(line: Line, network: Network, found: dict[Layer, Result], strided_weights: int = 1) -> float:
    """Compute frames a second of the mappings found; the other operands of additions pass the bus, too."""
    rate, cycles = float(line["gb_per_second"]), 0.0
    for layer, count in Counter(network).items():
        more = layer.outputs * layer.adds + layer.weights * (strided_weights - 1) * layer.strided
        cycles += count * max(found[layer].cycles, (accesses(found[layer].valid_costs, 0) + more) / rate)
    return HERTZ / cycles


def rows(quick: bool) -> list[Row]:  # noqa: FBT001 - as every table
    """A row for each size; the small one is of three layers."""
    network = resnet50()
    if quick:
        return [_row(lines_of("nvdla_sizes.csv")[-1], network[-3:])]
    return [_row(line, network) for line in lines_of("nvdla_sizes.csv")]


def _row(line: Line, network: Network) -> Row:
    found, published = searched(line, network), float(line["frames"])
    dram_words = sum(count * accesses(found[layer].valid_costs, 0) for layer, count in Counter(network).items())
    return {
        "macs": int(line["macs"]),
        "gb_per_second": float(line["gb_per_second"]),
        "published": published,
        "sheet": by_the_sheet(line, network) / published,
        "without_the_fourfold": by_the_sheet(line, network, 1) / published,
        "ours": ours(line, network, found) / published,
        "ours_with_the_fourfold": ours(line, network, found, STRIDED_WEIGHTS) / published,
        "dram_mb": dram_words / 1e6,
        "certified": sum(result.optimal for result in found.values()),
        "layers": len(found),
    }


def layer_rows(quick: bool) -> list[Row]:  # noqa: FBT001 - as every table
    """A row for each distinct layer of the sheet, at its 2,048 MACs and 10 GB/s: what it waits for there, and here."""
    lines = lines_of("nvdla_resnet50.csv")[-3 if quick else 0 :]
    network = tuple(map(Layer.of, lines))
    found, of_layer = searched(SHEET, network), dict[Layer, Line]()
    for line, layer in zip(lines, network, strict=True):
        of_layer.setdefault(layer, line)
    return [_layer_row(line, layer, Counter(network)[layer], found[layer]) for layer, line in of_layer.items()]


def _layer_row(line: Line, layer: Layer, count: int, result: Result) -> Row:
    rate, buffer = float(SHEET["gb_per_second"]), KB * int(SHEET["buffer_kb"])
    words = sheet_words(layer, buffer, KB * float(line["weight_kb"]))  # those of 3x3 layers transformed for Winograd
    return {
        "layer": line["layer"],
        "count": count,
        "sheet_mac": float(line["mac_cycles"]),
        "sheet_dram": 1000 * float(line["dram_kb"]) / rate,  # a KB has 1,000 bytes in that column
        "rules_dram": 1000 / KB * words / rate,
        "our_mac": int(result.valid_costs.counts.cycles[0]),
        "our_dram": (accesses(result.valid_costs, 0) + layer.outputs * layer.adds) / rate,
    }


def _pole(macs: float, dram: float) -> str:
    """Say what a layer waits for."""
    return "MAC" if macs >= dram else "DRAM"


TABLE = Table(
    "nvdla",
    rows,
    {
        "MACs": lambda row: f"{row['macs']:,}",
        "GB/s": lambda row: f"{row['gb_per_second']:g}",
        "published frames/s": lambda row: f"{row['published']:g}",
        "by the sheet's rules": lambda row: ratio(row["sheet"]),
        "with weights of strided layers once": lambda row: ratio(row["without_the_fourfold"]),
        "our mappings, weights as in the sheet": lambda row: ratio(row["ours_with_the_fourfold"]),
        "our mappings": lambda row: ratio(row["ours"]),
    },
)

LAYERS = Table(
    "nvdla_layers",
    layer_rows,
    {
        "layer": lambda row: row["layer"],
        "times": lambda row: str(row["count"]),
        "thousand cycles of MACs: sheet": lambda row: f"{row['sheet_mac'] / 1e3:.1f}",
        "here": lambda row: f"{row['our_mac'] / 1e3:.1f}",
        "of DRAM: sheet": lambda row: f"{row['sheet_dram'] / 1e3:.1f}",
        "by its rules": lambda row: f"{row['rules_dram'] / 1e3:.1f}",
        "here ": lambda row: f"{row['our_dram'] / 1e3:.1f}",
        "waits for: sheet": lambda row: _pole(row["sheet_mac"], row["sheet_dram"]),
        "here  ": lambda row: _pole(row["our_mac"], row["our_dram"]),
    },
)
TABLES = (TABLE, LAYERS)
