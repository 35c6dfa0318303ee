"""How fast a store of many mappings opens and answers: `python benchmarks/bench_store.py`.

Claim to hold: with 100,000 mappings of a problem it opens and gives the best in less than 0.2 s.
"""

import argparse
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model import evaluate, validity
from ruby_map.mapper.problem import Problem
from ruby_map.mapper.store import MappingSource, Origin, Store, StoredMapping, key_of, plain_mappings, read_mappings
from ruby_map.mapper.store.write import put_mapping, put_problem
from ruby_map.workloads import load_workload

LEAST = 0.2  # seconds
DATE = "2030-01-01T00:00:00Z"


def rows(problem: Problem, number: int) -> list[StoredMapping]:
    """Draw valid mappings, with costs as a batch has them."""
    space, mappings = Mapspace(problem.arch, problem.workload, "ruby"), dict[str, StoredMapping]()
    rng = np.random.default_rng(0)
    while len(mappings) < number:
        batch = space.sample(rng, 8192)
        batch = batch.take(np.flatnonzero(validity(batch) == 0))
        costs = evaluate(batch, problem.energies, problem.charges)
        for mapping, energy, cycles in zip(plain_mappings(batch), costs.energy_pj, costs.cycles, strict=True):
            key, figures = key_of(mapping), (float(energy), int(cycles))
            mappings[key] = StoredMapping(
                key, mapping, problem.goal.values(*figures), *figures, DATE, (Origin(DATE, "random", "ruby"),)
            )
    return list(mappings.values())[:number]


def timed(what: str, began: float) -> float:
    """Print how long it took."""
    seconds = perf_counter() - began
    print(f"{what:<44} {seconds:8.3f} s")  # noqa: T201
    return seconds


def main() -> None:
    """Fill a store, open it, look up the best, and read it as other searches do."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    number = parser.parse_args().rows
    arch, workload = load_arch("eyeriss_like"), load_workload("resnet50/conv2_x_3x3")
    problem = Problem(arch, workload, energy_table(arch))
    every = rows(problem, number)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.sqlite"
        began = perf_counter()
        with Store(path) as store, store.writing() as database:
            place = put_problem(database, problem)
            for held in every:
                put_mapping(database, place, held, counted=True)
        timed(f"{number:,} mappings written", began)
        print(f"{'':<44} {path.stat().st_size / number:8.0f} bytes a mapping")  # noqa: T201
        began = perf_counter()
        with Store(path) as store:
            best = store.best(problem)
            seconds = timed("opened, the best found", began)
            assert best is not None
            assert best.values[0] == min(held.values[0] for held in every)
            began = perf_counter()
            store.checked(problem)
            timed("the best 16 counted again", began)
            began = perf_counter()
            ((_, held_rows),) = list(store.every(-1))
            timed("all rows read", began)
            began = perf_counter()
            read_mappings(arch, workload, [held.mapping for held in held_rows])
            timed("made a batch", began)
            began = perf_counter()
            store.add(problem, read_mappings(arch, workload, [best.mapping])[0], MappingSource("hand"))
            timed("a mapping counted and added", began)
    print("holds" if seconds < LEAST else f"does not hold: {LEAST} s")  # noqa: T201


if __name__ == "__main__":
    main()
