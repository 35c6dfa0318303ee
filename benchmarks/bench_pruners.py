"""What dMazeRunner's pruners remove, and what the optimum loses: `python benchmarks/bench_pruners.py`.

Visits every mapping of small mapspaces, and prints the table of docs/searchers.md: per mapspace, for each pruner alone
and for all, the share of valid mappings removed and the best EDP left over the best of all.
"""

import sys

from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.search import Task
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.searchers import Effect, pruner_effects
from ruby_map.workloads import load_workload, shaped

UTILIZATION = 0.8
CASES = [
    ("linear_5", load_workload("matmul_100"), "pfm"),
    ("linear_5", load_workload("matmul_100"), "ruby-s"),
    ("linear_5", shaped("conv2d", M=6, C=4, P=5, Q=1, R=3, S=1), "ruby"),
    ("simba_like", shaped("matmul", M=8, N=4, K=8), "pfm"),
    ("simba_like", shaped("matmul", M=6, N=3, K=8), "ruby-s"),
    ("eyeriss_like", shaped("conv2d", M=8, C=4, P=4, Q=14, R=3, S=3), "pfm"),
    ("eyeriss_like", shaped("conv2d", M=8, C=4, P=3, Q=13, R=3, S=3), "ruby-s"),
]


def shown(effect: Effect) -> str:
    """Write an effect as a cell of the table."""
    return f"{effect.removed:.2%}, " + ("nothing left" if effect.loss == float("inf") else f"{effect.loss:.3f}")


def main() -> None:
    """Print the table."""
    sys.stdout.write("| machine, layer, mapspace | mappings | utilization | dram | reuse | all |\n")
    sys.stdout.write("|---|---|---|---|---|---|\n")
    for arch, workload, preset in CASES:
        machine = load_arch(arch)
        space = Mapspace(machine, workload, preset, distinct=True)
        sizes = " ".join(f"{dim}{size}" for dim, size in zip(workload.dims, workload.sizes, strict=True) if size > 1)
        cells = map(shown, pruner_effects(Task(space, energy_table(machine), SearchOptions()), UTILIZATION))
        sys.stdout.write(" | ".join((f"| {arch}, {sizes}, {preset}", str(space.size), *cells)) + " |\n")


if __name__ == "__main__":
    main()
