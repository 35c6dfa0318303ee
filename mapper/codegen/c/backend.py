"""The back end that writes C, with GNU's vectors and OpenMP."""

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ....workloads import Fault
from ..data_types import DataType
from ..nest import Nest
from ..program import Measurement, compared, compiler, memory_faults, run
from ..reference import operands
from .files import FLAGS, c_files
from .kernel import Kernel


class CBackend:
    """C as gcc and clang know it."""

    name = "c"
    calibrated = True

    def faults(self, nest: Nest, kind: DataType) -> list[Fault]:
        """Say why it cannot write a nest: threads run one axis at most, and memory must hold what it computes with."""
        arch = nest.arch
        axes = [axis.name for level in arch.levels for axis in level.fanout if axis.code == "threads"]
        if len(axes) > 1:
            return [Fault(arch.name, None, "code", f"threads run one axis at most; these say so: {', '.join(axes)}")]
        return memory_faults(nest.workload, kind, Kernel(nest, kind).buffer_bytes)

    def files(self, nest: Nest, kind: DataType) -> Mapping[str, str]:
        """Write kernel.c, kernel.h, check.c and a Makefile."""
        return c_files(Kernel(nest, kind))

    def measured(self, folder: Path, nest: Nest, kind: DataType, seed: int) -> Measurement:
        """Compile and run the program, compare and time it."""
        compile_c(folder, Kernel(nest, kind).threads)
        inputs = operands(nest.workload, kind, seed)
        with TemporaryDirectory(prefix="ruby-code-") as name:
            files = [Path(name) / f"{number}.bin" for number in range(len(inputs) + 1)]
            for path, array in zip(files, inputs.values(), strict=False):
                array.tofile(path)
            lines = run(["./program", *map(str, files)], folder, "the program fails").split()
            output = np.fromfile(files[-1], kind.numpy_output)
        return compared(output, inputs, [float(line) for line in lines], nest, kind)


def compile_c(folder: Path, threads: int = 1) -> None:
    """Compile check.c and kernel.c as the Makefile does. Raises ProgramError with the compiler's message."""
    flags = os.environ.get("CFLAGS", FLAGS)
    parallel = ["-fopenmp"] if threads > 1 else []
    command = [compiler(), *flags.split(), *parallel, "-o", "program", "check.c", "kernel.c", "-lm"]
    run(command, folder, "the compiler fails")
