"""Nests of loops analysed: positions, tiles, and the words that move between levels."""

from .contexts import Prefixes, prefixes
from .crossings import Crossings, crossings, passings
from .data_movement import DataMovement, RankColumns
from .intervals import hidden, touches
from .level_slots import LevelSlots, level_slots, outside
from .nest_analysis import LoopPositions, NestAnalysis
from .ranks import RankView, distinct_sums
from .tile_sizes import TileSizes
from .touched_words import touched_words

__all__ = [
    "Crossings",
    "DataMovement",
    "LevelSlots",
    "LoopPositions",
    "NestAnalysis",
    "Prefixes",
    "RankColumns",
    "RankView",
    "TileSizes",
    "crossings",
    "distinct_sums",
    "hidden",
    "level_slots",
    "outside",
    "passings",
    "prefixes",
    "touched_words",
    "touches",
]
