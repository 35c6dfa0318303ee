"""The table of searches, those of the literature among them; their options checked, a search begun."""

from .option_faults import ignored_options, option_faults, stop_rules
from .pruner_effects import Effect, pruner_effects
from .sketches import Sketches
from .start import search
from .table import STRATEGIES

__all__ = [
    "Effect",
    "STRATEGIES",
    "Sketches",
    "ignored_options",
    "option_faults",
    "pruner_effects",
    "search",
    "stop_rules",
]
