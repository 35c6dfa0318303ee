"""`--search sketch`: Ansor's two stages, sketches and their annotations; samples go to sketches that bring good values.

Zheng et al., "Ansor: Generating High-Performance Tensor Programs for Deep Learning" (OSDI 2020), sections 4 and 5.
Sequential halving (Karnin, Koren and Somekh, "Almost Optimal Exploration in Multi-Armed Bandits", ICML 2013; successive
halving in Jamieson and Talwalkar, AISTATS 2016) shares the samples out: in each round every sketch left gets as many,
then the better half stays.

A sketch is loop orders, kept tensors, and which dims may be spatial where; its annotation is the bounds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..mapping import Bools, Floats, Ints, MappingBatch
from ..mapspace import Mapspace
from ..search import CHUNK, Learning, Scored, stream
from ..search.options import setting
from ..search.variation import (
    MOST_MUTATIONS,
    TIE,
    Individuals,
    MappingSampler,
    packed,
    ranked_apart,
    sampler_of,
    unpacked,
)

DRAWN_ROUNDS = 64  # of repair of a drawn annotation
ROUNDS = 4  # of repair of a child
GROUPS = 4  # of drawn sketches, each with one choice of what is kept: many in one batch are slow
CROSSED = 0.5  # of children, with dims of another parent
LOOPS = 0.6  # of changes of a sketch: of loop orders; the others change what is spatial or kept
MAKING = 1  # in the key of the random stream that makes sketches
WINNERS = 16  # of earlier brackets, near which new sketches are made


@dataclass(frozen=True, eq=False)
class Sketches:
    """Some sketches, each given by a mapping of it."""

    sampler: MappingSampler
    examples: Individuals  # one of each sketch

    def __len__(self) -> int:
        return len(self.examples)

    @classmethod
    def drawn(cls, sampler: MappingSampler, rng: np.random.Generator, n: int) -> "Sketches":
        """Draw the sketches of mappings, made to fit."""
        sizes = [len(part) for part in np.array_split(np.arange(n), GROUPS)]
        groups = [sampler.fitting(rng, size, DRAWN_ROUNDS) for size in sizes if size]
        return cls(sampler, Individuals.joined(groups) if groups else sampler.drawn(rng, 0))

    @classmethod
    def near(cls, sampler: MappingSampler, individuals: Individuals, rng: np.random.Generator, n: int) -> "Sketches":
        """Make sketches that differ from those of `individuals` mappings in an order, in what is spatial, or in what is
        kept."""
        individuals = individuals.take(rng.integers(0, len(individuals), n))
        number, keep = np.minimum(1 + rng.poisson(1, n), MOST_MUTATIONS), individuals.keep.copy()
        for turn in range(MOST_MUTATIONS):
            kind = rng.random(n)
            kind[number <= turn] = np.inf
            sampler.variation.swap_loops(individuals.order, np.flatnonzero(kind < LOOPS), rng)
            cls._respread(sampler, individuals.bounds, keep, np.flatnonzero((kind >= LOOPS) & (kind < 1)), rng)
        fit = sampler.repair.fitted(replace(individuals, keep=keep), rng, ROUNDS)
        return cls(sampler, sampler.filled(fit, rng, n))

    @staticmethod
    def _respread(sampler: MappingSampler, bounds: Ints, keep: Bools, rows: Ints, rng: np.random.Generator) -> None:
        """Change in place what is spatial, or what is kept, of `rows`."""
        operators = (sampler.moves.move_parallel, sampler.moves.grow, sampler.moves.age)
        chosen = rng.integers(0, len(operators) + (sampler.space.keep_choices.number > 1), len(rows))
        for i, operator in enumerate(operators):
            operator(bounds, rows[chosen == i], rng)
        sampler.variation.change_kept(keep, rows[chosen == len(operators)], rng)

    def take(self, where: Ints) -> "Sketches":
        """Return those at `where`."""
        return Sketches(self.sampler, self.examples.take(where))

    @cached_property
    def spreads(self) -> Bools:
        """Where a bound may be over 1: at every loop, and where the sketch spreads a dim. # (sketch, slot, dim)"""
        loops = np.array([not slot.spatial for slot in self.sampler.space.arch.slots])
        return loops[:, None] | (self.examples.bounds > 1)

    def annotated(self, of: Ints, rng: np.random.Generator) -> Individuals:
        """Draw bounds for the sketches `of` # (mapping,): each dim's size in shares over the slots, on a log scale.

        Returns mappings that fit as far as repair can make them; for others the example of the sketch.
        """
        shares = rng.exponential(size=(len(of), *self.spreads.shape[1:])) * self.spreads[of]
        shares /= shares.sum(axis=1, keepdims=True)
        bounds = np.power(np.array(self.sampler.space.workload.sizes, float), shares).round().astype(np.int64)
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
            self.sampler.variation.change_chains(bounds, np.flatnonzero(number > turn), rng)
        bounds[~self.spreads[of]] = 1
        before = parents.take(first)
        return self._fitted(replace(before, bounds=bounds), before, rng, ROUNDS)

    def _fitted(
        self, individuals: Individuals, otherwise: Individuals, rng: np.random.Generator, rounds: int
    ) -> Individuals:
        fit, which = self.sampler.repair.fitted_each(individuals, rng, rounds)
        return otherwise.replaced(which, fit)


Memory = dict[str, Any]


@dataclass(frozen=True)
class Sketch(Learning):
    """See Proposer. A generation is one round of a bracket; its mapping k is of sketch k modulo their number.

    A bracket begins with new sketches and halves them each round; the last evolves until it no longer improves, and a
    new bracket begins. The memory has an example of each sketch left, the best mappings of each (`members`, by sketch,
    the best first) with their values, and the best of earlier brackets.
    """

    sketches: int = setting(32, "sketches at the beginning of a bracket", least=1, most=CHUNK)
    samples: int = setting(1024, "mappings of a round, shared by the sketches left", least=1, most=CHUNK)
    members: int = setting(32, "mappings of a sketch that have children", least=1)
    fresh: float = setting(0.1, "share of later samples that are drawn, not evolved", least=0, most=1)
    near: float = setting(0.8, "share of later sketches that lie near the best so far", least=0, most=1)
    idle: int = setting(3, "rounds without improvement that end a bracket", least=1)

    def begin(self, space: Mapspace, seed: int) -> Memory:
        """Make the memory of the first bracket."""
        return self._bracket(sampler_of(space), {"seed": seed, "rounds": 0, "winners": None, "lows": None})

    def propose(self, space: Mapspace, seed: int, memory: Memory, chunk: int) -> MappingBatch:
        """Annotate the sketches left: at random in the first round; later mostly by children of their best."""
        sampler, rng = sampler_of(space), stream(seed, chunk)
        sketches = Sketches(sampler, Individuals.of_packed(memory["sketches"]))
        of = self._of(len(sketches))
        if memory["members"] is None:
            individuals = sketches.annotated(of, rng)
            own = np.arange(min(len(sketches), len(individuals)))
            return sampler.batch(individuals.replaced(own, sketches.examples.take(own)))
        children = self._children(sketches, memory, rng)
        drawn = np.flatnonzero(rng.random(len(of)) < self.fresh)
        return sampler.batch(children.replaced(drawn, sketches.annotated(of[drawn], rng)))

    def learn(self, space: Mapspace, memory: Memory, scored: Sequence[Scored]) -> Memory:
        """Keep the better half of the sketches; where the last no longer improves begin a new bracket."""
        (one,) = scored
        memory = memory | {"rounds": memory["rounds"] + 1}
        valid = np.flatnonzero(np.isfinite(one.values[:, 0]))
        every, values = Individuals.of_batch(one.batch.arranged()).take(valid), one.values[valid]
        sketches, before = Individuals.of_packed(memory["sketches"]), np.inf
        of = self._of(len(sketches))[valid]
        if memory["members"] is not None:
            known, before = unpacked(memory["values"]), memory["best"]
            every = Individuals.joined([Individuals.of_packed(memory["members"]), every])
            values, of = np.concatenate([known, values]), np.concatenate([unpacked(memory["of"]), of])
        if not len(values):
            return self._bracket(sampler_of(space), memory)
        new = np.flatnonzero(_new(values, memory["lows"]))  # a sketch is worth what it adds to earlier brackets
        better = new[ranked_apart(values[new])]
        sketch_numbers, first = np.unique(of[better], return_index=True)
        order = sketch_numbers[np.argsort(first)][: max(1, len(sketches) // 2)]  # sketches, the best first
        top = better[:1]
        idle = 0 if values[top[0], 0] < before * (1 - TIE) else memory["still"] + 1
        if len(sketches) == 1 and idle >= self.idle:
            return self._bracket(sampler_of(space), _won(memory, every.take(top), values[top]))
        members, place = self._best_of_each(values, of, order)
        return memory | {
            "sketches": sketches.take(order).packed(),
            "members": every.take(members).packed(),
            "of": packed(place),
            "values": packed(values[members]),
            "best": float(values[top[0], 0]),
            "still": idle,
        }

    def _of(self, sketches: int) -> Ints:
        """Return the sketch of each mapping of a round. # (mapping,)"""
        return np.arange(max(self.samples, sketches)) % sketches

    def _best_of_each(self, values: Floats, of: Ints, order: Ints) -> tuple[Ints, Ints]:
        """Find the members of the sketches in `order`, in turn: the best of each, one of each value; and the place of
        each one's sketch in `order`. # (member,)"""
        place = np.full(of.max() + 1, len(order))
        place[order] = np.arange(len(order))
        ranked = ranked_apart(np.column_stack([place[of], values]))
        own = place[of[ranked]]
        chosen = (own < len(order)) & (np.arange(len(own)) - np.searchsorted(own, own) < self.members)
        return ranked[chosen], own[chosen]

    def _children(self, sketches: Sketches, memory: Memory, rng: np.random.Generator) -> Individuals:
        """Make children of the members of each sketch; of two drawn at random the better becomes a parent."""
        of, parents = self._of(len(sketches)), Individuals.of_packed(memory["members"])
        number = np.bincount(unpacked(memory["of"]).astype(np.int64), minlength=len(sketches))
        start = np.cumsum(number) - number
        first, second = (
            start[of] + (rng.random((2, len(of))).min(axis=0) * number[of]).astype(np.int64) for _ in range(2)
        )
        return sketches.evolved(of, parents, first, second, rng)

    def _bracket(self, sampler: MappingSampler, memory: Memory) -> Memory:
        """Begin a bracket: new sketches, some of them near the best so far."""
        rng, n, winners = stream(memory["seed"], memory["rounds"], MAKING), self.sketches, memory["winners"]
        beside = 0 if winners is None else round(self.near * n)
        every = [Sketches.drawn(sampler, rng, n - beside).examples]
        if beside:
            every.append(Sketches.near(sampler, Individuals.of_packed(winners), rng, beside).examples)
        nothing = {"members": None, "of": None, "values": None, "best": None, "still": 0}
        return memory | nothing | {"sketches": Individuals.joined(every).packed()}


def _new(values: Floats, lows: Any) -> Bools:
    """Mark values # (mapping, objective) that no earlier bracket ended with; all where there are no others."""
    new = np.ones(len(values), bool)
    if lows is not None:
        earlier = unpacked(lows)
        new = ~(abs(values[:, None] - earlier) <= TIE * abs(earlier)).all(axis=2).any(axis=1)
    return new if new.any() else ~new


def _won(memory: Memory, winner: Individuals, values: Floats) -> Memory:
    """Add the best mapping of a bracket to those of the brackets before, of which the best stay."""
    if memory["winners"] is not None:
        winner = Individuals.joined([Individuals.of_packed(memory["winners"]), winner])
        values = np.concatenate([unpacked(memory["lows"]), values])
    best = ranked_apart(values)[:WINNERS]
    return memory | {"winners": winner.take(best).packed(), "lows": packed(values[best])}
