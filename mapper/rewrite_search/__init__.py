"""Searches rewrites of networks: graphs that rules reach, each priced by its plan."""

from ..plan_search import TooManyError
from .kinds import Step, steps
from .networks import network_of_graph
from .pricer import NoMappingError, Price, Pricer
from .queue import RewriteOptions, Seen
from .search import Applied, Outcome, search_rewrites

__all__ = [
    "Applied",
    "NoMappingError",
    "Outcome",
    "Price",
    "Pricer",
    "RewriteOptions",
    "Seen",
    "Step",
    "TooManyError",
    "network_of_graph",
    "search_rewrites",
    "steps",
]
