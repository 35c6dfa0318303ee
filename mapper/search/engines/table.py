"""The table of engines."""

from collections.abc import Mapping, Sequence

from ..recorder import Scores, ToBeat
from ..score import ScoringTask
from .engine import EngineLine
from .jax_line import JaxLine
from .numpy_line import NumpyLine

ENGINES: Mapping[str, EngineLine] = {"numpy": NumpyLine(), "jax": JaxLine()}


def score(task: ScoringTask, chunks: Sequence[int], known: ToBeat) -> list[Scores]:
    """The scores of each of `chunks`, by the engine of the task; sent to workers by its name."""
    return ENGINES[task.engine].score(task, chunks, known)
