"""Array libraries that run the model: NumPy, or the same functions compiled by JAX.

There is one model, cost.py and what it calls, written against the Python array API. A compiled engine runs it once per
layer and machine and finds which of many mappings could improve on what is known (prefilter.py); those few NumPy
evaluates again, so what a search records does not depend on the engine, to the last bit.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...mapping import Floats
from ...mapspace import LazyBatch, Mapspace
from ...model import CostOptions
from ..recorder import Scores, ToBeat
from ..score import ScoringTask


class Sight(Protocol):
    """What an engine finds out about a batch before all else, while the reader may do something different."""

    def reasons(self) -> NDArray[np.int8]:
        """The code of `validity`. # (mapping,)"""

    def cycles(self) -> Floats:
        """Cycles of compute. # (mapping,)"""


class Engine(Protocol):
    """The model compiled for one mapspace and some objectives."""

    def look(self, draw: LazyBatch) -> Sight:
        """Begin to find out which mappings are valid."""

    def values(self, draw: LazyBatch) -> Floats:
        """The objectives, up to rounding. # (mapping, objective)"""


class EngineLine(Protocol):
    """A row of ENGINES: who scores the mappings of a search."""

    @property
    def exact(self) -> bool:
        """Whether it is NumPy alone, for any strategy; if not, it is compiled for each mapspace first."""

    def missing(self) -> list[str]:
        """What has to be installed, in the user's words; nothing where all is there."""

    def space_faults(self, space: Mapspace, costs: CostOptions) -> list[str]:
        """Why it cannot evaluate the mappings of `space`, in the user's words."""

    def score(self, task: ScoringTask, chunks: Sequence[int], known: ToBeat) -> list[Scores]:
        """The scores of each of `chunks`, of what may improve on `known`."""
