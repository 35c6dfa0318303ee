"""Reads Timeloop's architectures and constraints, and writes both."""

from .apply import MOST_LOOPS, apply_timeloop_constraints
from .read import read_timeloop_arch
from .write import dummy_name, write_timeloop_arch
from .write_constraints import write_timeloop_constraints
from .write_nodes import NodeDumper, write_timeloop_nodes

__all__ = [
    "MOST_LOOPS",
    "NodeDumper",
    "apply_timeloop_constraints",
    "dummy_name",
    "read_timeloop_arch",
    "write_timeloop_arch",
    "write_timeloop_constraints",
    "write_timeloop_nodes",
]
