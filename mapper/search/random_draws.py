"""`--search random` draws mappings uniformly from the whole mapspace, the method of the Ruby paper."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

from ..mapspace import LazyBatch, Mapspace
from .options import SearchOptions
from .proposer import NonLearning, random_batch


@dataclass(frozen=True)
class RandomDraws(NonLearning):
    """See Proposer."""

    finite: bool = False
    lazy: bool = True

    def chunks(self, space: Mapspace, options: SearchOptions) -> Iterable[int]:
        """Count chunks without end."""
        return count()

    def numbers(self, space: Mapspace, chunk: int) -> None:
        """Return None: the numbers of drawn mappings are not consecutive."""

    def propose(self, space: Mapspace, seed: int, memory: None, chunk: int) -> LazyBatch:
        """Draw mappings uniformly; the random stream of a chunk depends only on the seed and its number."""
        return random_batch(space, seed, chunk)
