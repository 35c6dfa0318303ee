"""`--search random`: mappings drawn uniformly from the whole mapspace, the method of the Ruby paper."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

from ...mapspace import LazyBatch, Mapspace
from ..options import SearchOptions
from ..proposer import Unlearning, random_batch


@dataclass(frozen=True)
class RandomDraws(Unlearning):
    """See Proposer."""

    finite: bool = False
    lazy: bool = True

    def chunks(self, space: Mapspace, options: SearchOptions) -> Iterable[int]:
        """Without end."""
        return count()

    def numbers(self, space: Mapspace, chunk: int) -> None:
        """They are no numbers in a row."""

    def propose(self, space: Mapspace, seed: int, memory: None, chunk: int) -> LazyBatch:
        """Uniform samples; the chunk's stream depends on the seed and its number alone."""
        return random_batch(space, seed, chunk)
