"""Programs that do what a mapping says, written, compiled and run."""

from .backends import BACKENDS
from .data_types import DATA_TYPES, DataType
from .nest import Loop, Nest, with_codes
from .program import Backend, Measurement, ProgramError, compared, compiler, memory_faults, run
from .reference import Array, expected, operands, tolerance

__all__ = [
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
    "expected",
    "memory_faults",
    "operands",
    "run",
    "tolerance",
    "with_codes",
]
