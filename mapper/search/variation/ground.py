"""A mapspace with what draws, varies and repairs its mappings, for strategies that change mappings."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ...mapping import MappingBatch
from ...mapspace import Mapspace, sample_alike, sorted_placement
from .individuals import Individuals
from .moves import Moves
from .operators import Variation
from .repair import Repair

CHOICES = 4  # of kept tensors in what is drawn together


@dataclass(frozen=True, eq=False)
class Ground:
    """A mapspace with what draws, varies and repairs its mappings."""

    space: Mapspace

    @cached_property
    def repair(self) -> Repair:
        """The limits of bounds."""
        return Repair(self.space)

    @cached_property
    def variation(self) -> Variation:
        """Crossover and mutation."""
        return Variation(self.repair)

    @cached_property
    def moves(self) -> Moves:
        """The operators of GAMMA and Ansor."""
        return Moves(self.variation)

    def drawn(self, rng: np.random.Generator, n: int) -> Individuals:
        """Draw `n` mappings uniformly, but with few choices of kept tensors: many in one batch are slow."""
        batch = sample_alike(self.space, rng, n, CHOICES)
        return Individuals(batch.factors, batch.order, batch.keep)

    def fitting(self, rng: np.random.Generator, n: int, rounds: int) -> Individuals:
        """Draw `n` mappings and make them fit; others drawn take the places of those that so many rounds do not fit."""
        return self.filled(self.repair.fitted(self.drawn(rng, n), rng, rounds), rng, n)

    def filled(self, some: Individuals, rng: np.random.Generator, n: int) -> Individuals:
        """Add drawn mappings to `some`, to make `n`."""
        return Individuals.joined([some, self.drawn(rng, n - len(some))]) if len(some) < n else some

    def batch(self, some: Individuals) -> MappingBatch:
        """Make the batch of `some`, each the mapping that stands for those equal to it."""
        return sorted_placement(self.space, self.repair.batch(some))


@lru_cache(maxsize=2)
def ground_of(space: Mapspace) -> Ground:
    """Return the ground of a mapspace, made once in a process: its tables take time."""
    return Ground(space)
