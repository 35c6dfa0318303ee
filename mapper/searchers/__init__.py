"""The table of searches, those of the literature among them; their options checked, a search begun."""

from .learners import missing_package
from .option_faults import ignored_options, option_faults, stop_rules
from .start import search
from .table import STRATEGIES

__all__ = [
    "STRATEGIES",
    "ignored_options",
    "missing_package",
    "option_faults",
    "search",
    "stop_rules",
]
