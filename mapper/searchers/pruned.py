"""`--search pruned`: random draws that dMazeRunner's pruners leave (pruners.py says what they ask for)."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

from ..mapping import MappingBatch
from ..mapspace import Mapspace
from ..search import Unlearning, random_batch
from ..search.options import SearchOptions, setting
from ..search.variation import ground_of
from .pruners import Pruners


@dataclass(frozen=True)
class Pruned(Unlearning):
    """See Proposer. A chunk is what the pruners leave of CHUNK mappings drawn at random; it may be empty.

    The least use of the array is that of dMazeRunner's program, where a user gives none.
    """

    finite: bool = False
    lazy: bool = False
    utilization: float = setting(0.8, "least share of the MAC units that bounds use", least=0, most=1)
    dram: bool = setting(True, "outermost loops reuse one tensor fully and leave filters whole")
    reuse: bool = setting(True, "the innermost tiles cannot grow")

    def chunks(self, space: Mapspace, options: SearchOptions) -> Iterable[int]:
        """Count chunks without end."""
        return count()

    def numbers(self, space: Mapspace, chunk: int) -> None:
        """Return None: the numbers of drawn mappings are not consecutive."""

    def propose(self, space: Mapspace, seed: int, memory: None, chunk: int) -> MappingBatch:
        """Draw mappings uniformly, and take the valid ones that the pruners leave."""
        batch = random_batch(space, seed, chunk)
        pruners = Pruners(self.utilization, self.dram, self.reuse)
        return batch.take(pruners.left(ground_of(space), batch)).arranged()
