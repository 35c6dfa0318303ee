"""The table of engines."""

from collections.abc import Mapping, Sequence

from ..recorder import Scores, ToBeat
from ..score import ScoringTask
from .engine import EngineLine
from .jax_line import JaxLine
from .numpy_line import NumpyLine

ENGINES: Mapping[str, EngineLine] = {"numpy": NumpyLine(), "jax": JaxLine()}


def score(task: ScoringTask, chunks: Sequence[int], known: ToBeat) -> list[Scores]:
    """Score each of `chunks` with the engine of the task. Workers import this function by its name."""
    return ENGINES[task.engine].score(task, chunks, known)
