"""What a search is asked for: its options, its effort, and settings of its own."""

from .budget import Mark, Share, read_budget, spend
from .effort import EFFORTS, STEPS_A_SECOND, Effort, read_effort
from .options import GIVE_UP, NUMBERS, WHOLE, SearchOptions, read_patience
from .settings import Configurable, setting

__all__ = [
    "GIVE_UP",
    "Configurable",
    "EFFORTS",
    "Effort",
    "Mark",
    "NUMBERS",
    "STEPS_A_SECOND",
    "SearchOptions",
    "Share",
    "WHOLE",
    "read_budget",
    "read_effort",
    "read_patience",
    "setting",
    "spend",
]
