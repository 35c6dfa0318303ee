"""Mappings as arrays, and as Timeloop's files."""

from .batch import Bools, ChainTable, Floats, Ints, MappingBatch, Numbers, floats, take_rows, unique_rows
from .timeloop_read import mapping_yaml, read_mapping, write_mapping

__all__ = [
    "Bools",
    "ChainTable",
    "Floats",
    "Ints",
    "MappingBatch",
    "Numbers",
    "floats",
    "take_rows",
    "mapping_yaml",
    "read_mapping",
    "unique_rows",
    "write_mapping",
]
