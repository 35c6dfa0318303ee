"""`--search evolve`: a (mu + lambda) evolution over the exact model."""

from .evolve import Evolution
from .grounds import Grounds
from .population import CHILDREN, Generation
from .populations import Populations

__all__ = ["CHILDREN", "Evolution", "Generation", "Grounds", "Populations"]
