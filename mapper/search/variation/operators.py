"""Variation: children of a population, by crossover and mutation.

Operators and their rates were found by trial on ResNet-50's layers (docs/decisions/071-evolution.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...mapping import Bools, Ints
from ...mapspace import Mapspace, Order
from .individuals import Individuals
from .repair import Repair

CROSSED = 0.5  # of children, with two parents
MOST_MUTATIONS = 3
CHAINS = 0.65  # of mutations: of a chain. The others swap loops
CHANGES, CHANGED = 2, 0.15  # changes of what is kept in a generation, and the share of children that each has
KEEPS = 0.1  # of neighbours: with a changed choice of what is kept
MOVES, SWAPS, DRAWS = 0.45, 0.15, 0.25  # of mutations of a chain; the others add or take 1
WHOLE = 0.2  # of moves: the whole bound, not one of its primes
INNERMOST = 0.4  # of swaps of loops: with the innermost


@dataclass(frozen=True, eq=False)
class Variation:
    """Makes children of individuals of one mapspace. Children may break its limits: Repair follows."""

    repair: Repair
    _primes: dict[int, list[int]] = field(default_factory=dict)

    @property
    def space(self) -> Mapspace:
        return self.repair.space

    def children(self, parents: Individuals, rng: np.random.Generator, n: int) -> Individuals:
        """Make `n` children of `parents`, the best first; of two drawn at random the better becomes a parent."""
        first, second = (rng.integers(0, len(parents), (2, n)).min(axis=0) for _ in range(2))
        crossed = rng.random(n) < CROSSED
        children = self._crossover(parents, first, second, crossed, rng)
        number = np.where(crossed, rng.integers(0, 2, n), np.minimum(1 + rng.poisson(1, n), MOST_MUTATIONS))
        self.mutate(children, number, rng)
        return replace(children, keep=self._kept(parents, first, rng))

    def neighbours(self, individuals: Individuals, rng: np.random.Generator) -> Individuals:
        """Make one neighbour of each: by a mutation of a chain, a swap of loops, or a change of what is kept."""
        bounds, order, keep = individuals.bounds.copy(), individuals.order.copy(), individuals.keep.copy()
        kind, choices = rng.random(len(individuals)), self.space.keep_choices
        self.change_chains(bounds, np.flatnonzero(kind < CHAINS), rng)
        self.swap_loops(order, np.flatnonzero(kind >= CHAINS), rng)
        if choices.number > 1:
            for i in np.flatnonzero(rng.random(len(individuals)) < KEEPS).tolist():
                keep[i] = choices.changed(keep[i], rng)
        return Individuals(bounds, order, keep)

    def mutate(self, individuals: Individuals, number: Ints, rng: np.random.Generator) -> None:
        """Change bounds and orders of `individuals` in place, each by its number of mutations # (individual,),
        MOST_MUTATIONS at most."""
        for turn in range(MOST_MUTATIONS):
            kind = rng.random(len(individuals))
            kind[number <= turn] = np.inf
            self.change_chains(individuals.bounds, np.flatnonzero(kind < CHAINS), rng)
            self.swap_loops(individuals.order, np.flatnonzero((kind >= CHAINS) & (kind < 1)), rng)

    def _crossover(
        self, parents: Individuals, first: Ints, second: Ints, crossed: Bools, rng: np.random.Generator
    ) -> Individuals:
        """Give each child the genes of its first parent; of those `crossed`, some of the second: chains of dims,
        orders and kept tensors of levels, each with a probability that is drawn for the child."""
        share = np.where(crossed, rng.random(len(first)) * 0.5, 0.0)

        def mixed[Number: np.generic](genes: NDArray[Number], axis: int) -> NDArray[Number]:
            chosen = rng.random((len(first), genes.shape[axis])) < share[:, None]
            return np.where(np.expand_dims(chosen, 3 - axis), genes[second], genes[first])

        return Individuals(mixed(parents.bounds, 2), mixed(parents.order, 1), parents.keep[first])

    def _kept(self, parents: Individuals, first: Ints, rng: np.random.Generator) -> Bools:
        """Choose what each child keeps: as its parent, or with one of a few changes that many children share.

        Each choice that is new to a search has columns of its own to compute, so few are new at a time.
        """
        keep = parents.keep[first]
        for _ in range(CHANGES if self.space.keep_choices.number > 1 else 0):
            self.change_kept(keep, np.flatnonzero(rng.random(len(first)) < CHANGED), rng)
        return keep

    def change_kept(self, keep: Bools, who: Ints, rng: np.random.Generator) -> None:
        """Change one choice of what is kept # (individual, level, tensor) in place, the same for all of `who`."""
        if self.space.keep_choices.number > 1:
            keep[who] = self.space.keep_choices.changed(keep[who], rng)

    def change_chains(self, bounds: Ints, who: Ints, rng: np.random.Generator) -> None:
        """Change a bound or two of one dim, once for each of `who`."""
        dims = np.array([d for d, slots in enumerate(self.open) if len(slots) > 1])
        if not len(dims) or not len(who):
            return
        d = rng.choice(dims, len(who))
        i, j = (drawn_from(self.open, d, rng) for _ in range(2))
        p, q, sizes = bounds[who, i, d], bounds[who, j, d], np.array(self.repair.sizes)[d]
        kind = np.searchsorted(np.cumsum([MOVES, SWAPS, DRAWS]), rng.random(len(who)), "right")
        factor = np.where(rng.random(len(who)) < WHOLE, p, self.drawn_primes(p, rng))
        drawn = np.exp(rng.random(len(who)) * np.log(sizes)).round().astype(np.int64)
        near = np.maximum(1, p + rng.choice([-1, 1], len(who)))
        moved = np.where(i == j, p, -(-p // factor))
        other = np.choose(np.minimum(kind, 2), [np.minimum(q * factor, sizes), p, q])
        bounds[who, j, d] = np.where(i == j, p, other)
        bounds[who, i, d] = np.choose(kind, [moved, q, drawn, near])

    @cached_property
    def open(self) -> list[Ints]:
        """The slots where a dim may have a bound over 1, and the outermost, which takes the rest. # (slot,) each"""
        high = self.repair.high
        return [np.flatnonzero((high[:, d] > 1) | (np.arange(len(high)) == 0)) for d in range(high.shape[1])]

    def drawn_primes(self, numbers: Ints, rng: np.random.Generator) -> Ints:
        """Draw a prime factor of each number; 1 of 1. # (individual,)"""
        different, which = np.unique(numbers, return_inverse=True)
        return drawn_from([self._primes_of(number) for number in different.tolist()], which, rng)

    def least_primes(self, numbers: Ints) -> Ints:
        """Return the smallest prime factor of each number; 1 of 1. # (individual,)"""
        different, which = np.unique(numbers, return_inverse=True)
        return np.array([self._primes_of(number)[0] for number in different.tolist()], np.int64)[which]

    def _primes_of(self, number: int) -> list[int]:
        """List the prime factors of a number, each as often as it divides; 1 of 1."""
        if number not in self._primes:
            primes, rest, factor = [], number, 2
            while factor * factor <= rest:
                while rest % factor == 0:
                    primes.append(factor)
                    rest //= factor
                factor += 1
            self._primes[number] = primes + [rest] if rest > 1 or not primes else primes
        return self._primes[number]

    def swap_loops(self, order: Order, who: Ints, rng: np.random.Generator) -> None:
        """Swap two free loops of one level, once for each of `who`."""
        levels = [i for i, level in enumerate(self.space.orders.levels) if len(level.free) > 1]
        if not levels or not len(who):
            return
        chosen = rng.choice(levels, len(who))
        for i in levels:
            swapped, level = who[chosen == i], self.space.orders.levels[i]
            free, start = len(level.free), len(level.outermost) + len(level.idle)
            a, b = (start + rng.integers(0, free, len(swapped)) for _ in range(2))
            b = np.where(rng.random(len(swapped)) < INNERMOST, start + free - 1, b)
            order[swapped, i, a], order[swapped, i, b] = order[swapped, i, b], order[swapped, i, a]


def drawn_from(lists: Sequence[Sequence[int] | Ints], which: Ints, rng: np.random.Generator) -> Ints:
    """Draw an entry of list number `which`. # (individual,)"""
    lengths = np.array([len(own) for own in lists])
    table = np.zeros((len(lists), lengths.max()), np.int64)
    for row, own in zip(table, lists, strict=True):
        row[: len(own)] = own
    drawn: Ints = table[which, (rng.random(len(which)) * lengths[which]).astype(np.int64)]
    return drawn
