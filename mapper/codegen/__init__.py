"""Programs that do what a mapping says, written, compiled and run."""

from .backends import BACKENDS
from .data_types import DATA_TYPES, DataType
from .machine import Processor, described, measured_machine
from .machine_file import machine_yaml
from .nest import Loop, Nest
from .program import Backend, Measurement, ProgramError, compared, compiler, compiler_version, memory_faults, run
from .program_counts import ProgramCounts
from .program_seconds import measured_nest, predicted, predicted_seconds, sampled
from .reference import Array, expected, operands

__all__ = [
    "measured_nest",
    "predicted",
    "predicted_seconds",
    "sampled",
    "ProgramCounts",
    "Processor",
    "described",
    "machine_yaml",
    "measured_machine",
    "Array",
    "BACKENDS",
    "Backend",
    "DATA_TYPES",
    "DataType",
    "Loop",
    "Measurement",
    "Nest",
    "ProgramError",
    "compared",
    "compiler",
    "compiler_version",
    "expected",
    "memory_faults",
    "operands",
    "run",
]
