"""How fast mapspaces are counted, sampled, numbered, and evaluated: `python benchmarks/bench_sampling.py`.

Claims to hold, on one core of a laptop: a batch of 16,384 mappings of a 7-dim layer on three levels in about 10 ms, no
longer than its evaluation takes (`draw/eval`, both timed in one run, below 1), and
full Ruby with a dim of 6144 on nine slots built and sampled within 5 s and 1 GiB.
"""

import argparse
import resource
import sys
from time import perf_counter

import numpy as np
from ruby_map.arch import FREE, Architecture, Axis, Compute, LoopConstraint, Storage
from ruby_map.energy import EnergyTable
from ruby_map.energy.spec import ComputeEnergy, LevelEnergy
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.model.cost import evaluate
from ruby_map.workloads import Tensor, Term, Workload

BATCH = 16384


def convolution(sizes: tuple[int, ...]) -> Workload:
    """A 7-dim convolution, sizes of N, M, C, P, Q, R, S."""
    inputs = ((Term("N"),), (Term("C"),), (Term("P"), Term("R")), (Term("Q"), Term("S")))
    weights, outputs = (tuple((Term(dim),) for dim in dims) for dims in ("MCRS", "NMPQ"))
    tensors = (Tensor("Inputs", inputs), Tensor("Weights", weights), Tensor("Outputs", outputs, output=True))
    return Workload("convolution", tuple("NMCPQRS"), sizes, tensors)


def machine(name: str, *fanouts: tuple[int, ...], inner: LoopConstraint = FREE) -> Architecture:
    """Levels with the axes of these sizes below each."""
    levels = tuple(
        Storage(
            f"L{index}",
            "SRAM",
            fanout=tuple(Axis(f"X{axis}", size) for axis, size in enumerate(fanout)),
            temporal=inner if index == len(fanouts) - 1 else FREE,
        )
        for index, fanout in enumerate(fanouts)
    )
    return Architecture(name, levels, Compute("MAC", "intmac"))


LAYER = (1, 256, 64, 56, 56, 3, 3)
CASES = [
    (machine("14 x 12", (), (14, 12), ()), LAYER, "pfm", False),
    (machine("14 x 12", (), (14, 12), ()), LAYER, "ruby-s", False),
    (machine("14 x 12", (), (14, 12), ()), LAYER, "ruby", False),
    (machine("14 x 12, 3 loops inside", (), (14, 12), (), inner=LoopConstraint(max_loops=3)), LAYER, "ruby-s", False),
    (machine("14 x 12, distinct orders", (), (14, 12), ()), LAYER, "ruby-s", True),
    (machine("nine slots 15, 4, 4", (), (15,), (4,), (), (4,), ()), (1, 6144, 2048, 56, 56, 3, 3), "ruby", False),
    (machine("256 x 256", (), (256, 256), ()), (1, 1024, 1000, 7, 7, 3, 3), "ruby-s", False),
]  # fmt: skip


def figures(arch: Architecture) -> EnergyTable:
    """1 pJ for everything: the time of an evaluation does not depend on the figures."""
    levels = tuple(LevelEnergy(level.name, 1, 1, 1, 0, 0, "benchmark") for level in arch.levels)
    return EnergyTable(arch.name, levels, ComputeEnergy(arch.compute.name, 1, 0, 0, "benchmark"))


def measure(arch: Architecture, sizes: tuple[int, ...], preset: str, distinct: bool, rounds: int) -> list[str]:
    """One line of the table: size, then milliseconds to build, for the first batch and the next, by number and back.

    Then to evaluate a batch, and how long drawing takes of that.
    """
    times = [perf_counter()]
    space = Mapspace(arch, convolution(sizes), preset, distinct=distinct)  # type: ignore[arg-type]
    size = str(space.size)
    times.append(perf_counter())
    rng = np.random.default_rng(0)
    space.sample(rng, BATCH)
    times.append(perf_counter())
    table = figures(arch)
    evaluate(space.sample(rng, BATCH), table)
    nexts, evaluations = [], []
    for _ in range(rounds):
        start = perf_counter()
        batch = space.sample(rng, BATCH)
        drawn = perf_counter()
        evaluate(batch, table)
        nexts.append(drawn - start)
        evaluations.append(perf_counter() - drawn)
    times.append(perf_counter())
    numbers = space.index(batch)
    times.append(perf_counter())
    space.at(numbers)
    times.append(perf_counter())
    build, first, _, index, at = np.diff(times)
    durations = (build, first, min(nexts), index, at, min(evaluations))
    return [size, *(f"{1e3 * seconds:.1f}" for seconds in durations), f"{min(nexts) / min(evaluations):.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10, help="batches timed; the fastest counts")
    rounds = parser.parse_args().rounds
    columns = ("machine", "mapspace", "mappings", "build", "first", "next", "index", "at", "evaluate", "draw/eval")
    row = "{:34} {:8} {:>10} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n"
    sys.stdout.write(f"batches of {BATCH}, times in ms\n" + row.format(*columns))
    for arch, sizes, preset, distinct in CASES:
        sys.stdout.write(row.format(arch.name, preset, *measure(arch, sizes, preset, distinct, rounds)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sys.stdout.write(f"largest memory of the process, evaluation included: {peak / 2**20:.2f} GiB\n")


if __name__ == "__main__":
    main()
