"""What executing a mapping counts and costs, exactly."""

from .cost import REASONS, CostOptions, Costs, evaluate, validity
from .counts import Counts, count, least_counts
from .crossings import Crossings
from .data_movement import DataMovement
from .exactness import HELD, RoundingWarning, exactly, figures_exact, rate, tell_rounding
from .level_slots import outside
from .nest_analysis import LoopPositions, NestAnalysis
from .objectives import OBJECTIVES, Objective, first_objective
from .recount import Steps, recount
from .sanity import check_physical
from .simulate import TooLarge, simulate
from .tile_sizes import TileSizes
from .usage import array_usage, sides

__all__ = [
    "CostOptions",
    "Costs",
    "Counts",
    "Crossings",
    "DataMovement",
    "HELD",
    "LoopPositions",
    "NestAnalysis",
    "OBJECTIVES",
    "Objective",
    "REASONS",
    "RoundingWarning",
    "Steps",
    "TileSizes",
    "TooLarge",
    "array_usage",
    "check_physical",
    "count",
    "evaluate",
    "exactly",
    "figures_exact",
    "first_objective",
    "least_counts",
    "outside",
    "rate",
    "recount",
    "sides",
    "simulate",
    "tell_rounding",
    "validity",
]
