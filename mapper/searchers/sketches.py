"""Sketches: loop orders, kept tensors, and which dims may be spatial where; their annotation is the bounds.

The two stages of Ansor (Zheng et al., OSDI 2020, sections 4 and 5), for mappings.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..mapping import Bools, Ints
from ..search.variation import MOST_MUTATIONS, Ground, Individuals

DRAWN_ROUNDS = 64  # of repair of a drawn annotation
ROUNDS = 4  # of repair of a child
GROUPS = 4  # of drawn sketches, each with one choice of what is kept: many in one batch are slow
CROSSED = 0.5  # of children, with dims of another parent
LOOPS = 0.6  # of changes of a sketch: of loop orders; the others change what is spatial or kept


@dataclass(frozen=True, eq=False)
class Sketches:
    """Some sketches, each given by a mapping of it."""

    ground: Ground
    examples: Individuals  # one of each sketch

    def __len__(self) -> int:
        return len(self.examples)

    @classmethod
    def drawn(cls, ground: Ground, rng: np.random.Generator, n: int) -> "Sketches":
        """Draw the sketches of mappings, made to fit."""
        sizes = [len(part) for part in np.array_split(np.arange(n), GROUPS)]
        groups = [ground.fitting(rng, size, DRAWN_ROUNDS) for size in sizes if size]
        return cls(ground, Individuals.joined(groups) if groups else ground.drawn(rng, 0))

    @classmethod
    def near(cls, ground: Ground, some: Individuals, rng: np.random.Generator, n: int) -> "Sketches":
        """Make sketches that differ from those of `some` mappings in an order, in what is spatial, or in what is
        kept."""
        some = some.take(rng.integers(0, len(some), n))
        number, keep = np.minimum(1 + rng.poisson(1, n), MOST_MUTATIONS), some.keep.copy()
        for turn in range(MOST_MUTATIONS):
            kind = rng.random(n)
            kind[number <= turn] = np.inf
            ground.variation.swap_loops(some.order, np.flatnonzero(kind < LOOPS), rng)
            cls._respread(ground, some.bounds, keep, np.flatnonzero((kind >= LOOPS) & (kind < 1)), rng)
        fit = ground.repair.fitted(replace(some, keep=keep), rng, ROUNDS)
        return cls(ground, ground.filled(fit, rng, n))

    @staticmethod
    def _respread(ground: Ground, bounds: Ints, keep: Bools, others: Ints, rng: np.random.Generator) -> None:
        """Change in place what is spatial, or what is kept, of `others`."""
        operators = (ground.moves.move_parallel, ground.moves.grow, ground.moves.age)
        chosen = rng.integers(0, len(operators) + (ground.space.keep_choices.number > 1), len(others))
        for i, operator in enumerate(operators):
            operator(bounds, others[chosen == i], rng)
        ground.variation.change_kept(keep, others[chosen == len(operators)], rng)

    def take(self, where: Ints) -> "Sketches":
        """Return those at `where`."""
        return Sketches(self.ground, self.examples.take(where))

    @cached_property
    def spreads(self) -> Bools:
        """Where a bound may be over 1: at every loop, and where the sketch spreads a dim. # (sketch, slot, dim)"""
        loops = np.array([not slot.spatial for slot in self.ground.space.arch.slots])
        return loops[:, None] | (self.examples.bounds > 1)

    def annotated(self, of: Ints, rng: np.random.Generator) -> Individuals:
        """Draw bounds for the sketches `of` # (mapping,): each dim's size in shares over the slots, on a log scale.

        Returns mappings that fit as far as repair can make them; for others the example of the sketch.
        """
        shares = rng.exponential(size=(len(of), *self.spreads.shape[1:])) * self.spreads[of]
        shares /= shares.sum(axis=1, keepdims=True)
        bounds = np.power(np.array(self.ground.space.workload.sizes, float), shares).round().astype(np.int64)
        examples = self.examples.take(of)
        return self._fitted(replace(examples, bounds=bounds), examples, rng, DRAWN_ROUNDS)

    def evolved(
        self, of: Ints, parents: Individuals, first: Ints, second: Ints, rng: np.random.Generator
    ) -> Individuals:
        """Make children with the bounds of the parents `first` # (mapping,), some dims as in `second`, and changes.

        For children that repair cannot make fit returns the first parent.
        """
        n, dims = len(of), parents.bounds.shape[2]
        share = np.where(rng.random(n) < CROSSED, rng.random(n) * 0.5, 0.0)
        crossed = rng.random((n, dims)) < share[:, None]
        bounds = np.where(crossed[:, None], parents.bounds[second], parents.bounds[first])
        number = np.minimum(1 + rng.poisson(1, n), MOST_MUTATIONS)
        for turn in range(MOST_MUTATIONS):
            self.ground.variation.change_chains(bounds, np.flatnonzero(number > turn), rng)
        bounds[~self.spreads[of]] = 1
        before = parents.take(first)
        return self._fitted(replace(before, bounds=bounds), before, rng, ROUNDS)

    def _fitted(self, some: Individuals, otherwise: Individuals, rng: np.random.Generator, rounds: int) -> Individuals:
        fit, which = self.ground.repair.fitted_each(some, rng, rounds)
        return otherwise.replaced(which, fit)
