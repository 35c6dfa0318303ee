"""Searches propose, score and record mappings until a stop rule ends them."""

from .budget import Mark, Share, read_budget, spend
from .coverage import Coverage
from .ended import Ended
from .engines import ENGINES
from .option_faults import ignored_options, option_faults, stop_rules
from .options import SearchOptions, read_patience
from .outcome import FrontProof, Point, StageProof
from .proposer import CHUNK
from .recorder import Recorder
from .registry import STRATEGIES
from .start import search
from .statistics import Statistics
from .strategy import Task, Watch

__all__ = [
    "CHUNK",
    "Coverage",
    "ENGINES",
    "Ended",
    "FrontProof",
    "Mark",
    "Point",
    "Recorder",
    "STRATEGIES",
    "SearchOptions",
    "Share",
    "StageProof",
    "Statistics",
    "Task",
    "Watch",
    "ignored_options",
    "option_faults",
    "read_budget",
    "read_patience",
    "search",
    "spend",
    "stop_rules",
]
