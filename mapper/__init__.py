"""The mapper: mapspace, exact counts, costs, search, report, and the commands."""

from .api import evaluate_mapping, explore
from .report import NetworkResult, Result, result_json
from .search import SearchOptions

__all__ = ["NetworkResult", "Result", "SearchOptions", "evaluate_mapping", "explore", "result_json"]
