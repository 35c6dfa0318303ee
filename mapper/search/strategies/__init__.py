"""The proposers of mappings."""

from .exhaustive import NO_VICTORY, Exhaustive
from .random_draws import RandomDraws

__all__ = [
    "NO_VICTORY",
    "Exhaustive",
    "RandomDraws",
]
