"""Claim: predicted times of programs rank mappings as measured times do; a remainder is worth more than the model says.

Random valid mappings of five matrix products and four convolutions, half of them perfect (pfm), half of Ruby-S, written
in C by `ruby-code` and run on one core of the processor at hand, beside the EDP optima of both mapspaces. The terms of
mapper/codegen/program_counts.py are fitted to half of the runs of a layer and judged by the other half (held out), and
fitted to the runs of all other layers and judged by this one (transferred). Rank correlations are Spearman's; `cycles`
is that of the model's cycles alone. `five` is the best measured time of the five mappings that are predicted to be
fastest, over that of all; `fastest` is what `ruby-code --fastest` finds by times fitted to the other layers. Products
are also compared with NumPy's, which calls a BLAS, on as many threads.
"""

import argparse
import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from common import arguments, recorded, save, tell
from ruby_map.arch import Architecture, one_core, parse_arch
from ruby_map.mapper import Result, SearchOptions, explore
from ruby_map.mapper.calibration import Sample, fitted
from ruby_map.mapper.codegen import (
    BACKENDS,
    DATA_TYPES,
    Measurement,
    Nest,
    Processor,
    ProgramCounts,
    described,
    machine_yaml,
    measured_machine,
    measured_nest,
)
from ruby_map.mapper.codegen.c.files import FLAGS
from ruby_map.mapper.exploration import draw_valid
from ruby_map.mapper.model import count
from ruby_map.mapper.report.pictures import PALETTE
from ruby_map.workloads import Workload, parse_yaml, shaped
from scipy.stats import spearmanr

KIND = DATA_TYPES["float32"]
LAYERS: dict[str, Any] = {
    "512": {"shape": "matmul", "sizes": {"M": 512, "N": 512, "K": 512}},
    "500": {"shape": "matmul", "sizes": {"M": 500, "N": 500, "K": 500}},
    "1000": {"shape": "matmul", "sizes": {"M": 1000, "N": 1000, "K": 1000}},
    "127x1021x509": {"shape": "matmul", "sizes": {"M": 127, "N": 1021, "K": 509}},
    "64x10000x64": {"shape": "matmul", "sizes": {"M": 64, "N": 10000, "K": 64}},
    "3x3": {"shape": "conv2d", "sizes": {"M": 64, "C": 64, "P": 56, "Q": 56, "R": 3, "S": 3}},
    "1x1": {"shape": "conv2d", "sizes": {"M": 64, "C": 256, "P": 56, "Q": 56, "R": 1, "S": 1}},
    "strided": {"shape": "conv2d", "sizes": {"M": 128, "C": 64, "P": 28, "Q": 28, "R": 3, "S": 3}, "stride": 2},
    "depthwise": {"shape": "conv2d", "sizes": {"G": 64, "M": 1, "C": 1, "P": 56, "Q": 56, "R": 3, "S": 3}},
}
PRODUCTS = {
    "512": (512, 512, 512),
    "1000": (1000, 1000, 1000),
    "500": (500, 500, 500),
    "768": (768, 768, 768),
    "64x10000x256": (64, 10000, 256),
}
SMALL: dict[str, Any] = {
    "64": {"shape": "matmul", "sizes": {"M": 64, "N": 40, "K": 30}},
    "conv": {"shape": "conv2d", "sizes": {"M": 8, "C": 4, "P": 14, "Q": 14, "R": 3, "S": 3}},
}
SPACES = ("pfm", "ruby-s")
Row = dict[str, Any]


def main() -> None:
    options = arguments(__doc__, seed=1)
    result = recorded(__file__, options) or measured(options)
    shape = (1, 2) if options.quick else (3, 3)
    save(__file__, options.out, result, partial(draw, result), shape, (8, 3.5) if options.quick else (10, 9.5))


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Run the programs of every layer, and judge what is predicted."""
    texts, number, seconds = (SMALL, 6, 0.3) if options.quick else (LAYERS, 100, 20.0)
    layers = {
        name: shaped(text["shape"], name, stride=text.get("stride"), **text["sizes"]) for name, text in texts.items()
    }
    os.environ["CFLAGS"] = f"{FLAGS} -DSECONDS={0 if options.quick else 0.05}"
    machine = measured_machine(described())
    arch = parse_arch(parse_yaml(machine_yaml(machine, "cpu"), "this machine"))
    runs = {name: random_runs(one_core(arch), layer, number, options.seed) for name, layer in layers.items()}
    result: dict[str, Any] = {"machine": machine.model, "peak_gflops": machine.peak_gflops, "mappings": number}
    result["layers"] = {name: judged(name, runs, options.seed) for name in layers}
    for name, row in result["layers"].items():
        tell(f"{name}: " + ", ".join(f"{key} {value:.3g}" for key, value in row.items()))
    every = [sample for rows in runs.values() for sample in rows["samples"]]
    result["seconds"] = fitted(every, options.seed)
    os.environ["CFLAGS"] = f"{FLAGS} -DSECONDS={0 if options.quick else 0.5}"
    result["optima"] = {name: optima(one_core(arch), layer, seconds) for name, layer in layers.items()}
    for name, text in list(texts.items())[: 1 if options.quick else None]:
        other_samples = [sample for other, rows in runs.items() if other != name for sample in rows["samples"]]
        weights = (
            result["seconds"] if options.quick else fitted(other_samples, options.seed)
        )  # ten runs may lack a term
        result["optima"][name]["fastest"] = fastest(machine, weights, {"name": "layer", **text}, max(seconds, 8.0))
    products = {"64": (64, 40, 30)} if options.quick else PRODUCTS
    result["products"] = {name: product(arch, machine, sizes, seconds) for name, sizes in products.items()}
    result["runs"] = {
        name: [*zip(predictions(rows["samples"], result["seconds"]), times(rows), strict=True)]
        for name, rows in runs.items()
    }

    return result


def draw(result: dict[str, Any], *panels) -> None:  # type: ignore[no-untyped-def]
    """Draw a panel per layer: predicted seconds against measured ones."""
    for axes, (name, pairs) in zip(panels, result["runs"].items(), strict=False):
        predicted, seen = (1e3 * np.array(values) for values in zip(*pairs, strict=True))
        axes.loglog(seen, predicted, ".", markersize=4, color=PALETTE[0])
        ends = [min(seen.min(), predicted.min()) * 0.8, max(seen.max(), predicted.max()) * 1.25]
        axes.plot(ends, ends, color="0.6", linewidth=0.8, zorder=0)
        axes.set(xlim=ends, ylim=ends, xlabel="measured [ms]", ylabel="predicted [ms]")
        axes.xaxis.set_minor_formatter("")
        axes.yaxis.set_minor_formatter("")
        rank = result["layers"][name]["transferred"]
        axes.set_title(f"{name}, rank correlation {rank:.2f}", fontsize=9, loc="left")


def random_runs(arch: Architecture, layer: Workload, number: int, seed: int) -> dict[str, Any]:
    """Run random mappings of a layer: their samples, and the cycles that the model counts."""
    samples, cycles = list[Sample](), list[float]()
    for mapspace in SPACES:
        batch = draw_valid(arch, layer, mapspace, number // len(SPACES), seed)  # type: ignore[arg-type]
        cycles += count(batch).cycles.tolist()
        for i in range(len(batch)):
            nest = Nest.of(batch.take([i]))
            ran = run(nest)
            samples.append(Sample(ProgramCounts(nest, KIND).terms, ran.seconds))
    tell(f"{layer.name} {layer.sizes}: {len(samples)} programs ran")
    return {"samples": samples, "cycles": cycles}


def run(nest: Nest) -> Measurement:
    """Run a program; one that computes something else than NumPy ends the study."""
    ran = measured_nest(BACKENDS["c"], nest, KIND)
    assert ran.correct, f"{nest.workload.name}: not what NumPy computes"
    return ran


def predictions(samples: list[Sample], weights: dict[str, float]) -> list[float]:
    """The seconds of programs by fitted weights."""
    return [sum(weights.get(name, 0.0) * value for name, value in sample.terms.items()) for sample in samples]


def times(rows: dict[str, Any]) -> list[float]:
    return [sample.measured for sample in rows["samples"]]


def judged(name: str, runs: dict[str, dict[str, Any]], seed: int) -> Row:
    """Rank correlations and median errors for one layer."""
    samples, measured = runs[name]["samples"], np.array(times(runs[name]))
    order = np.random.default_rng(seed).permutation(len(samples))
    own, held = order[::2], order[1::2]
    inside = np.array(predictions([samples[i] for i in held], fitted([samples[i] for i in own], seed)))
    other_samples = [sample for other, rows in runs.items() if other != name for sample in rows["samples"]]
    across = np.array(predictions(samples, fitted(other_samples, seed)))
    return {
        "cycles": rank(runs[name]["cycles"], measured),
        "held_out": rank(inside, measured[held]),
        "held_out_error": float(np.median(abs(inside / measured[held] - 1))),
        "transferred": rank(across, measured),
        "transferred_error": float(np.median(abs(across / measured - 1))),
        "five": float(measured[np.argsort(across)[:5]].min() / measured.min()),
        "fastest_ms": float(measured.min() * 1e3),
        "slowest_ms": float(measured.max() * 1e3),
    }


def rank(one, other) -> float:  # type: ignore[no-untyped-def]
    correlation = float(spearmanr(one, other).statistic)
    return 0.0 if np.isnan(correlation) else correlation  # where all are equal


def optima(arch: Architecture, layer: Workload, seconds: float) -> Row:
    """Run the EDP optima of both mapspaces."""
    by_mapspace: Row = {}
    for mapspace in SPACES:
        best = explore(arch, layer, mapspace, SearchOptions(time_limit=seconds))  # type: ignore[arg-type]
        assert isinstance(best, Result)
        assert best.batch is not None
        ran = run(Nest.of(best.batch))
        by_mapspace[mapspace] = {"cycles": best.cycles, "gflops": ran.gflops}
    ratio = (
        by_mapspace["pfm"]["cycles"] / by_mapspace["ruby-s"]["cycles"],
        by_mapspace["ruby-s"]["gflops"] / by_mapspace["pfm"]["gflops"],
    )
    tell(f"{layer.name} {layer.sizes}: ruby-s over pfm, cycles say {ratio[0]:.2f}, the processor {ratio[1]:.2f}")
    return by_mapspace


def fastest(machine: Processor, weights: dict[str, float], layer: Row, seconds: float) -> Row:
    """Run what `ruby-code --fastest` finds on one core, by times fitted to other layers."""
    with TemporaryDirectory(prefix="measured-") as name:
        folder = Path(name)
        known = f"  seconds: {json.dumps(weights)}\n"
        (folder / "cpu.yaml").write_text(machine_yaml(replace(machine, cores=1), "cpu") + known)
        (folder / "layer.yaml").write_text(json.dumps(layer))
        command = [
            str(Path(sys.executable).parent / "ruby-code"),
            "cpu.yaml",
            "layer.yaml",
            "--fastest",
            "--run",
            "--json",
        ]
        command += ["--out", "program", "--time-limit", str(seconds)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"ruby-code fails: {done.stderr}")
    said = json.loads(done.stdout)
    tell(f"{layer['sizes']}: predicted to be fastest, {said['gflops']:.1f} GFLOP/s")
    return {"cycles": said["predicted"]["cycles"], "gflops": said["gflops"]}


def product(arch: Architecture, machine: Processor, sizes: tuple[int, int, int], seconds: float) -> Row:
    """Run a product on one thread and on all, beside NumPy."""
    m, n, k = sizes
    layer, by_threads = shaped("matmul", M=m, N=n, K=k), Row()
    for threads in sorted({1, machine.cores}):
        one = arch if threads > 1 else one_core(arch)
        row: Row = {"blas_gflops": blas(m, n, k, threads)}
        for mapspace in SPACES:
            best = explore(one, layer, mapspace, SearchOptions(time_limit=seconds))  # type: ignore[arg-type]
            assert isinstance(best, Result)
            assert best.batch is not None
            row[mapspace] = run(Nest.of(best.batch)).gflops
        by_threads[str(threads)] = row
        tell(f"{m}x{n}x{k}, {threads} threads: " + ", ".join(f"{name} {value:.1f}" for name, value in row.items()))
    return by_threads


def blas(m: int, n: int, k: int, threads: int) -> float:
    """The rate of NumPy's product of the same layout, in GFLOP/s: the fastest of half a second of runs."""
    program = f"""
import time, numpy as np
x, w = (np.random.default_rng(0).uniform(-1, 1, size).astype(np.float32) for size in (({n}, {k}), ({m}, {k})))
best, began = 1e9, time.perf_counter()
while time.perf_counter() - began < 0.5:
    start = time.perf_counter()
    x @ w.T
    best = min(best, time.perf_counter() - start)
print(2 * {m * n * k} / best / 1e9)
"""
    names = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
    environment = os.environ | dict.fromkeys(names, str(threads))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    return float(done.stdout)


if __name__ == "__main__":
    main()
