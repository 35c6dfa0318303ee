"""`--search evolve`: a (mu + lambda) evolution over the exact model."""

from .evolve import Evolution
from .grounds import Grounds
from .population import SIZES, Generation, Population
from .populations import Populations

__all__ = [
    "Evolution",
    "Generation",
    "Grounds",
    "Population",
    "Populations",
    "SIZES",
]
