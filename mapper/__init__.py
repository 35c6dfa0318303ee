"""The mapper: mapspace, exact counts, costs, search, report, and the commands."""

from .api import evaluate, explore
from .inputs import load
from .options import SearchOptions
from .report import NetworkResult, Result, result_json
from .sweep_run import SweepResult, sweep

__all__ = [
    "NetworkResult",
    "Result",
    "SearchOptions",
    "SweepResult",
    "evaluate",
    "explore",
    "load",
    "result_json",
    "sweep",
]
