"""A population: mappings that evolve, generation by generation, until they no longer improve.

A (mu + lambda) evolution: the best of parents and children survive. Two survivors never have the same value, as
mappings of equal value mostly differ in ways that do not matter.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...mapping import Floats, Ints, frontier
from ...model import validity
from ..recorder import RecordThreshold, Scores
from ..variation import TIE, Individuals, MappingSampler, ranked_apart
from .population_spaces import PopulationSpaces

DRAWN = 4  # generations of drawn mappings at most, unless none is valid
DRAWN_ROUNDS = 64  # of repair of a drawn mapping
ROUNDS = 4  # of repair of a child
IDLE = 30  # generations without improvement that end a population
IDLE_GENERATIONS = 8  # the same in a smaller mapspace, from which it goes on to the larger


class Scored(NamedTuple):
    """Reason codes of some mappings, and their values; inf where a mapping is invalid or ruled out."""

    reasons: NDArray[np.int8]  # (mapping,)
    objectives: Floats  # (mapping, objective)
    axes: Floats  # (mapping, axis of the front)
    aims: Floats  # (mapping, aim) what the population minimises


@dataclass(frozen=True)
class Sizes:
    """The numbers of mappings of a population."""

    survivors: int  # mu
    children: int  # lambda: mappings of a generation


SIZES = Sizes(128, 1024)


@dataclass(frozen=True, eq=False)
class Generation:
    """The scores of a generation, and the mappings that a record may name."""

    scores: Scores
    places: Ints  # (named,) in the generation
    named: Individuals


@dataclass(eq=False)
class Population:
    """The survivors so far. Its random stream depends on the seed and its number alone."""

    inputs: PopulationSpaces
    number: int
    sizes: Sizes = field(default_factory=lambda: SIZES)
    stage: int = 0  # which mapspace it is in
    drawn: int = 0  # generations of drawn mappings
    idle: int = 0  # generations without improvement
    values: Floats = field(init=False)  # (survivor, aim), the best first
    survivors: Individuals = field(init=False)
    front: tuple[tuple[float, ...], ...] = ()  # the points of its front
    best: tuple[float, ...] = (np.inf,)  # all objectives of the best of it
    rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        seed = np.random.SeedSequence(self.inputs.task.options.seed, spawn_key=(self.number,))
        self.rng = np.random.default_rng(seed)
        self.survivors = self._sampler.drawn(self.rng, 0)
        self.values = np.empty((0, len(self.aims)))
        if len(self._given):
            self.stage = len(self.inputs.spaces) - 1  # a smaller mapspace may not have them

    @property
    def _given(self) -> Individuals:
        """The mappings that the search begins with: they join the first mappings of the first population."""
        start = self.inputs.task.start
        if start is None or self.number or self.drawn:
            return self.survivors.take(slice(0))
        return Individuals(start.factors, start.order, start.keep)

    @property
    def aims(self) -> tuple[str, ...]:
        """What it minimises: the objectives; where a front is asked for, every other population one of its axes."""
        goal = self.inputs.task.goal
        every = dict.fromkeys([goal.objectives, *((axis,) for axis in goal.front)])
        return list(every)[self.number % len(every)]

    @property
    def over(self) -> bool:
        """Whether it no longer improves."""
        return self.stage == len(self.inputs.spaces) - 1 and self.idle >= IDLE

    @property
    def _sampler(self) -> MappingSampler:
        return self.inputs.spaces[self.stage]

    def generation(self, chunk: int) -> Generation:
        """Make generation `chunk` of the search, and let the best of it and of the survivors survive."""
        individuals = self.propose()
        scored = self._score(individuals)
        self.settle(individuals, scored.aims)
        axes = scored.axes if self.inputs.task.goal.front else None
        scores = Scores.of(chunk, scored.reasons, scored.objectives, axes)
        self.best = min([self.best, *map(tuple, scores.values[-1:].tolist())])
        if axes is not None:
            front = np.array([*self.front, *scores.points.tolist()]).reshape(-1, axes.shape[1])
            self.front = tuple(map(tuple, front[frontier(front)].tolist()))
        places = np.union1d(scores.records, scores.candidates)
        return Generation(scores, places, individuals.take(places))

    def settle(self, individuals: Individuals, values: Floats) -> None:
        """Let the best of `individuals`, by their values # (mapping, aim), and of the survivors survive; inf:
        invalid."""
        before = self.values[:1].tolist()
        self._survive(individuals, values)
        improved = bool(len(self.values)) and (not before or self.values[0, 0] < before[0][0] * (1 - TIE))
        self.idle = 0 if improved else self.idle + 1
        if self.idle >= IDLE_GENERATIONS and self.stage < len(self.inputs.spaces) - 1:
            self.stage, self.idle = self.stage + 1, 0

    def propose(self) -> Individuals:
        """Make the mappings of a generation: drawn at random, and made to fit, until there are enough survivors; then
        children. Others drawn at random take the places of those that could not be repaired."""
        given = self._given
        sampler, few = self._sampler, len(self.values) < self.sizes.survivors and self.drawn < DRAWN
        if few or not len(self.values):
            self.drawn += 1
            individuals, rounds = sampler.drawn(self.rng, self.sizes.children), DRAWN_ROUNDS
        else:
            individuals, rounds = sampler.variation.children(self.survivors, self.rng, self.sizes.children), ROUNDS
        fit = sampler.repair.fitted(individuals, self.rng, rounds)
        replacements = sampler.drawn(self.rng, self.sizes.children - len(fit))
        return Individuals.joined([given, fit, replacements]).take(slice(self.sizes.children))

    def _score(self, individuals: Individuals) -> Scored:
        """Evaluate mappings, without those that can neither survive nor extend the front."""
        task, n = self.inputs.task, len(individuals)
        goal, batch = task.goal, self._sampler.repair.batch(individuals)
        reasons = validity(batch)
        remaining = np.flatnonzero(reasons == 0)
        if task.options.prune and len(remaining) and len(self.values) == self.sizes.survivors:
            known = RecordThreshold(tuple(self.values[-1].tolist()), self.front)
            remaining = remaining[self.inputs.pruning(self.aims).hopeful(batch.take(remaining), known, 0)]
        names, several = (*goal.objectives, *goal.front), len(goal.objectives)
        values = np.full((n, len(names)), np.inf)
        if len(remaining):
            values[remaining] = task.valuation.values(batch.take(remaining), RecordThreshold(self.best, self.front))
        aims = values[:, [names.index(name) for name in self.aims]]
        return Scored(reasons, values[:, :several], values[:, several:], aims)

    def _survive(self, individuals: Individuals, values: Floats) -> None:
        """Keep the best of the survivors and of `individuals`, one of each value."""
        valid = np.flatnonzero(np.isfinite(values[:, 0]))
        every = Individuals.joined([self.survivors, individuals.take(valid)])
        values = np.concatenate([self.values, values[valid]])
        order = ranked_apart(values)[: self.sizes.survivors]  # of equal values the older
        self.survivors, self.values = every.take(order), values[order]

    # State

    def plain(self) -> dict[str, Any]:
        """Convert to plain values for a checkpoint; `of_plain` reads them."""
        return {
            "number": self.number,
            "stage": self.stage,
            "drawn": self.drawn,
            "idle": self.idle,
            "values": self.values.tolist(),
            "survivors": self.survivors.plain(),
            "front": self.front,
            "best": self.best,
            "rng": self.rng.bit_generator.state,
        }

    @classmethod
    def of_plain(cls, inputs: PopulationSpaces, state: Mapping[str, Any]) -> "Population":
        """Read the values of `plain`."""
        own = cls(inputs, state["number"], SIZES, state["stage"], state["drawn"], state["idle"])
        own.values = np.array(state["values"]).reshape(-1, len(own.aims))
        if len(own.values):
            own.survivors = Individuals.of_plain(state["survivors"])
        own.front = tuple(map(tuple, state["front"]))
        own.best = tuple(state.get("best", own.best))  # a state may be from before it was there
        own.rng.bit_generator.state = state["rng"]
        return own
