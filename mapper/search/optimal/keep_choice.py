"""A choice of kept tensors in the proof of `--search optimal`: bounded as a whole, then branch by branch."""

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
from .chain_groups import rows_of
from .forest import Forest
from .incumbents import FrontIncumbents
from .leaves import LeafEvaluator
from .narrowing import narrowed
from .trail import certified_tree

MOST_CORNERS = 500_000  # open nodes with a corner of their own in the proof about a front


@dataclass(eq=False)
class KeepChoice:
    """A choice of kept tensors: its relaxation, and the branch and bound once it is needed."""

    relaxed: Relaxation
    merit: Callable[[Bound], Floats]
    geometric: Geometric | None = None  # for sharper bounds, where there is a single objective
    branching: Branching | None = None
    look: Factors | None = None  # the sharper bound of the whole

    def __post_init__(self) -> None:
        columns = self.relaxed.columns
        self.bound = self.relaxed.bound(lambda g, column: columns[g][column].min(keepdims=True), 1)

    def grow(self, leaves: LeafEvaluator, *, certify: bool) -> None:
        """Start the branch and bound, with weights from the chains of the best mapping known."""
        best, groups = leaves.incumbents.best, self.relaxed.groups
        rows = None if best is None else rows_of(groups, best)
        weights = importance(self.relaxed, np.zeros(len(groups), np.int64) if rows is None else rows)
        every = [np.arange(len(group)) for group in self.relaxed.groups]
        left = narrowed(every, self.geometric, leaves.incumbents.cutoff)
        forest = Forest(self.relaxed, self.merit, weights, left)
        self.branching = Branching(forest, certify)

    def sharpen(self) -> None:
        """Raise the bound of the whole, where there is a single objective; TimeUp leaves it as it was."""
        if self.geometric is not None:
            self.look = self.geometric.factors([np.arange(len(group)) for group in self.relaxed.groups])

    @property
    def sharper(self) -> float:
        """The bound by weighted products."""
        return -np.inf if self.look is None else self.look.least

    @property
    def least(self) -> float:
        """The lower bound of the merit of all mappings left; inf where none is left."""
        if self.branching is not None:
            return self.branching.least
        return max(self._by_columns, self.sharper)

    @property
    def _by_columns(self) -> float:
        return float(self.merit(self.bound)[0]) if self.bound.possible[0] else np.inf

    @property
    def open(self) -> int:
        """The number of open sets."""
        return 1 if self.branching is None else len(self.branching.state.bounds)

    @property
    def coverage(self) -> Coverage:
        """The coverage of all combinations of chains with this choice."""
        if self.branching is not None:
            return self.branching.coverage
        return Coverage(open=prod(len(group) for group in self.relaxed.groups))

    def certified(self, numbers: Sequence[Ints]) -> Choice:
        """Convert its sets of chains for the certificate; `numbers`: per group, the rows' numbers there."""
        keep = kept_names(self.relaxed.arch, self.relaxed.workload, self.relaxed.keep)
        branching = self.branching
        if branching is None:
            weighed = self.look is not None and self.sharper > self._by_columns
            weights = [self.look.weights] if self.look is not None and weighed else []
            return Choice(keep=keep, weights=weights, trees=[], verdicts=WEIGHED if weighed else BOUNDED)
        if branching.state.trail is None or not branching.forest.trees:
            trees = [
                Tree(chains=names[rows].tolist(), parts=[])
                for names, rows in zip(numbers, branching.forest.left.rows, strict=True)
            ]
            return Choice(keep=keep, weights=list(branching.forest.left.looks), trees=trees, verdicts="")
        trees = [certified_tree(tree, names) for tree, names in zip(branching.forest.trees, numbers, strict=True)]
        trail, nodes = branching.state.trail.going_on(), branching.state.nodes
        trail.rule_out(nodes, branching.forest.weighted(nodes) >= branching.state.bounds)
        return Choice(keep=keep, weights=list(branching.forest.left.looks), trees=trees, verdicts=trail.verdicts())

    def corners(self, incumbents: FrontIncumbents) -> list[Point]:
        """List lower bounds of the open nodes; merits only grow, so old merits remain bounds."""
        if self.branching is None:
            return _points(self.bound)
        nodes, reached = self.branching.state.nodes, self.branching.state.bounds
        order = np.argsort(reached)
        order = order[reached[order] < 1 - ROUNDING]
        corners = _points(self.branching.forest.relaxed(nodes[order[:MOST_CORNERS]]))
        rest = float(reached[order[MOST_CORNERS:]].min(initial=np.inf))
        return corners + ([] if np.isinf(rest) else incumbents.times(rest))


def _points(bound: Bound) -> list[Point]:
    """List the possible bounds, without those above others."""
    some = np.flatnonzero(bound.possible)
    low = some[staircase(bound.cycles[some], bound.energy_pj[some])]
    return list(zip(bound.cycles[low].tolist(), bound.energy_pj[low].tolist(), strict=True))
