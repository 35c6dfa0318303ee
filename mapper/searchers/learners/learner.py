"""The common part of proposers that learn a model of the cost.

A generation is one batch. `learn` adds its values to the history, learns, chooses the next batch and stores it in the
memory, from which `propose` reads it: so any process proposes the same.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from ...mapping import MappingBatch
from ...mapspace import Mapspace
from ...search import CHUNK, Scored, random_batch
from ...search.options import Configurable, SearchOptions, setting
from ...search.variation import Individuals, MappingSampler
from .candidates import drawn, new_ones, sampler_of
from .history import History, no_individuals
from .nests import keys_of

Memory = dict[str, Any]
ENOUGH = 4  # mappings with a cost, from which a model is learnt


@dataclass(frozen=True, eq=False)
class LearnerState:
    """What a generation learns from: the mapspace, the history, its random stream, what the last one left."""

    sampler: MappingSampler
    history: History
    rng: np.random.Generator
    own: Any  # plain values of the learner

    @property
    def space(self) -> Mapspace:
        return self.sampler.space


@dataclass(frozen=True)
class Learner(Configurable, ABC):
    """See Proposer. Proposes valid mappings that it has not proposed before, while it finds any."""

    batch: int = setting(64, "mappings of a generation, which are scored together", least=1, most=CHUNK)
    points: int = setting(1024, "most mappings to learn from: the best half, and the newest others", least=8)

    finite = False
    lazy = False
    generation = 1

    @abstractmethod
    def chosen(self, state: LearnerState) -> tuple[Individuals, Any]:
        """Choose at most `batch` mappings, and return plain values for the next generation.

        Some may be seen or equal; drawn ones take their places.
        """

    def first(self, state: LearnerState) -> tuple[Individuals, Any]:
        """Choose mappings before any is scored: none, so that all are drawn."""
        return no_individuals(state.space), None

    def chunks(self, space: Mapspace, options: SearchOptions) -> Iterable[int]:
        """Count chunks without end."""
        return count()

    def numbers(self, space: Mapspace, chunk: int) -> None:
        """Return None: the numbers of learnt mappings are not consecutive."""

    def begin(self, space: Mapspace, seed: int) -> Memory:
        """Make the memory of the first generation."""
        state = LearnerState(sampler_of(space), History.empty(space), _stream(seed, 0), None)
        chosen, own = self.first(state)
        return self._memory(seed, 0, state, chosen, own)

    def propose(self, space: Mapspace, seed: int, memory: Memory, chunk: int) -> MappingBatch:
        """Propose the batch in the memory.

        Where no new valid mapping was found, mappings drawn at random, valid or not and perhaps seen, so that the stop
        rules end the search: as many as a batch has, or CHUNK where no valid mapping is known at all.
        """
        if memory["batch"] is None:
            return random_batch(space, seed, chunk).arranged().take(slice(memory["drawn"]))
        return Individuals.of_plain(memory["batch"]).batch(space)

    def learn(self, space: Mapspace, memory: Memory, scored: Sequence[Scored]) -> Memory:
        """Learn from the scores of a generation, and choose the next."""
        history = before = History.of_plain(space, memory["history"])
        for one in scored:
            batch = one.batch.arranged()
            individuals, values = Individuals(batch.factors, batch.order, batch.keep), one.values
            if memory["batch"] is None:  # drawn: those that are valid, and new
                valid = np.flatnonzero(np.isfinite(values[:, 0]))
                individuals, values = individuals.take(valid), values[valid]
                new = ~np.isin(keys_of(space, individuals), history.seen)
                individuals, values = individuals.take(new), values[new]
            history = history.with_more(space, individuals, values, self.points)
        number = memory["generation"] + 1
        state = LearnerState(sampler_of(space), history, _stream(memory["seed"], number), memory["own"])
        chosen, own = no_individuals(space), memory["own"]
        if len(history.seen) > len(before.seen) and history.accepted.sum() >= ENOUGH:
            chosen, own = self.chosen(state)
        return self._memory(memory["seed"], number, state, chosen, own)

    def _memory(self, seed: int, number: int, state: LearnerState, individuals: Individuals, own: Any) -> Memory:
        """Make the memory of generation `number`, with a batch of new ones of `individuals` and of drawn mappings."""
        space, history = state.space, state.history
        individuals = new_ones(space, [individuals], history.seen).take(slice(self.batch))
        seen = np.concatenate([history.seen, keys_of(space, individuals)])
        individuals = Individuals.joined(
            [individuals, drawn(state.sampler, state.rng, self.batch - len(individuals), seen)]
        )
        return {
            "seed": seed,
            "generation": number,
            "batch": individuals.plain() if len(individuals) else None,
            "drawn": self.batch if len(history.seen) else CHUNK,
            "history": history.plain(),
            "own": own,
        }


def _stream(seed: int, number: int) -> np.random.Generator:
    """Make the random stream of a generation; those of drawn chunks have other keys."""
    return np.random.default_rng(np.random.SeedSequence(entropy=seed, spawn_key=(number, 1)))
