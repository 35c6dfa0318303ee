"""The interface of proposers, which propose mappings chunk by chunk. mapper/searchers/table.py lists them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Protocol, Self

import numpy as np

from ..mapping import Floats, Mappings
from ..mapspace import LazyBatch, Mapspace
from .options import Configurable, SearchOptions

CHUNK = 8192  # mappings; fewer calls per mapping, and the arrays of a chunk still stay in cache


@dataclass(frozen=True, eq=False)
class Scored:
    """A chunk of mappings with the values of their objectives; inf where a mapping is invalid."""

    chunk: int
    batch: Mappings
    values: Floats  # (mapping, objective)


class Proposer[M](Protocol):
    """Proposes mappings in chunks, of CHUNK or fewer. Pure: every process proposes the same.

    A search that goes on after a number of samples begins with the next chunk, so numbers of samples between chunks
    alone are the first part of a longer search.

    Its memory `M` consists of plain values (None, numbers, text, lists, dicts), as the state on disk includes it. The
    memory changes only between generations, so a chunk depends on all chunks of earlier generations and on no other.
    """

    def configured(self, settings: str) -> Self:
        """Return the same with these settings. Raises InputError with every fault of them."""

    def missing(self) -> list[str]:
        """List the packages to install, in the user's words."""

    @property
    def finite(self) -> bool:
        """Whether it proposes each mapping once and then ends; if not, stop rules end the search."""

    @property
    def lazy(self) -> bool:
        """Whether its batches are LazyBatches, which a compiled engine can evaluate."""

    @property
    def generation(self) -> int | None:
        """The number of chunks that it proposes from one memory; None: it learns nothing."""

    def chunks(self, space: Mapspace, options: SearchOptions) -> Iterable[int]:
        """Count its chunks, 0, 1, 2... Raises InputError where there are too many for these options."""

    def numbers(self, space: Mapspace, chunk: int) -> tuple[int, int] | None:
        """Return start and stop of the mapping numbers in a chunk; None where they are not consecutive."""

    def begin(self, space: Mapspace, seed: int) -> M:
        """Make the memory of the first generation."""

    def propose(self, space: Mapspace, seed: int, memory: M, chunk: int) -> Mappings:
        """Propose the mappings of a chunk."""

    def learn(self, space: Mapspace, memory: M, scored: Sequence[Scored]) -> M:
        """Make the memory of the next generation, from all chunks of this generation in order."""


class NonLearning(Configurable):
    """The common methods of proposers that learn nothing."""

    @property
    def generation(self) -> None:
        """None, as it learns nothing."""

    def begin(self, space: Mapspace, seed: int) -> None:
        """Make no memory."""

    def learn(self, space: Mapspace, memory: None, scored: Sequence[Scored]) -> None:
        """Learn nothing."""


@dataclass(frozen=True)
class Learning(Configurable):
    """The common part of proposers that learn after each chunk, without end.

    A generation is one chunk, so several processes do not shorten their searches.
    """

    finite: bool = False
    lazy: bool = False
    generation: int = 1

    def chunks(self, space: Mapspace, options: SearchOptions) -> Iterable[int]:
        """Count chunks without end."""
        return count()

    def numbers(self, space: Mapspace, chunk: int) -> None:
        """Return None: the numbers of the mappings are not consecutive."""


def stream(seed: int, *key: int) -> np.random.Generator:
    """Return the random stream of a chunk: it depends on the seed and the key alone."""
    return np.random.default_rng(np.random.SeedSequence(entropy=seed, spawn_key=key))


def random_batch(space: Mapspace, seed: int, chunk: int) -> LazyBatch:
    """Draw mappings uniformly; the random stream of a chunk depends only on the seed and its number."""
    return space.sample_lazily(stream(seed, chunk), CHUNK)
