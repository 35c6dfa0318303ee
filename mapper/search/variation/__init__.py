"""Mappings as arrays that strategies change, and what changes, repairs and draws them."""

from .adapt import adapted, widened
from .individuals import Individuals
from .operators import MOST_MUTATIONS
from .packing import packed, unpacked
from .ranking import TIE, log_change, ranked, ranked_apart
from .sampler import MappingSampler, sampler_of

__all__ = [
    "MappingSampler",
    "Individuals",
    "MOST_MUTATIONS",
    "TIE",
    "adapted",
    "sampler_of",
    "log_change",
    "packed",
    "ranked",
    "ranked_apart",
    "unpacked",
    "widened",
]
