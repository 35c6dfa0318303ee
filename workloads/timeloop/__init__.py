"""Reads Timeloop's problems as workloads and writes them; reads the values of any of Timeloop's files."""

from .problem import read_timeloop_problem, write_timeloop_problem
from .roots import REFUSED, ROOTS, read_timeloop, root_faults
from .values import TIMELOOP_TAGS, Factor, Reader, choices

__all__ = [
    "REFUSED",
    "ROOTS",
    "TIMELOOP_TAGS",
    "Factor",
    "Reader",
    "choices",
    "read_timeloop",
    "read_timeloop_problem",
    "root_faults",
    "write_timeloop_problem",
]
