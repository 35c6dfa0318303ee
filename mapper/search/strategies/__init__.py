"""The proposers of mappings."""

from .pruner_effects import Effect, pruner_effects
from .random_draws import RandomDraws
from .table import PROPOSERS

__all__ = [
    "Effect",
    "PROPOSERS",
    "RandomDraws",
    "pruner_effects",
]
