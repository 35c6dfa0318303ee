"""Proposers that learn a model of the cost from the mappings scored so far, for cost models that are slow."""

from .bayes import Bayes
from .gbt import Gbt
from .packages import missing_package
from .surrogate import Surrogate

__all__ = [
    "Bayes",
    "Gbt",
    "Surrogate",
    "missing_package",
]
