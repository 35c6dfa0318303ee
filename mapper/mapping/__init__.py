"""Mappings as arrays, and as Timeloop's files."""

from .batch import (
    Bools,
    ChainTable,
    Floats,
    Ints,
    MappingBatch,
    Mappings,
    Numbers,
    by_number,
    floats,
    keeper_pairs,
    position_in,
    take_rows,
    together,
    unique_rows,
)
from .outline import Outline, read_outline
from .pareto import dominated, frontier, pareto_rows, uncovered_by_earlier
from .timeloop_read import read_mapping
from .timeloop_write import mapping_yaml, write_mapping, write_mapping_of_axes

__all__ = [
    "Bools",
    "ChainTable",
    "Floats",
    "Ints",
    "MappingBatch",
    "Mappings",
    "Numbers",
    "Outline",
    "by_number",
    "dominated",
    "floats",
    "frontier",
    "keeper_pairs",
    "mapping_yaml",
    "position_in",
    "read_mapping",
    "read_outline",
    "pareto_rows",
    "take_rows",
    "together",
    "uncovered_by_earlier",
    "unique_rows",
    "write_mapping",
    "write_mapping_of_axes",
]
