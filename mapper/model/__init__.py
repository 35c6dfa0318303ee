"""What executing a mapping counts and costs, exactly."""

from .cost import REASONS, Costs, evaluate, validity
from .counts import Counts, count
from .exactness import RoundingWarning, cycles_of, exactly, figures_exact, rate, warn_of_rounding
from .interconnect import hops
from .least_counts import least_counts
from .recount import WordsByLoop, recount
from .sanity import check_physical
from .simulate import TooLarge, simulate
from .usage import array_usage, sides

__all__ = [
    "Costs",
    "Counts",
    "REASONS",
    "RoundingWarning",
    "WordsByLoop",
    "TooLarge",
    "array_usage",
    "check_physical",
    "count",
    "evaluate",
    "exactly",
    "figures_exact",
    "hops",
    "least_counts",
    "cycles_of",
    "rate",
    "recount",
    "sides",
    "simulate",
    "warn_of_rounding",
    "validity",
]
