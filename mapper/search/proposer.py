"""What proposes mappings, chunk by chunk. strategies/ holds them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..mapping import Floats, Mappings
from ..mapspace import LazyBatch, Mapspace
from .options import SearchOptions

CHUNK = 8192  # mappings; fewer calls per mapping, and the arrays of a chunk still stay in cache


@dataclass(frozen=True, eq=False)
class Scored:
    """A chunk of mappings with the values of the objectives; inf where a mapping is invalid."""

    chunk: int
    batch: Mappings
    values: Floats  # (mapping, objective)


class Proposer[M](Protocol):
    """Proposes mappings in chunks of at most CHUNK. Pure: every process that is asked proposes the same.

    A memory `M` is made of plain values (None, numbers, text, lists, dicts), for it is part of the state on disk. It
    changes between generations alone, so that a chunk depends on all chunks of earlier generations and on no other.
    """

    @property
    def finite(self) -> bool:
        """Whether it proposes each mapping once and ends by itself; if not, rules end the search."""

    @property
    def lazy(self) -> bool:
        """Whether its batches are LazyBatches, which a compiled engine evaluates."""

    @property
    def generation(self) -> int | None:
        """How many chunks it proposes from one memory; None: it learns nothing."""

    def chunks(self, space: Mapspace, options: SearchOptions) -> Iterable[int]:
        """The numbers of its chunks, 0, 1, 2... Raises InputError where there are too many for these options."""

    def numbers(self, space: Mapspace, chunk: int) -> tuple[int, int] | None:
        """The chunk as the mappings numbered from the first number to before the second, where it is that."""

    def begin(self, space: Mapspace, seed: int) -> M:
        """The memory of the first generation."""

    def propose(self, space: Mapspace, seed: int, memory: M, chunk: int) -> Mappings:
        """The mappings of one chunk."""

    def learn(self, space: Mapspace, memory: M, scored: Sequence[Scored]) -> M:
        """The memory of the next generation, from all chunks of this one in their order."""


class Unlearning:
    """What proposers that learn nothing have in common."""

    @property
    def generation(self) -> None:
        """It learns nothing."""

    def begin(self, space: Mapspace, seed: int) -> None:
        """No memory."""

    def learn(self, space: Mapspace, memory: None, scored: Sequence[Scored]) -> None:
        """Nothing."""


def random_batch(space: Mapspace, seed: int, chunk: int) -> LazyBatch:
    """Uniform samples; the chunk's stream depends on the seed and its number alone."""
    return space.sample_lazily(np.random.default_rng(np.random.SeedSequence(entropy=seed, spawn_key=(chunk,))), CHUNK)
