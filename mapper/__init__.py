"""The mapper: mapspace, exact counts, costs, search, report, and the commands.

What a name of `__all__` needs is imported when the name is first used, so that the commands
(commands/entry.py) begin at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .exploration import evaluate, explore, load, why
    from .problem import Effort
    from .report import NetworkResult, Result, result_json
    from .search.options import SearchOptions
    from .sweeps import DesignStudy, SweepResult, sweep

__all__ = [
    "DesignStudy",
    "Effort",
    "NetworkResult",
    "Result",
    "SearchOptions",
    "SweepResult",
    "evaluate",
    "explore",
    "load",
    "result_json",
    "sweep",
    "why",
]

if not TYPE_CHECKING:  # which would take any name for one of ours
    _HOME = {"Effort": "problem", "SearchOptions": "search.options", "load": "exploration"}
    _HOME |= dict.fromkeys(("evaluate", "explore", "why"), "exploration")
    _HOME |= dict.fromkeys(("NetworkResult", "Result", "result_json"), "report")
    _HOME |= dict.fromkeys(("DesignStudy", "SweepResult", "sweep"), "sweeps")

    def __getattr__(name):
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = getattr(import_module(f".{_HOME[name]}", __name__), name)
        return globals()[name]

    def __dir__():
        return sorted({*globals(), *__all__})
