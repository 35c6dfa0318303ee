"""Branch and bound over the chains of a mapspace, for one choice of kept tensors.

A node is a set of chain combinations per group of dims. The node with the least bound is opened first: one of its sets
is replaced by each of its subsets, the set whose subsets come closest to being ruled out. What cannot beat the best
found is dropped; what is down to one chain per dim is evaluated. While nodes are open, the least of their bounds is a
bound on everything not yet seen.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from operator import mul

import numpy as np

from .chain_tree import Tree, grow
from .geometric import Factors, Geometric
from .groups import Group
from .mapping import Floats, Ints
from .relax import ROUNDING, Bound, Relaxation

OPENED = 4096  # nodes opened at once
DIVERS = 512  # nodes of one generation of a dive
MOST_OPEN = 8_000_000  # nodes kept; beyond it those next to being dropped are opened first, until there is room
LOOKS = 2  # bounds by products kept of those found while rows are ruled out
SHRINKS = 0.9  # they are looked for again while fewer than this share of the rows is left
FACTOR_WEIGHT = 2.0  # of a factor of these bounds in the trees; rows left differ little in it, so little hangs on it
GAP_POWER = 4  # tried: nodes needed grow about so with the distance of a bound from the limit

Objective = Callable[[Bound], Floats]
Evaluate = Callable[[Ints, Floats], None]  # (chain combination per group, bounds) of nodes with one chain per dim


@dataclass(eq=False)
class Branching:
    """The open nodes of one choice of kept tensors."""

    relaxation: Relaxation
    objective: Objective
    weights: list[list[float]]
    geometric: Geometric | None = None  # bounds of the objective, where it is a product of energy and cycles
    limit: float = np.inf  # of no use is what is not below it
    trees: list[Tree] = field(init=False)
    nodes: Ints = field(init=False)  # (node, group)
    bounds: Floats = field(init=False)  # (node,)
    opening: float = np.inf  # the least bound of nodes being opened
    opened: int = 0

    def __post_init__(self) -> None:
        rows, found = self._narrowed()
        self.sharper = [one.least for one in found]
        self.trees = []
        if not all(map(len, rows)):
            self.nodes, self.bounds = np.zeros((0, len(rows)), np.int64), np.zeros(0)
            return
        for g, (columns, mine) in enumerate(zip(self.relaxation.columns, rows, strict=True)):
            factors = [one.factors[g] for one in found]
            weights = [*self.weights[g], *([FACTOR_WEIGHT] * len(factors))]
            table = [*(column[mine] for column in columns), *factors]
            self.trees.append(grow(table, weights, mine, self.relaxation.groups[g].check))
        self.nodes = np.zeros((1, len(self.trees)), np.int64)
        self.bounds = self.bound(self.nodes)

    def _narrowed(self) -> tuple[list[Ints], list[Factors]]:
        """The rows of each group with which something may be below the limit, and the bounds that told."""
        rows = [np.arange(len(group)) for group in self.relaxation.groups]
        found: list[Factors] = []
        while self.geometric is not None:
            before = sum(map(len, rows))
            one = self.geometric.factors(rows)
            stay = [one.least * factors < self.limit * (1 - ROUNDING) for factors in one.factors]
            rows = [mine[these] for mine, these in zip(rows, stay, strict=True)]
            found = [Factors(each.least, tuple(f[s] for f, s in zip(each.factors, stay, strict=True)))
                     for each in [*found, one]][-LOOKS:]  # fmt: skip
            if not all(map(len, rows)) or sum(map(len, rows)) > SHRINKS * before:
                break
        return rows, found

    @property
    def least(self) -> float:
        """No mapping among the open nodes is below it; inf when there are none."""
        return min(float(self.bounds.min(initial=np.inf)), self.opening)

    def bound(self, nodes: Ints) -> Floats:
        """The bound of each node, inf where nothing in it is valid."""
        found = self.relaxed(nodes)
        bounds = np.where(found.possible, self.objective(found), np.inf)
        for i, least in enumerate(self.sharper):
            factors = (tree.low[i - len(self.sharper)][nodes[:, g]] for g, tree in enumerate(self.trees))
            bounds = np.maximum(bounds, least * reduce(mul, factors))
        return bounds

    def relaxed(self, nodes: Ints) -> Bound:
        """Energy and cycles that nothing in each node is below."""
        return self.relaxation.bound(lambda g, column: self.trees[g].low[column][nodes[:, g]], len(nodes))

    def step(self, best: Callable[[], float], evaluate: Evaluate) -> None:
        """Open some nodes; single chains among their parts go to `evaluate`, which may lower `best`."""
        chosen = self._choose()
        nodes, bounds = self.nodes[chosen], self.bounds[chosen]
        self.opening = float(bounds.min())
        self.nodes, self.bounds = np.delete(self.nodes, chosen, axis=0), np.delete(self.bounds, chosen)
        nodes, bounds = self._parts(nodes, bounds, best() * (1 - ROUNDING))
        single = self._spread(nodes).max(axis=1) == 0
        hope = bounds < best() * (1 - ROUNDING)
        self._evaluate(nodes[single & hope], bounds[single & hope], evaluate)
        limit = best() * (1 - ROUNDING)
        keep = ~single & (bounds < limit)
        still = self.bounds < limit
        left = np.concatenate([self.nodes[still], nodes[keep]]), np.concatenate([self.bounds[still], bounds[keep]])
        self.nodes, self.bounds = left  # at once: Ctrl-C may come at any moment
        self.opening = np.inf
        self.opened += len(chosen)

    def dive(self, best: Callable[[], float], evaluate: Evaluate) -> None:
        """Look for a better mapping: from the open nodes with the least bounds down, the least of each generation.

        The open nodes stay as they are.
        """
        nodes, bounds = self.nodes, self.bounds
        while len(nodes):
            few = np.argsort(bounds)[:DIVERS]
            nodes, bounds = self._parts(nodes[few], bounds[few], best() * (1 - ROUNDING))
            single = self._spread(nodes).max(axis=1) == 0
            hope = bounds < best() * (1 - ROUNDING)
            self._evaluate(nodes[single & hope], bounds[single & hope], evaluate)
            nodes, bounds = nodes[~single & hope], bounds[~single & hope]

    def _choose(self) -> Ints:
        n = len(self.bounds)
        if n <= OPENED:
            return np.arange(n)
        if n > MOST_OPEN:
            return np.argpartition(self.bounds, n - OPENED)[n - OPENED :]
        return np.argpartition(self.bounds, OPENED)[:OPENED]

    def _spread(self, nodes: Ints) -> Floats:
        return np.stack([tree.spread[nodes[:, g]] for g, tree in enumerate(self.trees)], axis=1)

    def _parts(self, nodes: Ints, bounds: Floats, limit: float) -> tuple[Ints, Floats]:
        """The children of each node, with their bounds, along the group where they leave least to do."""
        every = [self._children(nodes, bounds, g) for g in range(len(self.trees))]
        if np.isfinite(limit):
            left = np.stack([_left(below, owner, limit, len(nodes)) for owner, _, below in every], axis=1)
        else:  # before anything is known to be good: where the rows are least alike
            left = -self._spread(nodes)
        along = np.where(self._spread(nodes) > 0, left, np.inf).argmin(axis=1)
        chosen = [along[owner] == g for g, (owner, _, _) in enumerate(every)]
        parts = [found[mine] for mine, (_, found, _) in zip(chosen, every, strict=True)]
        least = [below[mine] for mine, (_, _, below) in zip(chosen, every, strict=True)]
        return np.concatenate(parts), np.concatenate(least)

    def _children(self, nodes: Ints, bounds: Floats, g: int) -> tuple[Ints, Ints, Floats]:
        """The children of each node along group g: whose they are, themselves, and their bounds."""
        tree = self.trees[g]
        number = tree.children[nodes[:, g]]
        owner = np.repeat(np.arange(len(nodes)), number)
        parts = nodes[owner]
        place = np.arange(len(parts)) - np.repeat(np.cumsum(number) - number, number)
        parts[:, g] = tree.first[parts[:, g]] + place
        return owner, parts, np.maximum(bounds[owner], self.bound(parts))

    def _evaluate(self, nodes: Ints, bounds: Floats, evaluate: Evaluate) -> None:
        order = np.argsort(bounds)
        rows = np.stack([tree.row[nodes[:, g]] for g, tree in enumerate(self.trees)], axis=1)
        evaluate(rows[order], bounds[order])


def _left(bounds: Floats, owner: Ints, limit: float, n: int) -> Floats:
    """How much work parts with these bounds leave to their owners: it grows fast with the way to the limit. # (n,)"""
    gaps: Floats = np.bincount(owner, np.clip(1 - bounds / limit, 0.0, None) ** GAP_POWER, n)
    return gaps


def importance(relaxation: Relaxation, rows: Ints) -> list[list[float]]:
    """How much each column matters, group by group: its share in energy, capacity and cycles at the combination
    `rows` # (group,)."""
    weights = [[0.0] * len(columns) for columns in relaxation.columns]
    for product, share in relaxation.shares(lambda g, column: relaxation.columns[g][column][rows[g : g + 1]]):
        for g, column in enumerate(product):
            weights[g][column] += share
    return weights


def combination(groups: list[Group], chains: Ints) -> Ints | None:
    """The row of each group that has these bounds # (slot, dim); None where one has not. # (group,)"""
    found = []
    for group in groups:
        alike = np.ones(len(group), bool)
        for d, rows in group.rows.items():
            alike &= (group.tables[d].bounds == chains[:, d]).all(axis=1)[rows]
        if not alike.any():
            return None
        found.append(int(alike.argmax()))
    return np.array(found)
