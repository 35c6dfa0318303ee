"""Searches propose, score and record mappings until a stop rule ends them."""

from .budget import Mark, Share, read_budget, spend
from .coverage import Coverage
from .effort import Effort
from .ended import Ended
from .engines import ENGINES
from .option_faults import ignored_options, option_faults, stop_rules
from .options import SearchOptions, read_patience
from .outcome import COST_MODEL, Answer, FrontProof, Point, StageProof
from .proposer import CHUNK, Proposer, Scored
from .recorder import Recorder
from .registry import STRATEGIES
from .run import Chunked
from .settings import Configurable, setting
from .start import search
from .statistics import Statistics
from .strategy import Task, Watch

__all__ = [
    "Answer",
    "COST_MODEL",
    "CHUNK",
    "Chunked",
    "Configurable",
    "Coverage",
    "ENGINES",
    "Effort",
    "Ended",
    "FrontProof",
    "Mark",
    "Point",
    "Proposer",
    "Recorder",
    "STRATEGIES",
    "Scored",
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
    "setting",
    "spend",
    "stop_rules",
]
