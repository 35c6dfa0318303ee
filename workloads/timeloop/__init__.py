"""Reads Timeloop's problems as workloads and writes them; reads the values of any of Timeloop's files."""

from ..faults import InputWarning
from .names import Names, Siblings
from .problem import read_timeloop_problem, write_timeloop_problem
from .roots import REFUSED, ROOTS, read_timeloop, root_faults, warn_idle
from .values import TIMELOOP_TAGS, Factor, Reader, choices, dense_part

__all__ = [
    "REFUSED",
    "ROOTS",
    "TIMELOOP_TAGS",
    "Factor",
    "InputWarning",
    "Names",
    "Reader",
    "Siblings",
    "choices",
    "dense_part",
    "read_timeloop",
    "read_timeloop_problem",
    "root_faults",
    "warn_idle",
    "write_timeloop_problem",
]
