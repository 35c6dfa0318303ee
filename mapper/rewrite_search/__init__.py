"""Searches rewrites of networks: graphs that rules reach, each priced by its plan."""

from .kinds import Step, steps
from .pricer import Price, Pricer
from .search import Applied, Outcome, RewriteOptions, search_rewrites

__all__ = ["Applied", "Outcome", "Price", "Pricer", "RewriteOptions", "Step", "search_rewrites", "steps"]
