"""The proposers of mappings."""

from .random_draws import RandomDraws
from .table import PROPOSERS

__all__ = [
    "PROPOSERS",
    "RandomDraws",
]
