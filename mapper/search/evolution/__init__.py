"""`--search evolve`: a (mu + lambda) evolution over the exact model."""

from .evolve import Evolution
from .population import SIZES, Generation, Population
from .population_spaces import PopulationSpaces
from .populations import Populations

__all__ = [
    "Evolution",
    "Generation",
    "PopulationSpaces",
    "Population",
    "Populations",
    "SIZES",
]
