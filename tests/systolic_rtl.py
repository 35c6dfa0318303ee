"""A small weight-stationary array in Verilog, written, compiled and run: what it computes, and in how many cycles.

Weights are shifted down the columns, a row a cycle. Then the inputs enter at the left, each row a cycle after the one
above, and partial sums go down, a row a cycle; bits that say which words are valid go with them. The next weights
follow when the last element takes the last word: no number of cycles is written anywhere, valid bits end each fold.
"""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
WORDS = 1 << 21  # of each memory around the array

ELEMENT = """
module element (
    input clk, input load,
    input signed [7:0] weight_in, output reg signed [7:0] weight,
    input valid_in, output reg valid,
    input signed [7:0] word_in, output reg signed [7:0] word,
    input signed [31:0] sum_in, output reg signed [31:0] sum
);
    always @(posedge clk) begin
        if (load) weight <= weight_in;
        valid <= valid_in;
        word <= word_in;
        sum <= sum_in + weight * word_in;
    end
    initial begin weight = 0; valid = 0; word = 0; sum = 0; end
endmodule
"""

ARRAY = """
module systolic;
    localparam R = {rows}, C = {columns}, WORDS = {words};
    reg clk = 0;
    always #1 clk = !clk;

    reg signed [7:0] weights [0:WORDS-1];  // [k][m]
    reg signed [7:0] inputs [0:WORDS-1];  // [k][n]
    reg signed [31:0] outputs [0:WORDS-1];  // [m][n]
    integer M, N, K, m0 = 0, k0 = 0, sent = 0, taken = 0, loaded = 0, cycles = 0;
    reg loading = 1, running = 0;

    // wires between elements: [row][column], flat; row 0 of sums and weights is the top, column 0 the left edge
    wire signed [7:0] down [0:(R+1)*C-1];
    wire signed [31:0] sums [0:(R+1)*C-1];
    wire signed [7:0] across [0:R*(C+1)-1];
    wire valids [0:R*(C+1)-1];
    integer seen [0:C-1];  // sums that have left each column

    genvar i, j;
    generate
        for (j = 0; j < C; j = j + 1) begin : top
            assign sums[j] = 0;
            assign down[j] = (k0 + R - 1 - loaded < K && m0 + j < M) ? weights[(k0 + R - 1 - loaded) * M + m0 + j] : 0;
        end
        for (i = 0; i < R; i = i + 1) begin : row
            wire valid_now = running && !loading && sent < N;
            wire signed [7:0] word_now = (valid_now && k0 + i < K) ? inputs[(k0 + i) * N + sent] : 0;
            if (i == 0) begin : edge_of_first
                assign valids[0] = valid_now;
                assign across[0] = word_now;
            end else begin : edge_of_later  // as many registers as rows above
                reg [i-1:0] valid_line = 0;
                reg signed [8*i-1:0] word_line = 0;
                always @(posedge clk) begin
                    valid_line <= (valid_line << 1) | valid_now;
                    word_line <= (word_line << 8) | {{{{(8*i){{1'b0}}}}, word_now}};
                end
                assign valids[i*(C+1)] = valid_line[i-1];
                assign across[i*(C+1)] = word_line[8*i-1 -: 8];
            end
            for (j = 0; j < C; j = j + 1) begin : column
                element e (
                    clk, running && loading, down[i*C+j], down[(i+1)*C+j], valids[i*(C+1)+j], valids[i*(C+1)+j+1],
                    across[i*(C+1)+j], across[i*(C+1)+j+1], sums[i*C+j], sums[(i+1)*C+j]
                );
            end
        end
    endgenerate

    // the last element takes the last word of the fold
    wire last = valids[(R-1)*(C+1)+C-1] && taken == N - 1;

    integer col, n, file;
    always @(posedge clk) if (running) begin
        cycles <= cycles + 1;
        if (loading) begin
            loaded <= loaded + 1;
            if (loaded == R - 1) loading <= 0;
        end else begin
            sent <= sent + 1;
            if (valids[(R-1)*(C+1)+C-1]) taken <= taken + 1;
            if (last) begin
                loading <= 1; loaded <= 0; sent <= 0; taken <= 0;
                k0 <= k0 + R;
                if (k0 + R >= K) begin
                    k0 <= 0;
                    m0 <= m0 + C;
                    if (m0 + C >= M) running <= 0;
                end
            end
        end
    end

    // sums leave the array a cycle after the last row has taken them; the fold that they are of goes along
    integer m_out [0:C-1];
    always @(posedge clk) for (col = 0; col < C; col = col + 1) begin
        if (valids[(R-1)*(C+1)+col+1]) begin
            if (m_out[col] < M)
                outputs[m_out[col] * N + seen[col]] = outputs[m_out[col] * N + seen[col]] + sums[R*C+col];
            seen[col] = seen[col] == N - 1 ? 0 : seen[col] + 1;
        end
        if (valids[(R-1)*(C+1)+col]) m_out[col] = m0 + col;
    end

    initial begin
        if (!$value$plusargs("M=%d", M) || !$value$plusargs("N=%d", N) || !$value$plusargs("K=%d", K)) $finish;
        $readmemh("weights.hex", weights, 0, K * M - 1);
        $readmemh("inputs.hex", inputs, 0, K * N - 1);
        for (n = 0; n < M * N; n = n + 1) outputs[n] = 0;
        for (n = 0; n < C; n = n + 1) begin seen[n] = 0; m_out[n] = n; end
        @(negedge clk) running = 1;
        @(negedge running);
        repeat (2) @(negedge clk);
        file = $fopen("outputs.txt", "w");
        $fdisplay(file, "%0d", cycles);
        for (n = 0; n < M * N; n = n + 1) $fdisplay(file, "%0d", outputs[n]);
        $fclose(file);
        $finish;
    end
endmodule
"""


def verilog(rows: int, columns: int) -> str:
    """Write the array and what feeds it."""
    return ELEMENT + ARRAY.format(rows=rows, columns=columns, words=WORDS)


def simulators() -> list[str]:
    """List the simulators that are installed, the one that compiles fastest first."""
    return [name for name in ("iverilog", "verilator") if shutil.which(name)]


@dataclass(frozen=True)
class Rtl:
    """The compiled array."""

    command: tuple[str, ...]
    folder: Path

    @classmethod
    def of(cls, rows: int, columns: int, folder: Path, simulator: str = "iverilog") -> "Rtl":
        """Write and compile it in `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        source = folder / "systolic.v"
        source.write_text(verilog(rows, columns), encoding="ascii")
        if simulator == "iverilog":
            _run("iverilog", "-g2012", "-o", str(folder / "systolic.vvp"), str(source), folder=folder)
            return cls(("vvp", "-n", str(folder / "systolic.vvp")), folder)
        quiet = ("-Wno-fatal", "-Wno-lint", "-Wno-style")
        _run("verilator", "--binary", "--timing", *quiet, "--top-module", "systolic", str(source), folder=folder)
        return cls((str(folder / "obj_dir" / "Vsystolic"),), folder)

    def product(self, weights: Ints, inputs: Ints) -> tuple[int, Ints]:
        """Compute weights # (m, k) times inputs # (k, n); return the cycles and the product # (m, n)."""
        (m, k), (_, n) = weights.shape, inputs.shape
        assert max(m * k, k * n, m * n) <= WORDS
        for name, words in (("weights", weights.T), ("inputs", inputs)):
            lines = "\n".join(f"{word & 255:02x}" for word in words.ravel().tolist())
            (self.folder / f"{name}.hex").write_text(lines + "\n", encoding="ascii")
        _run(*self.command, f"+M={m}", f"+N={n}", f"+K={k}", folder=self.folder)
        cycles, *words = map(int, (self.folder / "outputs.txt").read_text(encoding="ascii").split())
        return cycles, np.array(words).reshape(m, n)


def _run(*command: str, folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed:\n{done.stdout}{done.stderr}")


def im2col(inputs: Ints, window: tuple[int, int], stride: int = 1) -> Ints:
    """Lay the windows of inputs # (c, height, width) out as columns. # (c * r * s, pixel)"""
    views = np.lib.stride_tricks.sliding_window_view(inputs, window, axis=(1, 2))[:, ::stride, ::stride]
    c, p, q, r, s = views.shape
    return views.transpose(0, 3, 4, 1, 2).reshape(c * r * s, p * q)
