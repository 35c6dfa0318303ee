"""One choice of kept tensors in the proof of `--search optimal`: bounded as a whole, then branch by branch."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import numpy as np

from .aims import Frontier, Point
from .branch import Branching
from .coverage import Coverage
from .geometric import Geometric
from .mapping import Floats
from .relax import ROUNDING, Bound, Relaxation

MOST_CORNERS = 500_000  # open nodes told apart in what is proven of a front


@dataclass(eq=False)
class Kept:
    """One choice of kept tensors: its relaxation, and the branch and bound once there is need of it."""

    relaxed: Relaxation
    of: Callable[[Bound], Floats]  # the aim's number of a bound
    geometric: Geometric | None = None  # sharper bounds, where there is one objective
    branching: Branching | None = None

    def __post_init__(self) -> None:
        columns = self.relaxed.columns
        self.bound = self.relaxed.bound(lambda g, column: columns[g][column].min(keepdims=True), 1)
        self.sharper = -np.inf

    def sharpen(self) -> None:
        """Raise the bound of the whole, where there is one objective; TimeUp leaves it as it was."""
        if self.geometric is not None:
            self.sharper = self.geometric.factors([np.arange(len(group)) for group in self.relaxed.groups]).least

    @property
    def least(self) -> float:
        """No mapping that is left has a lower number; inf where none is left."""
        if self.branching is not None:
            return self.branching.least
        return max(float(self.of(self.bound)[0]), self.sharper) if self.bound.possible[0] else np.inf

    @property
    def open(self) -> int:
        """How many sets are open."""
        return 1 if self.branching is None else len(self.branching.state.bounds)

    @property
    def coverage(self) -> Coverage:
        """What became of all combinations of chains with this choice."""
        if self.branching is not None:
            return self.branching.coverage
        return Coverage(open=prod(len(group) for group in self.relaxed.groups))

    def corners(self, aim: Frontier) -> list[Point]:
        """Lower bounds of what is open, told apart as far as time allows; aim.of rises, so old numbers stay bounds."""
        if self.branching is None:
            return _points(self.bound)
        nodes, reached = self.branching.state.nodes, self.branching.state.bounds
        order = np.argsort(reached)
        order = order[reached[order] < 1 - ROUNDING]
        corners = _points(self.branching.relaxed(nodes[order[:MOST_CORNERS]]))
        rest = float(reached[order[MOST_CORNERS:]].min(initial=np.inf))
        return corners + ([] if np.isinf(rest) else aim.times(rest))


def _points(bound: Bound) -> list[Point]:
    """The bounds that are possible, without those above others."""
    some = np.flatnonzero(bound.possible)
    some = some[np.lexsort((bound.energy_pj[some], bound.cycles[some]))]
    energy = bound.energy_pj[some]
    before = np.minimum.accumulate(np.concatenate([[np.inf], energy[:-1]])) if len(some) else energy
    low = some[energy < before]
    return list(zip(bound.cycles[low].tolist(), bound.energy_pj[low].tolist(), strict=True))
