"""Mappings as arrays that strategies change, and what changes, repairs and draws them."""

from .adapt import adapted, widened
from .ground import Ground, ground_of
from .individuals import Individuals
from .operators import MOST_MUTATIONS, Variation, drawn_from
from .packing import packed, unpacked
from .ranking import TIE, log_change, ranked, ranked_apart
from .repair import Repair
from .sketches import Sketches

__all__ = [
    "MOST_MUTATIONS",
    "Ground",
    "Individuals",
    "Repair",
    "Sketches",
    "TIE",
    "Variation",
    "adapted",
    "drawn_from",
    "ground_of",
    "log_change",
    "packed",
    "ranked",
    "ranked_apart",
    "unpacked",
    "widened",
]
