"""Mappings proposed, scored and recorded until a rule ends the search."""

from .budget import Mark, Share, read_budget, spend
from .coverage import Coverage
from .options import NEVER, SearchOptions, idle_faults, read_patience, stop_rules, unknown
from .outcome import FrontProof
from .recorder import Recorder, Statistics
from .score import CHUNK, STRATEGIES, ScoringTask
from .start import search

__all__ = [
    "CHUNK",
    "Coverage",
    "FrontProof",
    "Mark",
    "NEVER",
    "ScoringTask",
    "Recorder",
    "STRATEGIES",
    "SearchOptions",
    "Share",
    "Statistics",
    "idle_faults",
    "read_budget",
    "read_patience",
    "search",
    "spend",
    "stop_rules",
    "unknown",
]
