"""Searches pipelines of chains of layers on equal cores: all cuts and numbers of cores, with what is proven of them."""

from .pipelines import PipelineOutcome, in_turn, search_pipelines
from .search import MOST_CORES, Known, PipelineSearch, Tell

__all__ = [
    "MOST_CORES",
    "Known",
    "PipelineOutcome",
    "PipelineSearch",
    "Tell",
    "in_turn",
    "search_pipelines",
]
