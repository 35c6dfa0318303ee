"""Mappings as arrays that strategies change, and what changes, repairs and draws them."""

from .adapt import adapted, widened
from .ground import Ground, ground_of
from .individuals import Individuals
from .operators import MOST_MUTATIONS
from .packing import packed, unpacked
from .ranking import TIE, log_change, ranked, ranked_apart

__all__ = [
    "Ground",
    "Individuals",
    "MOST_MUTATIONS",
    "TIE",
    "adapted",
    "ground_of",
    "log_change",
    "packed",
    "ranked",
    "ranked_apart",
    "unpacked",
    "widened",
]
