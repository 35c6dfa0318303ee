"""Claim: the cycles of a weight-stationary systolic array, filling and draining included, are those of its registers.

Twenty products, most of them convolutions whose C, R and S are one dim (im2col), on arrays of several sizes. Each runs
on a generated array in Verilog under Icarus, a register for each operand and sum of each place, with real numbers: the
products must be NumPy's, and the cycles are counted by the test bench. Beside it the cycles of the model, with and
without `systolic: true`, and with `--scalesim PYTHON` those of SCALE-Sim (Samajdar et al., ISPASS 2020), which counts
from 0. Without Icarus nothing is judged, and the script says so.
"""

import csv
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from common import arguments, save, tell
from numpy.typing import NDArray
from ruby_map.arch import Architecture, Axis, Compute, Storage
from ruby_map.mapper.mapping import MappingBatch
from ruby_map.mapper.model import count
from ruby_map.workloads import shaped

# rows, columns; K (added up, along the rows), M (columns), T (pixels, one after the other)
LAYERS = {
    "C64 M60 7x7, 3x3": (14, 12, 576, 60, 49),
    "C16 M24 14x14, 3x3": (14, 12, 144, 24, 196),
    "C3 M16 28x28, 5x5": (14, 12, 75, 16, 784),
    "C32 M32 7x7, 1x1": (14, 12, 32, 32, 49),
    "C64 M12 14x14, 1x1": (14, 12, 64, 12, 196),
    "C128 M64 4x4, 1x1": (16, 16, 128, 64, 16),
    "C16 M32 8x8, 3x3": (16, 16, 144, 32, 64),
    "C8 M16 16x16, 3x3": (16, 16, 72, 16, 256),
    "C1 M6 28x28, 5x5": (16, 16, 25, 6, 784),
    "C6 M16 10x10, 5x5": (16, 16, 150, 16, 100),
    "product 64": (8, 8, 64, 64, 64),
    "product 100": (8, 8, 100, 100, 100),
    "product 37x41x43": (8, 8, 43, 37, 41),
    "product 1 row": (8, 8, 96, 64, 1),
    "product 128x1": (8, 8, 128, 1, 32),
    "wide 4x32": (4, 32, 40, 96, 50),
    "tall 32x4": (32, 4, 96, 10, 50),
    "column 24x1": (24, 1, 50, 7, 20),
    "row 1x24": (1, 24, 9, 50, 20),
    "single place": (1, 1, 5, 4, 6),
}
SMALL = {name: LAYERS[name] for name in ("single place", "row 1x24", "product 37x41x43")}
Ints = NDArray[np.int64]


def main() -> None:
    options = arguments(__doc__, seed=1, more=_more)
    rows = []
    for name, sizes in (SMALL if options.quick else LAYERS).items():
        row: dict[str, Any] = {"layer": name, **dict(zip(("rows", "columns", "K", "M", "T"), sizes, strict=True))}
        row |= {"model": modelled(*sizes), "without_filling": modelled(*sizes, systolic=False)}
        row["rtl"] = simulated(*sizes, options.seed)
        row["scalesim"] = scalesim(options.scalesim, *sizes) if options.scalesim else None
        tell(", ".join(f"{key} {value}" for key, value in row.items()))
        rows.append(row)
    judged = [row for row in rows if row["rtl"] is not None]
    tell(f"{sum(row['rtl'] == row['model'] for row in judged)} of {len(judged)} equal to the array in Verilog")

    def draw(axes) -> None:  # type: ignore[no-untyped-def]
        names = [row["layer"] for row in rows]
        share = [1 - row["without_filling"] / row["model"] for row in rows]
        axes.barh(names[::-1], share[::-1], color="#4477aa")
        axes.set(xlabel="share of the cycles in which the array fills and drains", xlim=(0, 1))
        axes.tick_params(labelsize=8)

    save(__file__, options.out, {"rows": rows}, draw, size=(6.5, 1.5 + 0.25 * len(rows)))


def _more(parser: ArgumentParser) -> None:
    parser.add_argument("--scalesim", help="a Python that has the package scalesim")


def array(rows: int, columns: int, *, systolic: bool = True) -> Architecture:
    """A weight-stationary array: a word of Weights in each place, inputs and sums pass by."""
    axes = (Axis("row", rows, "Y", systolic=systolic), Axis("column", columns, "X", systolic=systolic))
    register = Storage("Register", "regfile", keep=frozenset({"Weights"}), bypass=frozenset({"Inputs", "Outputs"}))
    levels = (Storage("DRAM", "DRAM"), Storage("Buffer", "SRAM", fanout=axes), register)
    return Architecture("array", levels, Compute("MAC", "intmac"))


def modelled(rows: int, columns: int, k: int, m: int, pixels: int, *, systolic: bool = True) -> int:
    """The cycles by the model: all pixels pass for each tile of weights; the last tiles are remainders."""
    layer, arch = shaped("matmul", M=m, N=pixels, K=k), array(rows, columns, systolic=systolic)
    factors = np.ones((1, len(arch.slots), 3), np.int64)
    across, down = min(columns, m), min(rows, k)
    factors[0, 1:4] = [[-(-m // across), pixels, -(-k // down)], [1, 1, down], [across, 1, 1]]
    order = np.array([[(0, 1, 2), (0, 2, 1), (0, 1, 2)]], np.int8)
    keep = np.array([[[True] * 3, [True] * 3, [tensor.name == "Weights" for tensor in layer.tensors]]])
    return int(count(MappingBatch.of(arch, layer, factors, order, keep)).cycles[0])


def simulated(rows: int, columns: int, k: int, m: int, pixels: int, seed: int) -> int | None:
    """The cycles of the array in Verilog; None where there is no Icarus. Wrong products end the study."""
    if not shutil.which("iverilog"):
        tell("no iverilog: nothing judges the model")
        return None
    random = np.random.default_rng(seed)
    inputs, weights = (random.integers(-8, 8, size) for size in ((pixels, k), (k, m)))
    products, cycles = run_array(rows, columns, inputs, weights)
    assert np.array_equal(products, inputs @ weights), "the array computes something else than NumPy"
    return cycles


def run_array(rows: int, columns: int, inputs: Ints, weights: Ints, text: str = "") -> tuple[Ints, int]:
    """Run the array in Verilog on a product: the products, and the cycles. `text`: another program than its own."""
    (pixels, k), m = inputs.shape, weights.shape[1]
    folds = [(i, j) for j in range(0, m, columns) for i in range(0, k, rows)]
    with TemporaryDirectory(prefix="systolic-") as name:
        folder = Path(name)
        (folder / "array.v").write_text(text or verilog(rows, columns, pixels, len(folds)))
        tiles = [padded(weights[i : i + rows, j : j + columns], (rows, columns)) for i, j in folds]
        (folder / "weights.hex").write_text(hexadecimal(np.concatenate(tiles)))
        streams = [padded(inputs[:, i : i + rows], (pixels, rows)) for i, _ in folds]
        (folder / "inputs.hex").write_text(hexadecimal(np.concatenate(streams)))
        subprocess.run(["iverilog", "-g2012", "-o", "array", "array.v"], cwd=folder, check=True)
        done = subprocess.run(["vvp", "-n", "array"], cwd=folder, check=True, capture_output=True, text=True)
        sums = np.loadtxt(folder / "sums.txt", np.int64).reshape(len(folds), pixels, columns)
    found = np.zeros((pixels, m), np.int64)
    for (_, j), part in zip(folds, sums, strict=True):
        found[:, j : j + columns] += part[:, : min(columns, m - j)]
    return found, int(done.stdout.split()[-1])


def padded(tile: Ints, shape: tuple[int, int]) -> Ints:
    """A tile with zeros where the last one ends before the array does."""
    found = np.zeros(shape, np.int64)
    found[: tile.shape[0], : tile.shape[1]] = tile
    return found


def hexadecimal(values: Ints) -> str:
    """Words of 32 bits for $readmemh."""
    return "\n".join(f"{value & 0xFFFFFFFF:08x}" for value in values.ravel().tolist()) + "\n"


def verilog(rows: int, columns: int, pixels: int, folds: int) -> str:
    """The array and its test bench.

    A place holds a weight. While `load` is high weights move down a row in each cycle; else inputs move to the right
    and sums down, a register each. The bench loads a tile, feeds row i one cycle after row i - 1, takes the sums of
    column j as they leave the last row, and counts every cycle until the last sum has left.
    """
    return f"""
module place(input clk, input load, input signed [31:0] weight_in, output reg signed [31:0] weight,
             input signed [31:0] in, output reg signed [31:0] in_out,
             input signed [31:0] sum, output reg signed [31:0] sum_out);
  initial begin weight = 0; in_out = 0; sum_out = 0; end
  always @(posedge clk)
    if (load) weight <= weight_in;
    else begin in_out <= in; sum_out <= sum + in * weight; end
endmodule

module bench;
  localparam ROWS = {rows}, COLUMNS = {columns}, PIXELS = {pixels}, FOLDS = {folds};
  reg clk = 0, load = 0;
  reg signed [31:0] weights [0:FOLDS*ROWS*COLUMNS-1];
  reg signed [31:0] inputs [0:FOLDS*PIXELS*ROWS-1];
  reg signed [31:0] sums [0:PIXELS*COLUMNS-1];
  reg signed [31:0] top [0:COLUMNS-1];
  reg signed [31:0] left [0:ROWS-1];
  wire signed [31:0] w [0:ROWS][0:COLUMNS-1];
  wire signed [31:0] a [0:ROWS-1][0:COLUMNS];
  wire signed [31:0] s [0:ROWS][0:COLUMNS-1];
  genvar i, j;
  generate
    for (j = 0; j < COLUMNS; j = j + 1) begin assign w[0][j] = top[j]; assign s[0][j] = 0; end
    for (i = 0; i < ROWS; i = i + 1) begin
      assign a[i][0] = left[i];
      for (j = 0; j < COLUMNS; j = j + 1)
        place p(clk, load, w[i][j], w[i+1][j], a[i][j], a[i][j+1], s[i][j], s[i+1][j]);
    end
  endgenerate

  integer fold, step, x, y, pixel, cycles, out, left_to_come;

  task tick; begin #1 clk = 1; #1 clk = 0; cycles = cycles + 1; end endtask

  initial begin
    $readmemh("weights.hex", weights);
    $readmemh("inputs.hex", inputs);
    out = $fopen("sums.txt", "w");
    cycles = 0;
    for (fold = 0; fold < FOLDS; fold = fold + 1) begin
      load = 1;
      for (step = ROWS - 1; step >= 0; step = step - 1) begin
        for (y = 0; y < COLUMNS; y = y + 1) top[y] = weights[(fold * ROWS + step) * COLUMNS + y];
        tick;
      end
      load = 0;
      left_to_come = PIXELS * COLUMNS;
      for (step = 0; left_to_come > 0; step = step + 1) begin
        for (x = 0; x < ROWS; x = x + 1) begin
          pixel = step - x;
          left[x] = pixel >= 0 && pixel < PIXELS ? inputs[(fold * PIXELS + pixel) * ROWS + x] : 0;
        end
        tick;
        for (y = 0; y < COLUMNS; y = y + 1) begin
          pixel = step - (ROWS - 1) - y;
          if (pixel >= 0 && pixel < PIXELS) begin
            sums[pixel * COLUMNS + y] = taken(y);
            left_to_come = left_to_come - 1;
          end
        end
      end
      for (pixel = 0; pixel < PIXELS * COLUMNS; pixel = pixel + 1) $fdisplay(out, "%0d", sums[pixel]);
    end
    $fclose(out);
    $display("%0d", cycles);
    $finish;
  end

  wire signed [31:0] last [0:COLUMNS-1];
  generate for (j = 0; j < COLUMNS; j = j + 1) assign last[j] = s[ROWS][j]; endgenerate
  function signed [31:0] taken(input integer column); taken = last[column]; endfunction
endmodule
"""


def scalesim(python: str, rows: int, columns: int, k: int, m: int, pixels: int) -> int:
    """The cycles that SCALE-Sim reports: weight stationary, no stalls, memories that hold everything."""
    with TemporaryDirectory(prefix="scalesim-") as name:
        folder = Path(name)
        (folder / "array.cfg").write_text(CONFIG.format(rows=rows, columns=columns))
        (folder / "layer.csv").write_text(f"Layer, M, N, K,\none, {pixels}, {m}, {k},\n")
        command = [python, "-m", "scalesim.scale", "-c", "array.cfg", "-t", "layer.csv", "-l", "layer.csv"]
        command += ["-p", "out", "-i", "gemm"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        reports = list(folder.glob("out/**/COMPUTE_REPORT.csv"))
        if done.returncode or not reports:
            sys.exit(f"SCALE-Sim fails:\n{(done.stderr or done.stdout)[-2000:]}")
        (row,) = csv.DictReader(reports[0].read_text().replace(", ", ",").splitlines())
        return round(float(row["Total Cycles"]))


CONFIG = """
[general]
run_name = array
[architecture_presets]
ArrayHeight: {rows}
ArrayWidth: {columns}
IfmapSramSzkB: 8192
FilterSramSzkB: 8192
OfmapSramSzkB: 8192
IfmapOffset: 0
FilterOffset: 10000000
OfmapOffset: 20000000
Dataflow: ws
Bandwidth: 10
ReadRequestBuffer: 64
WriteRequestBuffer: 64
[layout]
IfmapCustomLayout: False
IfmapSRAMBankBandwidth: 10
IfmapSRAMBankNum: 10
IfmapSRAMBankPort: 2
FilterCustomLayout: False
FilterSRAMBankBandwidth: 10
FilterSRAMBankNum: 10
FilterSRAMBankPort: 2
[sparsity]
SparsitySupport: false
SparseRep: ellpack_block
OptimizedMapping: false
BlockSize: 8
RandomNumberGeneratorSeed: 40
[run_presets]
InterfaceBandwidth: CALC
UseRamulatorTrace: False
"""


if __name__ == "__main__":
    main()
