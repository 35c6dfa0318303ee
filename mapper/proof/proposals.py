"""`--search auto` with a cost model: our model proposes, the cost model decides.

First populations evolve by our model for each objective of ours: mappings that any model should find good. The cost
model is asked about the best of each. Then its answers are fitted to our figures, children of the best
answered mappings are ranked by the fit, and it is asked about the first of them; and about some that the fit does not
choose, as our figures may lack what matters. docs/decisions/087-cost-models.md has what was measured.

The fit is a ridge regression of the logarithm of the answers on the logarithms of our figures: energy by memory and
tensor (which stands for words), cycles, cycles by memory, and instances. It is there to rank, not to predict.
"""

from dataclasses import dataclass, field
from itertools import chain, zip_longest

import numpy as np

from ..mapping import Floats, Ints, floats, unique_rows
from ..model import Costs, evaluate, validity
from ..problem import OBJECTIVES
from ..search import Rounds, Task
from ..search.cost_model import nest_keys
from ..search.evolution import Population, PopulationSpaces
from ..search.outcome import Ended
from ..search.variation import Individuals

RIDGE = 0.1
HALF = 16  # the rank from the best at which an answer has half the weight of the best
DIGITS = 9  # of a logarithm, by which figures are the same
GENERATIONS = 60  # of a population by our model, at most
FIRST = 32  # mappings of the first round
EACH, BLIND = 16, 4  # mappings of a later round; those of them that the fit does not choose
PARENTS = 32  # the best answered mappings, whose children are ranked
CHILDREN = 1024
DRAWN_ROUNDS, ROUNDS = 64, 4  # of repair of a drawn mapping, of a child
IDLE = 20  # rounds in a row without a new mapping that end the search
STREAM = 2**32 - 1  # of random numbers; those of populations are their numbers


def features(costs: Costs) -> Floats:
    """Return the logarithms of the figures of each mapping. # (mapping, feature)"""
    n, levels, tensors = costs.level_energy_pj.shape
    totals = (costs.energy_pj[:, None], floats(costs.cycles)[:, None])
    by_level = (
        costs.level_energy_pj.reshape(n, levels * tensors),
        floats(costs.level_cycles),
        floats(costs.counts.instances),
    )
    logarithms: Floats = np.log1p(np.concatenate([*totals, *by_level], axis=1))
    return logarithms


@dataclass(frozen=True, eq=False)
class Answered:
    """Mappings with an answer that is a number."""

    individuals: Individuals
    features: Floats  # (mapping, feature)
    values: Floats = field(default_factory=lambda: np.empty(0))  # (mapping,)

    def with_more(self, individuals: Individuals, figures: Floats, values: Floats) -> "Answered":
        """Return these and those of `individuals` that were not refused, whose value is inf."""
        given = np.flatnonzero(np.isfinite(values))
        return Answered(
            Individuals.joined([self.individuals, individuals.take(given)]),
            np.concatenate([self.features, figures[given]]),
            np.concatenate([self.values, values[given]]),
        )

    def best(self, most: int) -> Individuals:
        """Return those of least value, one of each value: many are children of one mapping and differ in nothing."""
        _, first = np.unique(self.values, return_index=True)
        return self.individuals.take(first[:most])

    def different(self, figures: Floats) -> Ints:
        """Return the places of figures unlike those answered and unlike the figures before them."""
        every = np.rint(np.concatenate([self.features, figures]) * 10.0**DIGITS).astype(np.int64)
        _, first = np.unique(unique_rows(every)[1], return_index=True)
        return np.sort(first[first >= len(self.features)]) - len(self.features)

    def ranked(self, figures: Floats) -> Ints:
        """Return the places of mappings, the one of least expected answer first."""
        above_0 = self.values[self.values > 0]
        logarithms = np.log(np.maximum(self.values, above_0.min(initial=1.0) if len(above_0) else 1.0))
        rank = np.argsort(np.argsort(self.values, kind="stable"), kind="stable")
        weight = 1 / (1 + rank / HALF)
        mean, spread = self.features.mean(axis=0), self.features.std(axis=0)
        spread[spread == 0] = 1.0

        def columns(rows: Floats) -> Floats:
            return np.concatenate([(rows - mean) / spread, np.ones((len(rows), 1))], axis=1)

        known = columns(self.features)
        ridge = np.diag([*np.full(known.shape[1] - 1, RIDGE), 0.0])  # the mean is free
        slopes = np.linalg.solve((known.T * weight) @ known + ridge, known.T @ (weight * logarithms))
        return np.argsort(columns(figures) @ slopes, kind="stable")


def proposed_by_our_model(task: Task) -> Rounds:
    """Propose what our model finds good, then what the answers so far make promising."""
    proposals, idle = _Proposals(task), 0
    individuals = proposals.first()
    while idle < IDLE:
        idle = 0 if len(individuals) else idle + 1
        if len(individuals):
            values = yield individuals.batch(task.space)
            proposals.learn(individuals, values)
        individuals = proposals.next()
    return Ended.SETTLED


class _Proposals:
    """What our model proposes, and what became of it."""

    def __init__(self, task: Task) -> None:
        self.task = task.towards(front=())
        self.sampler = PopulationSpaces(self.task).spaces[-1]
        self.rng = np.random.default_rng(np.random.SeedSequence(task.options.seed, spawn_key=(STREAM,)))
        self.bred = [self._bred(name) for name in OBJECTIVES]
        self.pool = Individuals.joined(self.bred)
        self.seen: set[str] = set()  # the nests proposed
        nothing = self.pool.take(slice(0))
        self.answered = Answered(nothing, self._features(nothing))

    def first(self) -> Individuals:
        """Return the best by each of our objectives, in turn."""
        ends = np.cumsum([len(survivors) for survivors in self.bred]).tolist()
        places = (range(end - len(survivors), end) for end, survivors in zip(ends, self.bred, strict=True))
        in_turn = [place for place in chain.from_iterable(zip_longest(*places)) if place is not None]
        individuals = self.pool.take(np.array(in_turn, np.int64))
        return self._proposed(individuals, self._new(individuals)[:FIRST])

    def next(self) -> Individuals:
        """Return the mappings of the next round: by the fit, once there are answers, and some children at random."""
        children = self._children()
        candidates = Individuals.joined([children, self.pool])
        new = self._new(candidates)
        chosen = new[:0]
        if len(self.answered.values) and len(new):
            figures = self._features(candidates.take(new))
            unlike = self.answered.different(figures)
            chosen = new[unlike[self.answered.ranked(figures[unlike])]][: EACH - BLIND]
        random_places = self.rng.permutation(np.setdiff1d(new[new < len(children)], chosen))
        return self._proposed(candidates, np.concatenate([chosen, random_places[: EACH - len(chosen)]]))

    def learn(self, individuals: Individuals, values: Floats) -> None:
        """Take the values # (mapping,) that were answered; inf where refused."""
        self.answered = self.answered.with_more(individuals, self._features(individuals), values)

    def _bred(self, name: str) -> Individuals:
        """Evolve a population by one of our objectives; returns the survivors, the best first, valid and different."""
        population = Population(PopulationSpaces(self.task.towards(objectives=(name,))), 0)
        for number in range(GENERATIONS):
            population.generation(number)
            if population.over:
                break
        return population.survivors

    def _children(self) -> Individuals:
        """Make children of the best answered mappings; before there are any, of our own; without those, draw."""
        sampler, parents = self.sampler, self.answered.best(PARENTS) if len(self.answered.values) else self.pool
        if len(parents):
            return sampler.repair.fitted(sampler.variation.children(parents, self.rng, CHILDREN), self.rng, ROUNDS)
        return sampler.repair.fitted(sampler.drawn(self.rng, CHILDREN), self.rng, DRAWN_ROUNDS)

    def _new(self, individuals: Individuals) -> Ints:
        """Return the places of valid mappings, one of each nest, that were not proposed before."""
        batch = individuals.batch(self.task.space)
        first: dict[str, int] = {}
        for place, (key, reason) in enumerate(zip(nest_keys(batch), validity(batch).tolist(), strict=True)):
            if not reason and key not in self.seen:
                first.setdefault(key, place)
        return np.array(list(first.values()), np.int64)

    def _proposed(self, individuals: Individuals, places: Ints) -> Individuals:
        chosen = individuals.take(places)
        self.seen.update(nest_keys(chosen.batch(self.task.space)))
        return chosen

    def _features(self, individuals: Individuals) -> Floats:
        return features(evaluate(individuals.batch(self.task.space), self.task.table, self.task.charges))
