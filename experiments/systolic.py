"""Claim: on a systolic axis the model counts the cycles of a weight-stationary array in Verilog, on 20 layers.

Each layer is a matrix product (convolutions by im2col), mapped weight-stationary: C x R x S over the rows, M over the
columns, all pixels inside. The array in Verilog computes it with random bytes, and its product must be NumPy's; cycles
are those that it took. With `--scalesim PYTHON`, an interpreter that has SCALE-Sim 3, so does SCALE-Sim, with weights,
inputs and outputs stationary. `result` are the cycles of the fastest mapping that a short search of Ruby-S finds.
"""

import csv
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from common import arguments, recorded, save, stride_of, tell
from ruby_map.arch import Architecture, load_arch
from ruby_map.mapper import Result, SearchOptions, evaluate, explore
from ruby_map.mapper.exploration.transforms import transformed
from ruby_map.mapper.mapping import MappingBatch
from ruby_map.mapper.report.pictures import HATCHES, PALETTE
from ruby_map.workloads import Workload, load_workload, shaped

sys.path.append(str(Path(__file__).parent.parent))
from tests.systolic_rtl import Rtl, im2col, simulators  # noqa: E402

FILE = Path(__file__).parent / "systolic.yaml"
TRIAL = replace(shaped("conv2d", C=64, M=60, P=7, Q=7, R=3, S=3), name="C64 M60 7x7 3x3")
LAYERS: dict[tuple[int, int], list[str]] = {  # by rows and columns; an empty name is the trial
    (14, 12): [
        *("", "resnet50/conv2_x_1x1a_first", "resnet18/C5", "resnet18/C8", "resnet18/C11", "resnet18/fc"),
        *("mobilenet_v2/conv1", "mobilenet_v2/block3_expand", "mobilenet_v2/block4_project"),
        *("mobilenet_v2/block7_project", "mobilenet_v2/block8_expand"),
        *("deepbench/face_1", "deepbench/device_1", "deepbench/vision_12"),
    ],
    (8, 16): ["mobilenet_v2/block14_project", "deepbench/ocr_1", "deepbench/vision_9"],
    (32, 32): ["resnet50/conv5_x_1x1b", "resnet18/C10", "bert_base_128/projection"],
}
QUICK = {(4, 3): ["", "small", "strided"]}
SMALL = {
    "": shaped("conv2d", C=3, M=7, P=3, Q=3, R=2, S=2),
    "small": shaped("matmul", M=5, N=1, K=9),
    "strided": shaped("conv2d", C=2, M=4, P=3, Q=4, R=3, S=3, stride=2),
}
DATAFLOWS = {"ws": "Weights", "is": "Inputs", "os": "Outputs"}  # what is stationary
COLUMNS = ["layer", "rows", "columns", "m", "n", "k", "steps", "rtl", "scalesim", "model", "found"]
COLUMNS += ["scalesim_is", "model_is", "scalesim_os", "model_os"]
Row = dict[str, Any]


class Product(NamedTuple):
    """A layer as a product of weights # (m, k) and inputs # (k, n), and its convolution, if it is one."""

    name: str
    layer: Workload
    m: int
    n: int
    k: int

    @classmethod
    def of(cls, name: str, layer: Workload) -> "Product":
        size = layer.size
        if layer.shape == "matmul":
            return cls(name, layer, size("M"), size("N"), size("K"))
        return cls(name, layer, size("M"), size("P") * size("Q"), size("C") * size("R") * size("S"))


def main() -> None:
    def scalesim(parser: ArgumentParser) -> None:
        parser.add_argument("--scalesim", metavar="PYTHON", help="an interpreter that has SCALE-Sim 3")

    options = arguments(__doc__, more=scalesim)
    result = recorded(__file__, options) or measured(options)
    save(__file__, options.out, result, partial(draw, result), size=(7, 3 if options.quick else 6))


def measured(options: Any) -> dict[str, Any]:
    """Run every layer in Verilog, in SCALE-Sim and in the model."""
    rows = list[Row]()
    for (r, c), names in (QUICK if options.quick else LAYERS).items():
        known = SMALL if options.quick else {name: TRIAL if not name else load_workload(name) for name in names}
        products = [Product.of(name or "trial", known[name]) for name in names]  # type: ignore[arg-type]
        rows += compared(r, c, products, options)
    result = {"rows": rows, "equal": sum(row["rtl"] == row["model"] for row in rows), "layers": len(rows)}
    write_tables(options.out, rows)
    return result | {"simulator": next(iter(reversed(simulators())), None)}


def draw(result: dict[str, Any], axes) -> None:  # type: ignore[no-untyped-def]
    """Draw a bar per layer and array: the share of its cycles that compute, and those that fill and drain."""
    rows = result["rows"]
    shares = [1 - row["steps"] / row["model"] for row in rows]
    places = range(len(rows))
    axes.barh(places, [1 - share for share in shares], color=PALETTE[0], label="steps")
    left = [1 - share for share in shares]
    axes.barh(places, shares, left=left, color=PALETTE[1], hatch=HATCHES[1], edgecolor="white", label="fill and drain")
    axes.set_yticks(places, [f"{row['layer']}, {row['rows']}x{row['columns']}" for row in rows], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("share of the cycles", fontsize=9)
    axes.set_xlim(0, 1)
    axes.tick_params(axis="x", labelsize=8)
    axes.legend(fontsize=8, frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(-0.02, 1))


def compared(r: int, c: int, products: Sequence[Product], options: Any) -> list[Row]:
    """The cycles of some layers on one array: Verilog, SCALE-Sim and the model."""
    arch, rows = load_arch(str(FILE), {"rows": r, "columns": c}), list[Row]()
    said = {
        name: [count for product in products for count in scalesim(options.scalesim, r, c, name, [product])]
        for name in DATAFLOWS
    }  # one layer at a time, as it keeps all that it has simulated
    with tempfile.TemporaryDirectory() as folder:
        available = simulators()
        array = Rtl.of(r, c, Path(folder), available[0] if options.quick else available[-1]) if available else None
        for i, product in enumerate(products):
            ours, steps = weight_stationary(arch, product)
            row: Row = {"layer": product.name, "rows": r, "columns": c, "m": product.m, "n": product.n, "k": product.k}
            row |= {"steps": steps, "rtl": array and computed(array, product), "scalesim": said["ws"][i], "model": ours}
            row["found"] = searched(arch, product, 2_000 if options.quick else 40_000)
            for name in ("is", "os"):
                row |= {f"scalesim_{name}": said[name][i], f"model_{name}": stationary(arch, product, name)}
            rows.append(row)
            tell(f"{r}x{c} {product.name}: RTL {row['rtl']}, SCALE-Sim {row['scalesim']}, model {ours}")
    return rows


def computed(array: Rtl, problem: Product) -> int:
    """The cycles of the array in Verilog, whose product must be NumPy's."""
    rng, layer = np.random.default_rng(0), problem.layer
    weights = rng.integers(-128, 128, (problem.m, problem.k))
    inputs = rng.integers(-128, 128, (problem.k, problem.n))
    if layer.shape == "conv2d":
        window, stride = (layer.size("R"), layer.size("S")), stride_of(layer)
        sides = [(layer.size(p) - 1) * stride + s for p, s in zip("PQ", window, strict=True)]
        inputs = im2col(rng.integers(-128, 128, (layer.size("C"), *sides)), window, stride)
    cycles, product = array.product(weights, inputs)
    assert (product == weights @ inputs).all(), f"{problem.name}: not what NumPy computes"
    return cycles


def weight_stationary(arch: Architecture, product: Product) -> tuple[int, int]:
    """The model's cycles of the mapping, and the steps among them."""
    layer = transformed(arch, product.layer, ["im2col"])
    assert isinstance(layer, Workload)
    reduction = "K" if layer.shape == "matmul" else "C"
    array = arch.systolic
    assert array is not None
    used = {"M": min(product.m, array.columns), reduction: min(product.k, array.rows)}
    inner = ["N"] if layer.shape == "matmul" else ["P", "Q"]
    return cycles_of(arch, layer, used, (("M", reduction), inner), "Weights")


def stationary(arch: Architecture, product: Product, name: str) -> int:
    """The model's cycles with inputs stationary, K by pixels, or outputs, pixels by M."""
    rows, columns, inner = {"is": ("K", "N", "M"), "os": ("N", "M", "K")}[name]
    layer = shaped("matmul", M=product.m, N=product.n, K=product.k)
    array, tensor = arch.systolic, DATAFLOWS[name]
    assert array is not None
    used = {rows: min(layer.size(rows), array.rows), columns: min(layer.size(columns), array.columns)}
    free = replace(arch, levels=tuple(without_rules(level, tensor) for level in arch.levels))
    return cycles_of(free, layer, used, ((rows, columns), [inner]), tensor)[0]


def without_rules(level: Any, tensor: str) -> Any:
    """A level whose axes take any dim, and whose registers hold a tensor."""
    fanout = tuple(replace(axis, constraint=type(axis.constraint)()) for axis in level.fanout)
    other_tensors = frozenset(DATAFLOWS.values()) - {tensor}
    kept = {"keep": frozenset({tensor}), "bypass": other_tensors} if level.name == "register" else {}
    return replace(level, fanout=fanout, **kept)


def cycles_of(
    arch: Architecture, layer: Workload, used: dict[str, int], loops: tuple[Sequence[str], Sequence[str]], tensor: str
) -> tuple[int, int]:
    """The cycles, and the steps among them, of a mapping: `used` places of each dim, folds outside, all else inside."""
    outer, inner = loops
    array, slots = arch.systolic, len(arch.slots)
    assert array is not None
    sides = list(used) if tensor == "Weights" else list(used)[::-1]  # columns first, as in the file
    factors = np.ones((1, slots, len(layer.dims)), np.int64)
    for d, dim in enumerate(layer.dims):
        factors[0, 1, d] = -(-layer.size(dim) // used.get(dim, 1))  # loops of the buffer
        for slot, side in zip((array.column_slots[0], array.row_slots[0]), sides, strict=True):
            factors[0, slot, d] = used[side] if dim == side else 1
    named = [layer.dims.index(dim) for dim in (*outer, *inner)]
    order = [*(d for d in range(len(layer.dims)) if d not in named), *named]
    keep = np.ones((1, 3, len(layer.tensors)), bool)
    keep[0, 2] = [layer_tensor.name == tensor for layer_tensor in layer.tensors]
    batch = MappingBatch.of(arch, layer, factors, np.array([[order] * 3], np.int8), keep)
    result = evaluate(arch, layer, batch)
    assert result.fill_drain is not None
    waits, cycles = result.fill_drain
    return cycles, cycles - waits


def searched(arch: Architecture, product: Product, samples: int) -> int:
    """The fewest cycles that an evolution of so many mappings finds."""
    options = SearchOptions(strategy="evolve", objective="delay", samples=samples, seed=1)
    result = explore(arch, product.layer, "ruby-s", options, im2col=True)
    assert isinstance(result, Result)
    return result.cycles


CONFIG = """[general]
run_name = run
[architecture_presets]
ArrayHeight = {rows}
ArrayWidth = {columns}
ifmapsramszkB = 4096
filtersramszkB = 4096
ofmapsramszkB = 4096
IfmapOffset = 0
FilterOffset = 10000000
OfmapOffset = 20000000
Bandwidth = 10
Dataflow = {dataflow}
ReadRequestBuffer = 64
WriteRequestBuffer = 64
[layout]
IfmapCustomLayout = False
IfmapSRAMBankBandwidth = 10
IfmapSRAMBankNum = 10
IfmapSRAMBankPort = 2
FilterCustomLayout = False
FilterSRAMBankBandwidth = 10
FilterSRAMBankNum = 10
FilterSRAMBankPort = 2
[sparsity]
SparsitySupport = false
[run_presets]
InterfaceBandwidth = CALC
UseRamulatorTrace = False
"""


RUN = """
from scalesim.scale_sim import scalesim
some = scalesim(True, False, "scale.cfg", "layers.csv", "layout.csv")  # without traces, silently
some.run_scale(top_path="out")
"""


def scalesim(python: str | None, r: int, c: int, dataflow: str, products: Sequence[Product]) -> list[int | None]:
    """The cycles that SCALE-Sim counts for each layer; None without an interpreter that has it."""
    if python is None:
        return [None] * len(products)
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        lines = [",".join(map(str, (f"layer{i}", *topology(product), "1:1", ""))) for i, product in enumerate(products)]
        layouts = [f"layer{i},1," for i in range(len(products))]
        (at / "scale.cfg").write_text(CONFIG.format(rows=r, columns=c, dataflow=dataflow))
        (at / "layers.csv").write_text("\n".join(["name,h,w,r,s,c,m,stride,sparsity,", *lines, ""]))
        (at / "layout.csv").write_text("\n".join(["name,factor,", *layouts, ""]))
        done = subprocess.run([python, "-c", RUN], cwd=at, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        with (at / "out" / "run" / "COMPUTE_REPORT.csv").open() as file:
            report = list(csv.DictReader(file, skipinitialspace=True))
    return [int(float(row["Total Cycles"])) for row in report]


def topology(product: Product) -> tuple[int, ...]:
    """A layer as SCALE-Sim has it: inputs, filter, channels, filters, stride; a product is a convolution 1 x 1."""
    layer = product.layer
    if layer.shape == "matmul":
        return (product.n, 1, 1, 1, product.k, product.m, 1)
    stride = stride_of(layer)
    height, width = ((layer.size(p) - 1) * stride + layer.size(s) for p, s in ("PR", "QS"))
    return (height, width, layer.size("R"), layer.size("S"), layer.size("C"), product.m, stride)


def write_tables(out: Path, rows: Sequence[Row]) -> None:
    """Write the rows as OUT/systolic.csv and as a table, OUT/systolic.md."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / "systolic.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    for _, same in groupby(rows, lambda row: (row["rows"], row["columns"])):
        lines += ["| " + " | ".join(_cell(row[name]) for name in COLUMNS) + " |" for row in same]
    (out / "systolic.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _cell(value: object) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


if __name__ == "__main__":
    main()
