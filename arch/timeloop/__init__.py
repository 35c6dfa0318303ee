"""Reads Timeloop's architectures and constraints, and writes architectures."""

from .apply import apply_timeloop_constraints
from .read import read_timeloop_arch
from .write import write_timeloop_arch

__all__ = [
    "apply_timeloop_constraints",
    "read_timeloop_arch",
    "write_timeloop_arch",
]
