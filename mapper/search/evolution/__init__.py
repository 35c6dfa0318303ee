"""`--search evolve`: a (mu + lambda) evolution over the exact model."""

from .evolve import Evolution

__all__ = ["Evolution"]
