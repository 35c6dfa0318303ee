"""The row of ENGINES for NumPy."""

from collections.abc import Sequence

from ...mapspace import Mapspace
from ...model import CostOptions
from ..recorder import Scores, ToBeat
from ..score import ScoringTask, score_exactly


class NumpyLine:
    """See EngineLine."""

    exact = True

    def missing(self) -> list[str]:
        """Nothing: the project needs NumPy."""
        return []

    def space_faults(self, space: Mapspace, costs: CostOptions) -> list[str]:
        """None: it evaluates every mapping."""
        return []

    def score(self, task: ScoringTask, chunks: Sequence[int], known: ToBeat) -> list[Scores]:
        """The scores of each of `chunks`, of what may improve on `known`."""
        return score_exactly(task, chunks, known)
