"""How fast mapspaces are searched: `python benchmarks/bench_search.py [--csv FILE]`.

Per mapspace and number of workers, with pruning and without, in steady state: mappings per second of wall time, and per
CPU-second of this process and its workers together; the share of those CPU-seconds that is scoring (the rest is handing
out work and recording); and the ratio to a fixed NumPy workload measured right before and after, so that figures from
different machines compare. Wall time says little where others use the machine: `load` is what the system reports.
"""

import argparse
import csv
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import count, islice, product
from time import perf_counter, process_time

import numpy as np
from joblib import wrap_non_picklable_objects
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.parallel import in_order
from ruby_map.mapper.record import Known, Recorder, Scores, Stop
from ruby_map.mapper.search import CHUNK, Problem, score
from ruby_map.workloads import load_workload

MAPSPACES = ("pfm", "ruby-s", "ruby-t", "ruby")
FIELDS = ["arch", "workload", "mapspace", "workers", "pruning", "chunks", "start_s", "wall_per_s", "cpu_per_s"]
FIELDS += ["scoring", "fixed_M_per_s", "ratio", "load"]
YARDSTICK = 4096 * 64  # numbers gathered, multiplied and summed per round


def timed_score(problem: Problem, chunks: Sequence[int], known: Known) -> list[tuple[Scores, int, float, float]]:
    """Each chunk's scores, the process that made them, its share of the CPU-seconds that took, and all used so far."""
    began = process_time()
    found = score(problem, chunks, known)
    each = (process_time() - began) / len(chunks)
    return [(scores, os.getpid(), each, began + each * done) for done, scores in enumerate(found, 1)]


def yardstick(seconds: float = 0.5) -> float:
    """Millions of numbers per CPU-second of a fixed workload like a chunk's: gathers and products in cache."""
    rng = np.random.default_rng(0)
    table, rows = rng.random(4096), rng.integers(0, 4096, YARDSTICK)
    rounds, began = 0, process_time()
    while process_time() - began < seconds:
        (table[rows] * table[rows[::-1]]).sum()
        rounds += 1
    return rounds * YARDSTICK / (process_time() - began) / 1e6


def measure(problem: Problem, jobs: int, chunks: int) -> dict[str, float]:
    """Of `chunks` chunks, after a start of as many workers and a few tasks each: rates and what is not scoring."""
    work = timed_score if jobs == 1 else wrap_non_picklable_objects(timed_score)  # it lives in no importable module
    recorder, inside = Recorder(Stop(None, None, None, None)), 0.0
    began = perf_counter()
    with closing(in_order(work, problem, count(), jobs, learnt=recorder.known)) as results:
        first = next(results)
        start = perf_counter() - began
        for scores, *_ in (first, *islice(results, 60 * jobs)):  # until tasks have their full size
            recorder.record(scores, 0.0)
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


def rows(arch: str, workload: str, workers: list[int], chunks: int) -> Iterator[dict[str, object]]:
    """A row per mapspace and number of workers, with pruning and without."""
    machine, layer = load_arch(arch), load_workload(workload)
    for name in MAPSPACES:
        space = Mapspace(machine, layer, name)
        space.prepare()
        for jobs, prune in product(workers, (True, False)):
            problem = Problem(space, energy_table(machine), prune=prune)
            score(problem, [0], Known())
            before = yardstick()
            found = measure(problem, jobs, chunks)
            fixed = (before + yardstick()) / 2
            yield {
                "arch": arch, "workload": workload, "mapspace": name, "workers": jobs, "pruning": prune,
                "chunks": chunks, "start_s": round(found["start_s"], 2), "wall_per_s": round(found["wall"]),
                "cpu_per_s": round(found["cpu"]), "scoring": round(found["scoring"], 3),
                "fixed_M_per_s": round(fixed, 1), "ratio": round(found["cpu"] / fixed / 1e6, 6),
                "load": round(os.getloadavg()[0], 1),
            }  # fmt: skip


def main() -> None:
    """Print the table, and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arch", default="eyeriss_like")
    parser.add_argument("--workload", default="resnet50/conv3_x_3x3")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--chunks", type=int, default=100, help="of 8192 mappings")
    parser.add_argument("--csv", type=argparse.FileType("w"), default=sys.stdout)
    options = parser.parse_args()
    writer = csv.DictWriter(options.csv, FIELDS, lineterminator="\n")
    writer.writeheader()
    for row in rows(options.arch, options.workload, options.workers, options.chunks):
        writer.writerow(row)
        options.csv.flush()


if __name__ == "__main__":
    main()
