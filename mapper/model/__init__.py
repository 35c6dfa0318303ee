"""What executing a mapping counts and costs, exactly."""

from .contexts import outside
from .cost import REASONS, CostOptions, Costs, evaluate, leak_pj_per_cycle, used_bits, validity
from .counts import Counts, count, keeper_pairs, tile_words
from .exactness import HELD, RoundingWarning, exactly, figures_exact, rate, tell_rounding
from .nest_analysis import DataMovement, NestAnalysis
from .objectives import OBJECTIVES, Objective, first_objective
from .recount import Steps, recount
from .sanity import InternalError, check_physical
from .simulate import TooLarge, simulate
from .usage import array_usage, axes_of, sides

__all__ = [
    "CostOptions",
    "Costs",
    "Counts",
    "DataMovement",
    "HELD",
    "InternalError",
    "NestAnalysis",
    "OBJECTIVES",
    "Objective",
    "REASONS",
    "RoundingWarning",
    "Steps",
    "TooLarge",
    "array_usage",
    "axes_of",
    "check_physical",
    "count",
    "evaluate",
    "exactly",
    "figures_exact",
    "first_objective",
    "keeper_pairs",
    "leak_pj_per_cycle",
    "outside",
    "rate",
    "recount",
    "sides",
    "simulate",
    "tell_rounding",
    "tile_words",
    "used_bits",
    "validity",
]
