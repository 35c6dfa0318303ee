"""The table of engines, and its row for NumPy."""

from collections.abc import Mapping, Sequence

from ...mapspace import Mapspace
from ...problem import Charges
from ..recorder import RecordThreshold, Scores
from ..score import ScoringTask, score_exactly
from .engine import EngineLine
from .jax_line import JaxLine


class NumpyLine:
    """See EngineLine."""

    exact = True

    def missing(self) -> list[str]:
        """List no package: NumPy is always installed."""
        return []

    def space_faults(self, space: Mapspace, costs: Charges) -> list[str]:
        """List no fault: it evaluates every mapping."""
        return []

    def score(self, task: ScoringTask, chunks: Sequence[int], known: RecordThreshold) -> list[Scores]:
        """Score each of `chunks`: the mappings that may improve on `known`."""
        return score_exactly(task, chunks, known)


ENGINES: Mapping[str, EngineLine] = {"numpy": NumpyLine(), "jax": JaxLine()}


def score(task: ScoringTask, chunks: Sequence[int], known: RecordThreshold) -> list[Scores]:
    """Score each of `chunks` with the engine of the task. Workers import this function by its name."""
    return ENGINES[task.task.options.engine].score(task, chunks, known)
