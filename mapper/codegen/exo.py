"""The back end that writes schedules for Exo (exo-lang), which makes C of them: perfect mappings alone."""

import sys
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path

import numpy as np

from ...workloads import Fault
from .c import Kernel, check_files, compile_c
from .data_types import DataType
from .nest import Nest, separate_dims
from .plain import Plain, title
from .program import Measurement, measured, memory_faults, need, run, thread_faults

TYPES = {"float32": "f32", "float64": "f64", "int8": "i8", "int32": "i32"}  # of NumPy: of Exo


class ExoBackend:
    """Exo proves of each step of a schedule that it computes the same as before."""

    name = "exo"
    calibrated = False

    def faults(self, nest: Nest, kind: DataType) -> list[Fault]:
        """Say why it cannot write a nest: a dim has remainders, threads run two axes, memory is too small."""
        return [*_remainder_faults(nest), *thread_faults(nest.arch)] or memory_faults(nest.workload, kind)

    def files(self, nest: Nest, kind: DataType) -> Mapping[str, str]:
        """Write schedule.py, a kernel.c that calls what Exo makes of it, and the files that check and time that."""
        kernel, threads = Kernel(nest, kind), _threads(nest)
        checks = check_files(kernel, threads, "layer.c", "python3 schedule.py")
        return {"schedule.py": _schedule(nest, kind), "kernel.c": _adapter(kernel, threads), **checks}

    def measured(self, folder: Path, nest: Nest, kind: DataType, seed: int) -> Measurement:
        """Let Exo check the schedule and write C; compile, run, compare and time that."""
        need("exo", "exo")
        run([sys.executable, "schedule.py"], folder, "schedule.py fails")
        compile_c(folder, _threads(nest))
        return measured(["./program"], folder, nest, kind, seed)


def _remainder_faults(nest: Nest) -> Iterator[Fault]:
    """Say for each dim that its loops do not divide it."""
    workload = nest.workload
    for d, (dim, size) in enumerate(zip(workload.dims, workload.sizes, strict=True)):
        bounds = [loop.bound for loop in nest.loops if loop.dim == d]
        if prod(bounds) != size:
            detail = f"the loops over {dim} run {' x '.join(map(str, bounds))} steps, its size is {size}"
            rule = "exo writes perfect mappings alone (--mapspace pfm finds some)"
            yield Fault(workload.name, None, dim, f"{rule}; {detail}")


def _parallel(nest: Nest) -> int | None:
    """The place of the loop whose steps go to threads; None where there is none."""
    safe = separate_dims(nest.workload)
    return next((place for place, loop in enumerate(nest.loops) if loop.code == "threads" and loop.dim in safe), None)


def _threads(nest: Nest) -> int:
    place = _parallel(nest)
    return 1 if place is None else nest.loops[place].bound


def _adapter(kernel: Kernel, threads: int) -> str:
    """The text of kernel.c."""
    lines = [
        "/* The function that check.c calls, by the one that Exo makes of schedule.py. */",
        '#include "kernel.h"',
        *(["#include <omp.h>"] if threads > 1 else []),
        '#include "layer.c"',
        "",
        f"{kernel.signature()} {{",
        *([f"    omp_set_num_threads({threads});"] if threads > 1 else []),
        f"    layer(0, {', '.join(kernel.arrays)});",
        "    return 0;",
        "}",
    ]
    return "\n".join([*lines, ""])


def _schedule(nest: Nest, kind: DataType) -> str:
    """The text of schedule.py."""
    plain = Plain(nest)
    steps = [f"layer = {step}" for step in _steps(plain)]
    used = [
        operation
        for operation in ("divide_loop", "parallelize_loop", "reorder_loops")
        if f"{operation}(" in "".join(steps)
    ]
    lines = [
        f'"""{title(nest, kind)}, as a schedule for Exo.',
        "",
        "python3 schedule.py: checks the schedule, prints its loops, and writes them as C to layer.c and layer.h.",
        '"""',
        "",
        "from __future__ import annotations  # Exo reads the types of arguments; Python need not",
        "",
        "from pathlib import Path",
        "",
        "from exo import DRAM, compile_procs_to_strings, proc",
        f"from exo.stdlib.scheduling import {', '.join(sorted([*used, 'rename']))}",
        "",
        "",
        *_plain(plain, kind),
        "",
        "",
        "# The loops of the mapping, outermost first: M_0 is the loop over M in place 0; M is what is left of it.",
        'layer = rename(plain, "layer")',
        *steps,
        "",
        'if __name__ == "__main__":',
        '    source, header = compile_procs_to_strings([layer], "layer.h")',
        '    Path("layer.c").write_text(source)',
        '    Path("layer.h").write_text(header)',
        "    print(layer)",
    ]
    return "\n".join([*lines, ""])


def _plain(plain: Plain, kind: DataType) -> Iterator[str]:
    """The procedure that a schedule begins with: a loop for each dim."""
    yield "@proc"
    yield "def plain("
    for v, array in enumerate(plain.arrays):
        word = kind.numpy_output if v == plain.nest.output else kind.numpy
        yield f"    {array}: {TYPES[np.dtype(word).name]}[{', '.join(map(str, plain.sizes(v)))}] @ DRAM,"
    yield "):"
    for depth, d in enumerate(plain.dims, 1):
        yield f"{'    ' * depth}for {plain.loops[d]} in seq(0, {plain.nest.workload.sizes[d]}):"
    factors = [plain.word(v) for v in plain.inputs] or ["1.0"]
    yield plain.statement(f"{plain.word(plain.nest.output)} +=", factors, len(plain.dims) + 1)


def _steps(plain: Plain) -> Iterator[str]:
    """The steps of a schedule: each loop in turn is divided from the rest of its dim, and moved outside all rests."""
    nest, remaining = plain.nest, plain.dims
    names = []
    for place, loop in enumerate(nest.loops):
        rest = plain.loops[loop.dim]
        last = plain.places(loop.dim)[-1] == place
        names.append(rest if last else f"{rest}_{place}")
        if not last:
            yield f'divide_loop(layer, "{rest}", {loop.stride}, ["{names[-1]}", "{rest}"], perfect=True)'
        at = remaining.index(loop.dim)
        for outside in reversed(remaining[:at]):
            yield f'reorder_loops(layer, "{plain.loops[outside]} {names[-1]}")'
        if last:
            remaining = remaining[:at] + remaining[at + 1 :]
    threads = _parallel(nest)
    if threads is not None:
        yield f'parallelize_loop(layer, "{names[threads]}")'
