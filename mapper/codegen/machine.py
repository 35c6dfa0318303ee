"""The processor at hand: its caches, cores and vectors as the system tells them, its rates as programs measure them."""

import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from .program import ProgramError, compiler, run

CPUS = Path("/sys/devices/system/cpu")
INFO = Path("/proc/cpuinfo")
VECTORS = (("avx512f", 64, 32), ("avx2", 32, 16), ("asimd", 16, 32))  # a flag of the processor, bytes, registers
PLAIN = (16, 16)  # of any other
UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}
FLAGS = "-O3 -march=native -std=gnu11"
DRAM_BYTES = 2**28  # what a program reads to measure memory, at least; four times the largest cache else


@dataclass(frozen=True)
class Cache:
    """A cache of data. Bytes are those of one of them."""

    name: str  # L1, L2...
    size: int
    line: int  # bytes
    cores: int  # that share one
    ways: int = 0  # lines of a set; 0: unknown

    @property
    def sets(self) -> int:
        """The sets of lines."""
        return self.size // (self.ways * self.line) if self.ways else 0


@dataclass(frozen=True)
class Processor:
    """A processor, and what one of its cores does in a second."""

    model: str
    cores: int
    vector_bytes: int
    registers: int  # vector registers of a core
    caches: tuple[Cache, ...]  # innermost first
    peak_gflops: float = 0.0  # multiply-and-add of float32, two operations each
    gb_per_second: tuple[tuple[str, float], ...] = ()  # read from each cache and from DRAM


def described(cpus: Path = CPUS, info: Path = INFO, vector_bytes: int | None = None) -> Processor:
    """Read caches, cores and vectors, or take these to be of `vector_bytes`.

    Raises ProgramError where the system tells nothing of its caches.
    """
    text = info.read_text(errors="replace") if info.exists() else ""
    flags = set(_line(text, "flags").split() + _line(text, "Features").split())
    known = [(size, number) for flag, size, number in VECTORS if flag in flags and vector_bytes in (None, size)]
    bytes_, registers = known[0] if known else (vector_bytes or PLAIN[0], PLAIN[1])
    caches = tuple(sorted(_caches(cpus), key=lambda cache: cache.name))
    if not caches:
        raise ProgramError(f"{cpus} says nothing of caches: write the architecture by hand")
    model = _line(text, "model name") or platform.processor() or platform.machine()
    return Processor(model, _cores(cpus), bytes_, registers, caches)


def measured_machine(machine: Processor) -> Processor:
    """Measure the rates of one core by programs in C, some seconds in all. Raises ProgramError."""
    sizes = {cache.name: cache.size // cache.cores // 2 for cache in machine.caches}
    sizes["DRAM"] = max(DRAM_BYTES, 4 * max(cache.size for cache in machine.caches))
    with TemporaryDirectory(prefix="ruby-machine-") as name:
        folder = Path(name)
        (folder / "probe.c").write_text(PROBE.replace("BYTES", str(machine.vector_bytes)))
        run([*compiler(), *FLAGS.split(), "-o", "probe", "probe.c"], folder, "the compiler fails")
        lines = run(["./probe", *map(str, sizes.values())], folder, "the measurement fails").split()
    peak, *rates = map(float, lines)
    rounded = tuple((level, _rounded(rate)) for level, rate in zip(sizes, rates, strict=True))
    return Processor(
        machine.model, machine.cores, machine.vector_bytes, machine.registers, machine.caches, _rounded(peak), rounded
    )


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def _line(text: str, key: str) -> str:
    match = re.search(rf"^{key}\s*:\s*(.*)$", text, re.MULTILINE)
    return match[1].strip() if match else ""


def _siblings(cpus: Path, number: int) -> str:
    """The hardware threads of the core of a processor, as a list; the processor itself where nothing is known."""
    path = cpus / f"cpu{number}" / "topology" / "thread_siblings_list"
    return path.read_text().strip() if path.exists() else str(number)


def _cores(cpus: Path) -> int:
    """The cores on which this process may run; hardware threads of one core are one."""
    return len({_siblings(cpus, number) for number in os.sched_getaffinity(0)})


def _file_number(path: Path) -> int:
    """The whole number in a file; 0 where there is none."""
    text = path.read_text().strip() if path.exists() else ""
    return int(text) if text.isdigit() else 0


def _caches(cpus: Path) -> Sequence[Cache]:
    """The caches of the first processor that hold data."""
    caches, threads = [], _number(_siblings(cpus, 0))
    for folder in sorted((cpus / "cpu0/cache").glob("index*")):
        attributes = {
            name: (folder / name).read_text().strip() for name in ("level", "type", "size") if (folder / name).exists()
        }
        size = re.fullmatch(r"([1-9]\d*)([KMG]?)", attributes.get("size", ""))
        if attributes.get("type") in ("Data", "Unified") and size and attributes.get("level"):
            shared = folder / "shared_cpu_list"
            caches.append(
                Cache(
                    f"L{attributes['level']}",
                    int(size[1]) * UNITS.get(size[2], 1),
                    _file_number(folder / "coherency_line_size") or 64,
                    -(-_number(shared.read_text()) // threads) if shared.exists() else 1,
                    _file_number(folder / "ways_of_associativity"),
                )
            )
    return caches


def _number(cpus: str) -> int:
    """How many processors a list names.

    >>> _number("0-3,8")
    5
    """
    parts = [part.split("-") for part in cpus.strip().split(",") if part]
    return max(1, sum(int(part[-1]) - int(part[0]) + 1 for part in parts))


# Prints the peak of multiply-and-add in GFLOP/s, then the rate of reading in GB/s for each size in bytes.
PROBE = """\
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef float vector __attribute__((vector_size(BYTES)));
enum { LANES = BYTES / sizeof(float), SUMS = 12, SECONDS_IN_TENTHS = 4 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static volatile float start = 1.0f, sink;

static double peak(void) {
    vector a = {0}, b = {0}, sums[SUMS];
    a += 1e-9f * start, b += start;
    for (int i = 0; i < SUMS; ++i) sums[i] = b + (float)i;
    double best = 0, began = now();
    while (now() - began < SECONDS_IN_TENTHS * 0.1) {
        const long steps = 200000;
        double from = now();
        for (long step = 0; step < steps; ++step)
#pragma GCC unroll 12
            for (int i = 0; i < SUMS; ++i) sums[i] = sums[i] * b + a;
        double rate = 2.0 * LANES * SUMS * steps / (now() - from) / 1e9;
        if (rate > best) best = rate;
    }
    for (int i = 0; i < SUMS; ++i) sink += sums[i][0];
    return best;
}

static double reading(long bytes) {
    long vectors = bytes / sizeof(vector) / 8 * 8;
    vector *data = aligned_alloc(BYTES, vectors * sizeof(vector));
    if (!data) { fprintf(stderr, "no memory for %ld bytes\\n", bytes); exit(1); }
    for (long i = 0; i < vectors; ++i) data[i] = (vector){0} + start;
    vector sums[8] = {{0}};
    double best = 0, began = now();
    long times = 1 + 8000000 / bytes;
    while (now() - began < SECONDS_IN_TENTHS * 0.1) {
        double from = now();
        for (long time = 0; time < times; ++time) {
            for (long i = 0; i < vectors; i += 8)
#pragma GCC unroll 8
                for (int j = 0; j < 8; ++j) sums[j] += data[i + j];
            __asm__ volatile("" ::: "memory");
        }
        double rate = (double)times * vectors * sizeof(vector) / (now() - from) / 1e9;
        if (rate > best) best = rate;
    }
    for (int j = 0; j < 8; ++j) sink += sums[j][0];
    free(data);
    return best;
}

int main(int argc, char **argv) {
    printf("%.4g\\n", peak());
    for (int i = 1; i < argc; ++i) printf("%.4g\\n", reading(atol(argv[i])));
    return 0;
}
"""
