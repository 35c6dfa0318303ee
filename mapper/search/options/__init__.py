"""What a search is asked for: its options, its effort, and settings of its own."""

from .budget import BudgetMark, LayerShare, read_budget, spend
from .options import GIVE_UP, NUMBERS, WHOLE, SearchOptions, read_patience
from .settings import Configurable, setting

__all__ = [
    "Configurable",
    "GIVE_UP",
    "BudgetMark",
    "NUMBERS",
    "SearchOptions",
    "LayerShare",
    "WHOLE",
    "read_budget",
    "read_patience",
    "setting",
    "spend",
]
