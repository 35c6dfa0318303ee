"""How fast mapspaces are searched: `python benchmarks/bench_search.py [--csv FILE]`.

Per mapspace, number of workers and engine, with pruning and without, in steady state: mappings per second of wall time,
and per CPU-second of this process and its workers together; the share of those CPU-seconds that is scoring (the rest is
handing out work and recording); and the ratio to a fixed NumPy workload measured right before and after, so that
figures from different machines compare. `numpy` is the ratio to the engine NumPy measured just before, `compile_s` what
this process spent on it until its first chunk was done. Wall time says little where others use the machine: `load` is
what the system reports. With `--batches`, the model alone instead: mappings evaluated per CPU-second by batch size.
"""

import argparse
import csv
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import count, islice, product
from time import perf_counter, process_time

import numpy as np
from joblib import wrap_non_picklable_objects
from joblib.externals.loky import get_reusable_executor
from ruby_map.arch import load_arch
from ruby_map.energy import EnergyTable, energy_table
from ruby_map.mapper.mapspace.lazy_batch import LazyBatch
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.model.cost import Costs, evaluate, validity
from ruby_map.mapper.problem import OBJECTIVES
from ruby_map.mapper.problem.charges import Charges
from ruby_map.mapper.runtime.parallel import in_order
from ruby_map.mapper.search import RandomDraws, Task
from ruby_map.mapper.search.engines import ENGINES, score
from ruby_map.mapper.search.engines.jax_engine import JaxEngine
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.proposer import CHUNK
from ruby_map.mapper.search.recorder import Recorder, RecordThreshold, Scores, Stop
from ruby_map.mapper.search.score import ScoringTask
from ruby_map.workloads import load_workload

MAPSPACES = ("pfm", "ruby-s", "ruby-t", "ruby")
FIELDS = ["arch", "workload", "mapspace", "workers", "pruning", "engine", "chunks", "compile_s", "start_s"]
FIELDS += ["wall_per_s", "cpu_per_s", "numpy", "scoring", "fixed_M_per_s", "ratio", "load"]
MODEL_FIELDS = [
    "arch",
    "workload",
    "mapspace",
    "engine",
    "batch",
    "cpu_per_s",
    "numpy",
    "fixed_M_per_s",
    "ratio",
    "load",
]
MODEL_SHARE = 200_000  # mappings evaluated per figure
ROUNDS = 32  # of the fixed workload, between looks at the clock


def timed_score(
    problem: ScoringTask, chunks: Sequence[int], known: RecordThreshold
) -> list[tuple[Scores, int, float, float]]:
    """Each chunk's scores, the process that made them, its share of the CPU-seconds that took, and all used so far."""
    began = process_time()
    results = score(problem, chunks, known)
    share = (process_time() - began) / len(chunks)
    return [(scores, os.getpid(), share, began + share * done) for done, scores in enumerate(results, 1)]


def yardstick(seconds: float = 0.5) -> float:
    """Millions of numbers per CPU-second of a fixed workload like a chunk's: gathers and products in cache.

    Into arrays made before: new ones would be mapped anew or not, by what the process did earlier.
    """
    rng = np.random.default_rng(0)
    table, (one, other) = rng.random(4096), rng.integers(0, 4096, (2, CHUNK))
    a, b = np.empty((2, CHUNK))
    rounds, began = 0, process_time()
    while process_time() - began < seconds:
        for _ in range(ROUNDS):
            table.take(one, out=a, mode="clip")
            table.take(other, out=b, mode="clip")
            np.multiply(a, b, out=a).sum()
        rounds += ROUNDS
    return rounds * CHUNK / (process_time() - began) / 1e6


def measure(problem: ScoringTask, jobs: int, chunks: int) -> dict[str, float]:
    """Of `chunks` chunks, after a start of as many workers and a few tasks each: rates and what is not scoring."""
    work = timed_score if jobs == 1 else wrap_non_picklable_objects(timed_score)  # it lives in no importable module
    recorder, inside = Recorder(Stop(None, None, None, None)), 0.0
    began = perf_counter()
    with closing(in_order(work, problem, count(), jobs, learnt=recorder.known)) as results:
        first = next(results)
        start = perf_counter() - began
        recorder.record(first[0], 0.0)
        seen, warm = {first[1]}, 60 * jobs
        while warm > 0 or len(seen) < jobs:  # until tasks have their full size, and every worker its compiled functions
            scores, pid, *_ = next(results)
            recorder.record(scores, 0.0)
            seen, warm = seen | {pid}, warm - 1
        began, used = perf_counter(), {os.getpid(): [process_time()]}
        for scores, pid, cpu, total in islice(results, chunks):
            recorder.record(scores, 0.0)
            used.setdefault(pid, [total - cpu]).append(total)
            inside += cpu
        wall = perf_counter() - began
    used[os.getpid()].append(process_time())
    cpu = sum(max(several) - several[0] for several in used.values())
    mappings = chunks * CHUNK
    return {"start_s": start, "wall": mappings / wall, "cpu": mappings / cpu, "scoring": inside / cpu}


def rows(options: argparse.Namespace) -> Iterator[dict[str, object]]:
    """A row per mapspace, number of workers and engine, with pruning and without."""
    machine, layer = load_arch(options.arch), load_workload(options.workload)
    for name in options.mapspaces:
        space = Mapspace(machine, layer, name)
        space.prepare()
        numpy_rate = 0.0
        for jobs, prune, engine in product(options.workers, (True, False), options.engines):
            task = Task.of(space, energy_table(machine), SearchOptions(prune=prune, engine=engine))
            problem = ScoringTask(task, RandomDraws())
            began = process_time()
            score(problem, [0], RecordThreshold())
            compile_s, before = process_time() - began, yardstick()
            get_reusable_executor().shutdown()  # it replaces workers that grow by 300 MB, as by the first use of JAX
            figures = measure(problem, jobs, options.chunks)
            fixed = (before + yardstick()) / 2
            numpy_rate = figures["cpu"] if engine == options.engines[0] else numpy_rate
            yield {
                "arch": options.arch, "workload": options.workload, "mapspace": name, "workers": jobs, "pruning": prune,
                "engine": engine, "chunks": options.chunks, "compile_s": round(compile_s, 2),
                "start_s": round(figures["start_s"], 2), "wall_per_s": round(figures["wall"]),
                "cpu_per_s": round(figures["cpu"]), "numpy": round(figures["cpu"] / numpy_rate, 2),
                "scoring": round(figures["scoring"], 3), "fixed_M_per_s": round(fixed, 1),
                "ratio": round(figures["cpu"] / fixed / 1e6, 6), "load": round(os.getloadavg()[0], 1),
            }  # fmt: skip


def model_rows(options: argparse.Namespace) -> Iterator[dict[str, object]]:
    """A row per mapspace, batch size and engine: the model alone, of valid mappings drawn before."""
    machine, layer = load_arch(options.arch), load_workload(options.workload)
    table, edp = energy_table(machine), (OBJECTIVES["edp"],)
    for name in options.mapspaces:
        space, numpy_rate = Mapspace(machine, layer, name), 0.0
        for size, engine in product(options.batches, options.engines):
            draw = valid_draw(space, size)
            if engine == "jax":
                values = partial(JaxEngine(space, table, Charges(), edp, block=size).values, draw)
            else:
                values = partial(_evaluate, draw, table)
            before, times = yardstick(), max(1, MODEL_SHARE // size)
            for _ in range(3):  # compiles, makes tables
                values()
            began = process_time()
            for _ in range(times):
                values()
            rate = times * size / (process_time() - began)
            numpy_rate = rate if engine == options.engines[0] else numpy_rate
            fixed = (before + yardstick()) / 2
            yield {
                "arch": options.arch, "workload": options.workload, "mapspace": name, "engine": engine, "batch": size,
                "cpu_per_s": round(rate), "numpy": round(rate / numpy_rate, 2), "fixed_M_per_s": round(fixed, 1),
                "ratio": round(rate / fixed / 1e6, 6), "load": round(os.getloadavg()[0], 1),
            }  # fmt: skip


def _evaluate(draw: LazyBatch, table: EnergyTable) -> Costs:
    """As a search does: of mappings taken from a draw, whose loop orders nothing has looked at."""
    return evaluate(draw.take(slice(None)), table)


def valid_draw(space: Mapspace, size: int) -> LazyBatch:
    """So many valid mappings."""
    draws: list[LazyBatch] = []
    for seed in count():
        draw = space.draw(np.random.default_rng(seed), CHUNK)
        draws.append(draw.take(np.flatnonzero(validity(draw.arranged()) == 0)))
        if sum(map(len, draws)) >= size:
            return LazyBatch.joined(draws).take(slice(size))
    raise AssertionError


def main() -> None:
    """Print the table, and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arch", default="eyeriss_like")
    parser.add_argument("--workload", default="resnet50/conv3_x_3x3")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--chunks", type=int, default=100, help="of 8192 mappings")
    parser.add_argument("--mapspaces", nargs="+", default=list(MAPSPACES))
    parser.add_argument(
        "--engines", nargs="+", choices=ENGINES, default=list(ENGINES), help="the first is what `numpy` compares with"
    )
    parser.add_argument("--batches", type=int, nargs="+", help="the model alone, with batches of so many mappings")
    parser.add_argument("--csv", type=argparse.FileType("w"), default=sys.stdout)
    options = parser.parse_args()
    writer = csv.DictWriter(options.csv, MODEL_FIELDS if options.batches else FIELDS, lineterminator="\n")
    writer.writeheader()
    for row in model_rows(options) if options.batches else rows(options):
        writer.writerow(row)
        options.csv.flush()


if __name__ == "__main__":
    main()
