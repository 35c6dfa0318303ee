"""Mappings as arrays, and as Timeloop's files."""

from .batch import Bools, ChainTable, Floats, Ints, MappingBatch, Numbers, floats, take_rows, unique_rows
from .pareto import covered, frontier, staircase, uncovered_by_earlier
from .timeloop_read import mapping_yaml, read_mapping, write_mapping

__all__ = [
    "Bools",
    "ChainTable",
    "Floats",
    "Ints",
    "MappingBatch",
    "Numbers",
    "covered",
    "floats",
    "frontier",
    "mapping_yaml",
    "read_mapping",
    "staircase",
    "take_rows",
    "uncovered_by_earlier",
    "unique_rows",
    "write_mapping",
]
