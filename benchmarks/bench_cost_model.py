"""Searches with a cost model: how many mappings each asks about until its best is near the best known.

    python benchmarks/bench_cost_model.py eyeriss_like resnet50/conv3_x_3x3 like

The cost model is examples/cost_models/other_energies.py, without its sleep, of the machine named last. Prints a
row per search, as in docs/cost-models.md: for seeds 0, 1 and 2 the mappings until 1.05 times the least value of all
these runs, and the values at the end over that.
"""

import sys
from pathlib import Path

from ruby_map.energy import energy_table
from ruby_map.mapper.exploration import load
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.search import Observers, Task
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.searchers import search

MODEL = Path(__file__).parent.parent / "examples/cost_models/other_energies.py"
SEARCHES = {  # mappings asked about
    "random": 3000, "evolve": 3000, "gbt": 768, "surrogate": 768, "bayes": 768, "auto": 512,
}  # fmt: skip
NEAR = 1.05
AT = (32, 64, 128, 256, 512)


def main() -> None:
    """Search by each strategy and seed, then print a row for each strategy."""
    arch, layer = load(sys.argv[1], sys.argv[2])
    model = [sys.executable, str(MODEL), "0", sys.argv[3]]
    space, traces = Mapspace(arch, layer, "ruby-s"), {}
    for name, samples in SEARCHES.items():
        for seed in range(3):
            options = SearchOptions(name, samples=samples, victory=None, seed=seed, jobs=2, cost_model=model)
            traces[name, seed] = search(Task.of(space, energy_table(arch), options), Observers()).statistics.trace
    least = min(trace[-1][1] for trace in traces.values())
    print(f"{layer.name} on {arch.name}: best {least:.4g}")
    for name, samples in SEARCHES.items():
        own = [traces[name, seed] for seed in range(3)]
        near = [next((n for n, value in trace if value <= NEAR * least), None) for trace in own]
        row = " / ".join(f"over {samples}" if n is None else str(n) for n in near)
        ends = " / ".join(f"{trace[-1][1] / least:.3f}" for trace in own)
        print(
            f"| `{name}` | {row} | {ends} |", *(f"{n}:" + "/".join(f"{_at(t, n) / least:.2f}" for t in own) for n in AT)
        )


def _at(trace: list[tuple[int, float]], n: int) -> float:
    return min((value for seen, value in trace if seen <= n), default=float("inf"))


if __name__ == "__main__":
    main()
