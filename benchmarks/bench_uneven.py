"""Optima with uneven placement beside those of AccelForge: `python benchmarks/bench_uneven.py`.

Needs `pip install '.[accelforge]'`; without it, or with --ours, only the columns of ruby-map are filled. Both search
the machine uneven_256.yaml: AccelForge with a node for each tensor in buffer and register file, ruby-map with
a proof for the register file uneven, then for both. ruby-map counts the mappings of AccelForge, too, and
AccelForge the best of ruby-map. AccelForge has 100 CPU-seconds for each; CPU-seconds are without imports.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from signal import SIGPROF
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from accelforge_forms import specification
from mapping_nodes import Node, as_batch, as_nodes
from ruby_map.arch import Architecture, load_arch, stacked
from ruby_map.energy import energy_table, stacked_table
from ruby_map.mapper import Result, SearchOptions, explore
from ruby_map.mapper.model.cost import evaluate
from ruby_map.workloads import Workload, shaped

HERE = Path(__file__).parent
LIMIT = 100  # CPU-seconds of each run of AccelForge
LAYERS = {
    "197^3": shaped("matmul", M=197, N=197, K=197),
    "256^3": shaped("matmul", M=256, N=256, K=256),
    "64 x 1024 x 512": shaped("matmul", M=64, N=1024, K=512),
    "100 x 60 x 200": shaped("matmul", M=100, N=60, K=200),
    "768 x 128 x 768": shaped("matmul", M=768, N=128, K=768),
    "512^3": shaped("matmul", M=512, N=512, K=512),
    "1024 x 4096 x 4096": shaped("matmul", M=1024, N=4096, K=4096),
    "3072 x 128 x 768": shaped("matmul", M=3072, N=128, K=768),
    "1000 x 1 x 2048": shaped("matmul", M=1000, N=1, K=2048),
    "64 x 3136 x 64": shaped("matmul", M=64, N=3136, K=64),
    "conv 1x3": shaped("conv2d", N=4, M=8, C=4, P=8, Q=1, R=3, S=1),
    "conv 3x3": shaped("conv2d", N=16, M=64, C=32, P=14, Q=14, R=3, S=3),
}
CASES = ["pfm energy", "ruby energy", "pfm edp"]  # mapspace and objective
COLUMNS = ["layer", "mapspace", "by", "AccelForge's mapper", "its model", "our count", "cycles", "CPU s"]
COLUMNS += ["RF uneven", "cycles", "proof", "CPU s", "GLB and RF uneven", "cycles", "proof", "CPU s"]
COLUMNS += ["its count of our best"]


@dataclass(frozen=True)
class Case:
    """A layer on the machine, what mapspace, and what to minimize."""

    arch: Architecture  # with the memories in `uneven` alone
    workload: Workload
    mapspace: str
    objective: str

    def uneven(self, *names: str) -> Architecture:
        """The machine with these memories uneven."""
        levels = (replace(level, placement="uneven" if level.name in names else "even") for level in self.arch.levels)
        return replace(self.arch, levels=tuple(levels))

    def value(self, energy_pj: float, cycles: float) -> float:
        """What the objective is."""
        return energy_pj * (cycles if self.objective == "edp" else 1)

    @property
    def shown(self) -> tuple[float, str]:
        """What values are divided by in the table, and how they are written."""
        return (1.0, ".5g") if self.objective == "edp" else (1e6, ".4f")

    def written(self, value: float) -> str:
        scale, form = self.shown
        return format(value / scale, form)


def ours(case: Case, limit: float, *names: str) -> tuple[Result, list[str]]:
    """Search the mapspace with a proof: the result, and its value, cycles, what is proven, CPU-seconds."""
    start = process_time()
    options = SearchOptions(strategy="optimal", objective=case.objective, time_limit=limit)
    result = explore(case.uneven(*names), case.workload, case.mapspace, options)
    assert isinstance(result, Result)
    seconds = process_time() - start
    proof = "optimal" if result.optimal else f"{result.gap or 0:.1%} open"
    value = case.written(case.value(result.energy_pj, result.cycles))
    return result, [value, f"{result.cycles:,}", proof, f"{seconds:.1f}"]


def theirs(case: Case) -> list[str]:
    """Let AccelForge map the layer: what its mapper minimized, its model's value, our count, cycles, CPU-seconds."""
    flags = ["--objective", case.objective, *(["--imperfect"] if case.mapspace == "ruby" else [])]
    outcome = accelforge(case, (), flags)
    if isinstance(outcome, str):
        return [outcome, "-", "-", "-", "-"]
    values = [case.written(outcome["minimized"]), case.written(case.value(outcome["energy_pj"], outcome["cycles"]))]
    return [*values, counted(case, outcome["nodes"]), f"{outcome['cycles']:,.0f}", f"{outcome['seconds']:.1f}"]


def counted(case: Case, nodes: Sequence[Node]) -> str:
    """The value of a mapping of AccelForge by ruby-map's count, or why it has none."""
    arch = stacked(case.uneven("GLB", "RF"), case.workload)
    try:
        batch = as_batch(nodes, arch, case.workload)
    except ValueError:
        return "not in ours"
    costs = evaluate(batch, stacked_table(energy_table(case.arch), arch))
    return case.written(case.value(float(costs.energy_pj[0]), float(costs.cycles[0])))


def by_them(case: Case, result: Result) -> str:
    """The value of our best mapping by AccelForge's count."""
    assert result.batch is not None
    outcome = accelforge(case, as_nodes(result.batch), ["--evaluate"])
    return outcome if isinstance(outcome, str) else case.written(case.value(outcome["energy_pj"], outcome["cycles"]))


def accelforge(case: Case, nodes: Sequence[Node], flags: Sequence[str]) -> dict[str, Any] | str:
    """What a run of AccelForge prints; a word where it did not finish."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "spec.yaml")
        path.write_text(specification(case.arch, energy_table(case.arch), case.workload, nodes))
        command = [sys.executable, str(HERE / "accelforge_run.py"), str(path), "--limit", str(LIMIT), *flags]
        run = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    if run.returncode == -SIGPROF:
        return f"not finished in {LIMIT} s"
    if run.returncode:
        raise RuntimeError(run.stderr)
    outcome: dict[str, Any] = json.loads(run.stdout)
    return outcome


def rows(cases: Sequence[str], layers: Sequence[str], limit: float, beside: bool) -> Iterator[list[str]]:
    """The table, row by row."""
    arch = load_arch(HERE / "uneven_256.yaml")
    for words in cases:
        mapspace, objective = words.split()
        for name in layers:
            if objective == "edp" and LAYERS[name].shape != "matmul":
                continue  # AccelForge takes longer still than for energy
            case = Case(arch, LAYERS[name], mapspace, objective)
            other = theirs(case) if beside else ["-"] * 5
            (one, row), (both, more) = (ours(case, limit, *names) for names in (("RF",), ("GLB", "RF")))
            best = min(one, both, key=lambda result: case.value(result.energy_pj, result.cycles))
            yield [name, mapspace, objective, *other, *row, *more, by_them(case, best) if beside else "-"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", nargs="+", choices=LAYERS, default=list(LAYERS))
    parser.add_argument("--cases", nargs="+", choices=CASES, default=CASES)
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds of each proof of ruby-map")
    parser.add_argument("--ours", action="store_true", help="without AccelForge")
    args = parser.parse_args()
    beside = not args.ours and find_spec("accelforge") is not None
    sys.stdout.write("energies in uJ, EDP in pJ cycles\n")
    sys.stdout.write(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n")
    for row in rows(args.cases, args.layers, args.time_limit, beside):
        sys.stdout.write(f"| {' | '.join(row)} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
