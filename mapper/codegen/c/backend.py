"""The back end that writes C, with GNU's vectors and OpenMP."""

import os
from collections.abc import Mapping
from pathlib import Path

from ....workloads import Fault
from ..data_types import DataType
from ..nest import Nest
from ..program import Measurement, compiler, measured, memory_faults, run, thread_faults
from .files import FLAGS, c_files
from .kernel import Kernel


class CBackend:
    """C as gcc and clang know it."""

    name = "c"
    calibrated = True

    def faults(self, nest: Nest, kind: DataType) -> list[Fault]:
        """Say why it cannot write a nest: threads run one axis at most, and memory must hold what it computes with."""
        return thread_faults(nest.arch) or memory_faults(nest.workload, kind, Kernel(nest, kind).buffer_bytes)

    def files(self, nest: Nest, kind: DataType) -> Mapping[str, str]:
        """Write kernel.c, kernel.h, check.c and a Makefile."""
        return c_files(Kernel(nest, kind))

    def measured(self, folder: Path, nest: Nest, kind: DataType, seed: int) -> Measurement:
        """Compile and run the program, compare and time it."""
        compile_c(folder, Kernel(nest, kind).plan.threads)
        return measured(["./program"], folder, nest, kind, seed)


def compile_c(folder: Path, threads: int = 1) -> None:
    """Compile check.c and kernel.c as the Makefile does. Raises ProgramError with the compiler's message."""
    flags = os.environ.get("CFLAGS", FLAGS)
    parallel = ["-fopenmp"] if threads > 1 else []
    (folder / "program").unlink(missing_ok=True)  # that of an earlier kernel
    command = [*compiler(), *flags.split(), *parallel, "-o", "program", "check.c", "kernel.c", "-lm"]
    run(command, folder, "the compiler fails")
