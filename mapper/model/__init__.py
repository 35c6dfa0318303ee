"""What executing a mapping counts and costs, exactly."""

from .cost import REASONS, CostOptions, Costs, evaluate, validity
from .counts import Counts, count, least_counts
from .exactness import RoundingWarning, exactly, figures_exact, rate, tell_rounding
from .interconnect import hops
from .objectives import OBJECTIVES, ROUNDING, Objective, first_objective
from .recount import Steps, recount
from .sanity import check_physical
from .simulate import TooLarge, simulate
from .usage import array_usage, sides

__all__ = [
    "CostOptions",
    "Costs",
    "Counts",
    "OBJECTIVES",
    "Objective",
    "REASONS",
    "ROUNDING",
    "RoundingWarning",
    "Steps",
    "TooLarge",
    "array_usage",
    "check_physical",
    "count",
    "evaluate",
    "exactly",
    "figures_exact",
    "first_objective",
    "hops",
    "least_counts",
    "rate",
    "recount",
    "sides",
    "simulate",
    "tell_rounding",
    "validity",
]
