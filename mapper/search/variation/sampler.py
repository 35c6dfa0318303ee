"""A mapspace with what draws, varies and repairs its mappings, for strategies that change mappings.

The operators on bounds, one change of one dim or axis each, are those of GAMMA (Kao and Krishna, ICCAD 2020) and Ansor
(Zheng et al., OSDI 2020, section 5.1). All change `bounds` # (individual, slot, dim) in place, for the individuals
`who`; they may break limits of the mapspace.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ...mapping import Bools, Ints, MappingBatch
from ...mapspace import Mapspace, sample_alike, sorted_placement
from .individuals import Individuals
from .operators import Variation, drawn_from
from .repair import Repair


@dataclass(frozen=True, eq=False)
class Moves:
    """The operators for one mapspace."""

    variation: Variation

    def move_factor(self, bounds: Ints, who: Ints, rng: np.random.Generator) -> None:
        """Move a prime factor of a dim from one level's loop to another's: Ansor's mutation of tile sizes."""
        self._move(bounds, who, self.loops, self.loops, rng)

    def draw_tile(self, bounds: Ints, who: Ints, rng: np.random.Generator) -> None:
        """Draw a loop's bound anew, from 1 to the size of the dim: GAMMA's mutation of tile sizes."""
        if len(who) and len(dims := self._dims(self.loops)):
            d = rng.choice(dims, len(who))
            slot = drawn_from(self.loops, d, rng)
            bounds[who, slot, d] = rng.integers(1, self._sizes[d], endpoint=True)

    def move_parallel(self, bounds: Ints, who: Ints, rng: np.random.Generator) -> None:
        """Move a prime factor of a dim to an axis, or from an axis to a loop or another axis."""
        outward = rng.random(len(who)) < 0.5
        self._move(bounds, who[outward], self._spatial, self.variation.open, rng)
        self._move(bounds, who[~outward], self.loops, self._spatial, rng)

    def grow(self, bounds: Ints, who: Ints, rng: np.random.Generator) -> None:
        """Begin to use an axis: of one that is idle, give it a prime factor of a loop. GAMMA's growth adds a level of
        parallelism."""
        if not len(who) or not len(dims := self._dims(self._spatial)):
            return
        d = rng.choice(dims, len(who))
        slot = drawn_from(self._spatial, d, rng)
        idle = bounds[who, slot].prod(axis=1) == 1
        self._move_between(bounds, who[idle], d[idle], drawn_from(self.loops, d, rng)[idle], slot[idle], rng)

    def age(self, bounds: Ints, who: Ints, rng: np.random.Generator) -> None:
        """Empty an axis: its bounds go to the loops of its level. GAMMA's ageing drops a level of parallelism."""
        if not len(who) or not len(self._axes):
            return
        slot = rng.choice(self._axes, len(who))
        home = self._home[slot]
        bounds[who, home] *= bounds[who, slot]
        bounds[who, slot] = 1

    def _move(
        self, bounds: Ints, who: Ints, sources: list[Ints], targets: list[Ints], rng: np.random.Generator
    ) -> None:
        """Move a prime of a dim between two slots, drawn from those of `sources` and `targets` of the dim."""
        dims = np.intersect1d(self._dims(sources), self._dims(targets))
        if len(who) and len(dims):
            d = rng.choice(dims, len(who))
            self._move_between(bounds, who, d, drawn_from(sources, d, rng), drawn_from(targets, d, rng), rng)

    def _move_between(
        self, bounds: Ints, who: Ints, d: Ints, source: Ints, target: Ints, rng: np.random.Generator
    ) -> None:
        """Move a prime of the bound at `source` to `target`. # (individual,) each"""
        if not len(who):
            return
        bound = bounds[who, source, d]
        prime = np.where(source == target, 1, self.variation.drawn_primes(bound, rng))
        bounds[who, source, d] = bound // prime
        bounds[who, target, d] = np.minimum(bounds[who, target, d] * prime, self._sizes[d])

    @cached_property
    def _sizes(self) -> Ints:
        return np.array(self.variation.space.workload.sizes)

    @cached_property
    def _of_axes(self) -> Bools:
        """Which slots are axes. # (slot,)"""
        return np.array([slot.spatial for slot in self.variation.space.arch.slots])

    @cached_property
    def _spatial(self) -> list[Ints]:
        """The axes where each dim may have a bound over 1. # (slot,) each"""
        return [slots[self._of_axes[slots]] for slots in self.variation.open]

    @cached_property
    def loops(self) -> list[Ints]:
        """The loops where each dim may have a bound over 1, and the outermost. # (slot,) each"""
        return [slots[~self._of_axes[slots]] for slots in self.variation.open]

    @cached_property
    def _axes(self) -> Ints:
        """The axes that may have a bound over 1. # (slot,)"""
        return np.unique(np.concatenate(self._spatial)).astype(np.int64)

    @cached_property
    def _home(self) -> Ints:
        """The slot of the loops of each slot's level. # (slot,)"""
        slots = self.variation.space.arch.slots
        own = {slot.level: i for i, slot in enumerate(slots) if not slot.spatial}
        return np.array([own[slot.level] for slot in slots])

    @staticmethod
    def _dims(slots: list[Ints]) -> Ints:
        """The dims that have any of such slots. # (dim,)"""
        return np.array([d for d, own in enumerate(slots) if len(own)], np.int64)


CHOICES = 4  # of kept tensors in what is drawn together


@dataclass(frozen=True, eq=False)
class MappingSampler:
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

    def filled(self, individuals: Individuals, rng: np.random.Generator, n: int) -> Individuals:
        """Add drawn mappings to `individuals`, to make `n`."""
        return (
            Individuals.joined([individuals, self.drawn(rng, n - len(individuals))])
            if len(individuals) < n
            else individuals
        )

    def batch(self, individuals: Individuals) -> MappingBatch:
        """Make the batch of `individuals`, each the mapping that stands for those equal to it."""
        return sorted_placement(self.space, self.repair.batch(individuals))


@lru_cache(maxsize=2)
def sampler_of(space: Mapspace) -> MappingSampler:
    """Return the ground of a mapspace, made once in a process: its tables take time."""
    return MappingSampler(space)
