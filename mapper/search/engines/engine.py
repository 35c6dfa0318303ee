"""The interface of engines, the array libraries that run the model: NumPy, or the same functions compiled by JAX.

There is one model, cost.py and what it calls, written against the Python array API. A compiled engine compiles it once
per layer and machine and selects the mappings that could improve on the best known (prefilter.py); NumPy evaluates
those few again, so the record of a search does not depend on the engine, to the last bit.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...mapping import Floats
from ...mapspace import LazyBatch, Mapspace
from ...problem import Charges
from ..recorder import RecordThreshold, Scores
from ..score import ScoringTask


class Sight(Protocol):
    """Validity and cycles of a batch, computed in the background until they are read."""

    def reasons(self) -> NDArray[np.int8]:
        """Return the codes of `validity`. # (mapping,)"""

    def cycles(self) -> Floats:
        """Return the compute cycles. # (mapping,)"""


class Engine(Protocol):
    """The model compiled for one mapspace and some objectives."""

    def look(self, draw: LazyBatch) -> Sight:
        """Start to compute validity and cycles."""

    def values(self, draw: LazyBatch) -> tuple[Floats, Floats]:
        """Bound the objectives from below and above, up to rounding: equal where counts are exact.
        # (mapping, objective) each"""


class EngineLine(Protocol):
    """A row of ENGINES: it scores the mappings of a search."""

    @property
    def exact(self) -> bool:
        """Whether only NumPy runs, which any strategy can use; if not, each mapspace is compiled first."""

    def missing(self) -> list[str]:
        """List the packages to install, in the user's words."""

    def space_faults(self, space: Mapspace, costs: Charges) -> list[str]:
        """List why it cannot evaluate the mappings of `space`, in the user's words."""

    def score(self, task: ScoringTask, chunks: Sequence[int], known: RecordThreshold) -> list[Scores]:
        """Score each of `chunks`: the mappings that may improve on `known`."""
