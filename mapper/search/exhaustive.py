"""`--search exhaustive` proposes every mapping, in the order of their numbers."""

from collections.abc import Iterable
from dataclasses import dataclass

from ...workloads import InputError, option_fault
from ..mapping import MappingBatch
from ..mapspace import Mapspace
from .options import SearchOptions
from .proposer import CHUNK, NonLearning

EXHAUSTIVE_LIMIT = 10_000_000  # mappings; with more, an exhaustive search needs a stop rule
NO_VICTORY = "an exhaustive search visits every mapping, improvement or not"


@dataclass(frozen=True)
class Exhaustive(NonLearning):
    """See Proposer."""

    finite: bool = True
    lazy: bool = False

    def chunks(self, space: Mapspace, options: SearchOptions) -> Iterable[int]:
        """Count the chunks of all mappings.

        Raises InputError for too many mappings without a stop rule, or where some numbers have no mapping.
        """
        if not space.gapless:
            text = f"exhaustive visits every mapping by its number; this mapspace has too many ({space.size})"
            raise InputError(option_fault("search", f"{text}: use auto or random"))
        total = space.numbers
        if total > EXHAUSTIVE_LIMIT and options.samples is None and options.time_limit is None:
            rule = f"exhaustive visits every mapping, at most {EXHAUSTIVE_LIMIT:,} without an end set"
            text = f"{rule}; this mapspace has {total:.3g}: give samples or time-limit, or use random"
            raise InputError(option_fault("search", text))
        return range(-(-total // CHUNK))

    def numbers(self, space: Mapspace, chunk: int) -> tuple[int, int]:
        """Return start and stop of the mapping numbers in a chunk."""
        return chunk * CHUNK, min((chunk + 1) * CHUNK, space.numbers)

    def propose(self, space: Mapspace, seed: int, memory: None, chunk: int) -> MappingBatch:
        """Propose the mappings with the chunk's numbers; the seed does not matter."""
        return space.at(range(*self.numbers(space, chunk)))
