"""One choice of kept tensors in the proof of `--search optimal`: bounded as a whole, then branch by branch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ...certificate import BOUNDED, WEIGHED, Choice, Tree
from ...mapping import Floats, Ints, staircase
from ...model.bounds import ROUNDING, Bound, Factors, Geometric, Relaxation
from ..coverage import Coverage
from ..outcome import Point
from .branch_and_bound import Branching, importance
from .certify import kept_names
from .forest import Forest
from .incumbents import FrontIncumbents
from .leaves import LeafEvaluator
from .trail import certified_tree

MOST_CORNERS = 500_000  # open nodes told apart in what is proven of a front


@dataclass(eq=False)
class KeepChoice:
    """One choice of kept tensors: its relaxation, and the branch and bound once there is need of it."""

    relaxed: Relaxation
    merit: Callable[[Bound], Floats]  # of a bound
    geometric: Geometric | None = None  # sharper bounds, where there is one objective
    branching: Branching | None = None
    look: Factors | None = None  # the sharper bound

    def __post_init__(self) -> None:
        columns = self.relaxed.columns
        self.bound = self.relaxed.bound(lambda g, column: columns[g][column].min(keepdims=True), 1)

    def grow(self, leaves: LeafEvaluator, *, certify: bool) -> None:
        """Begin the branch and bound, from the chains of the best mapping known."""
        best, groups = leaves.incumbents.best, leaves.chains
        rows = np.zeros(len(groups.groups), np.int64) if best is None else groups.rows(best)
        weights = importance(self.relaxed, rows)
        forest = Forest(self.relaxed, self.merit, weights, self.geometric, leaves.incumbents.cutoff)
        self.branching = Branching(forest, certify)

    def sharpen(self) -> None:
        """Raise the bound of the whole, where there is one objective; TimeUp leaves it as it was."""
        if self.geometric is not None:
            self.look = self.geometric.factors([np.arange(len(group)) for group in self.relaxed.groups])

    @property
    def sharper(self) -> float:
        """The bound by weighted products."""
        return -np.inf if self.look is None else self.look.least

    @property
    def least(self) -> float:
        """No mapping that is left has a lower number; inf where none is left."""
        if self.branching is not None:
            return self.branching.least
        return max(self._by_columns, self.sharper)

    @property
    def _by_columns(self) -> float:
        return float(self.merit(self.bound)[0]) if self.bound.possible[0] else np.inf

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

    def certified(self, numbers: Sequence[Ints]) -> Choice:
        """What became of its sets of chains, for the certificate; `numbers`: per group how that calls its rows."""
        keep = kept_names(self.relaxed.arch, self.relaxed.workload, self.relaxed.keep)
        branching = self.branching
        if branching is None:
            weighed = self.look is not None and self.sharper > self._by_columns
            weights = [self.look.weights] if self.look is not None and weighed else []
            return Choice(keep=keep, weights=weights, trees=[], verdicts=WEIGHED if weighed else BOUNDED)
        if branching.state.trail is None or not branching.forest.trees:
            trees = [
                Tree(chains=names[rows].tolist(), parts=[])
                for names, rows in zip(numbers, branching.forest.rows, strict=True)
            ]
            return Choice(keep=keep, weights=branching.forest.looks, trees=trees, verdicts="")
        trees = [certified_tree(tree, names) for tree, names in zip(branching.forest.trees, numbers, strict=True)]
        trail, nodes = branching.state.trail.going_on(), branching.state.nodes
        trail.rule_out(nodes, branching.forest.weighted(nodes) >= branching.state.bounds)
        return Choice(keep=keep, weights=branching.forest.looks, trees=trees, verdicts=trail.verdicts())

    def corners(self, incumbents: FrontIncumbents) -> list[Point]:
        """Lower bounds of what is open, told apart as far as time allows; merit rises, so old numbers stay bounds."""
        if self.branching is None:
            return _points(self.bound)
        nodes, reached = self.branching.state.nodes, self.branching.state.bounds
        order = np.argsort(reached)
        order = order[reached[order] < 1 - ROUNDING]
        corners = _points(self.branching.forest.relaxed(nodes[order[:MOST_CORNERS]]))
        rest = float(reached[order[MOST_CORNERS:]].min(initial=np.inf))
        return corners + ([] if np.isinf(rest) else incumbents.times(rest))


def _points(bound: Bound) -> list[Point]:
    """The bounds that are possible, without those above others."""
    some = np.flatnonzero(bound.possible)
    low = some[staircase(bound.cycles[some], bound.energy_pj[some])]
    return list(zip(bound.cycles[low].tolist(), bound.energy_pj[low].tolist(), strict=True))
