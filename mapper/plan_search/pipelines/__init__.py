"""Searches pipelines of chains of layers on equal cores: all cuts and numbers of cores, with what is proven of them."""

from .pipelines import PipelineOutcome, in_turn, search_pipelines
from .search import MOST_CORES, PipelineSearch

__all__ = [
    "MOST_CORES",
    "PipelineOutcome",
    "PipelineSearch",
    "in_turn",
    "search_pipelines",
]
