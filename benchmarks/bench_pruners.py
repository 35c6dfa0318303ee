"""What dMazeRunner's pruners remove, and what the optimum loses: `python benchmarks/bench_pruners.py`.

Visits every mapping of small mapspaces, and prints the table of docs/searchers.md: per mapspace, for each pruner alone
and for all, the share of valid mappings removed and the best EDP left over the best of all.
"""

import sys
from dataclasses import dataclass

import numpy as np
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper.mapping import Floats, MappingBatch
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model import evaluate, recount, validity
from ruby_map.mapper.search import Task
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.variation import sampler_of
from ruby_map.mapper.searchers.pruned import Pruners
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


@dataclass(frozen=True)
class Effect:
    """The effect of a pruner on one mapspace."""

    pruner: str
    removed: float  # share of the valid mappings
    loss: float  # the best value left over the best of all; inf where nothing is left


def pruner_effects(task: Task, utilization: float) -> list[Effect]:
    """Visit every mapping with each pruner alone, then with all; `utilization` is what the first asks for.

    No effects where no mapping is valid. Values are of the first objective.
    """
    every = {
        "utilization": Pruners(utilization, dram=False, reuse=False),
        "dram": Pruners(0, dram=True, reuse=False),
        "reuse": Pruners(0, dram=False, reuse=True),
        "all": Pruners(utilization, dram=True, reuse=True),
    }
    valid, least = 0, np.inf
    remaining, best = dict.fromkeys(every, 0), dict.fromkeys(every, np.inf)
    for batch in task.space.batches():
        values = _values(task, batch)
        valid, least = valid + int(np.isfinite(values).sum()), min(least, float(values.min()))
        for name, pruners in every.items():
            own = values[pruners.survivors(sampler_of(task.space), batch)]
            remaining[name], best[name] = remaining[name] + len(own), min(best[name], float(own.min(initial=np.inf)))
    if not valid:
        return []
    return [Effect(name, 1 - remaining[name] / valid, _ratio(best[name], least)) for name in every]


def _values(task: Task, batch: MappingBatch) -> Floats:
    """Compute the first objective; inf where invalid. # (mapping,)"""
    values = np.full(len(batch), np.inf)
    valid_rows = np.flatnonzero(validity(batch) == 0)
    if len(valid_rows):
        costs = evaluate(batch.take(valid_rows), task.table, task.charges)
        values[valid_rows] = task.objective.of(costs)
        for i in valid_rows[~costs.exact].tolist():
            one = batch.take([i])
            values[i] = task.objective.of(evaluate(one, task.table, task.charges, recount(one)))[0]
    return values


def _ratio(value: float, least: float) -> float:
    return value / least if least else (1.0 if value == least else np.inf)


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
        cells = map(shown, pruner_effects(Task.of(space, energy_table(machine), SearchOptions()), UTILIZATION))
        sys.stdout.write(" | ".join((f"| {arch}, {sizes}, {preset}", str(space.size), *cells)) + " |\n")


if __name__ == "__main__":
    main()
