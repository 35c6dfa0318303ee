"""Branch and bound over the chains of a mapspace, for one choice of kept tensors.

A node is a set of chain combinations per group of dims. The node with the least bound is opened first: one of its sets
is replaced by each of its subsets, the set whose subsets come closest to being ruled out. What cannot beat the best
found is dropped; what is down to one chain per dim is evaluated. While nodes are open, the least of their bounds is a
bound on everything not yet seen.

The invariant of the proof: a node leaves the open ones only as it is evaluated, ruled out by its bound, or replaced by
parts that cover it. `Branching.state` is replaced as a whole, with the combinations counted that left (coverage.py).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from math import prod
from operator import mul

import numpy as np

from ...mapping import Bools, Floats, Ints
from ...model.bounds import ROUNDING, Bound, DimGroup, Factors, Geometric, Relaxation
from ..coverage import Coverage
from .chain_tree import Tree, grow
from .trail import Trail

OPENED = 4096  # nodes opened at once
DIVERS = 512  # nodes of one generation of a dive
MOST_OPEN = 8_000_000  # nodes kept; beyond it those next to being dropped are opened first, until there is room
LOOKS = 2  # bounds by products kept of those found while rows are ruled out
SHRINKS = 0.9  # they are looked for again while fewer than this share of the rows is left
FACTOR_WEIGHT = 2.0  # of a factor of these bounds in the trees; rows left differ little in it, so little hangs on it
GAP_POWER = 4  # tried: nodes needed grow about so with the distance of a bound from the limit

Objective = Callable[[Bound], Floats]
# (chain combination per group, bounds) of nodes with one chain per dim -> what became of them
Evaluate = Callable[[Ints, Floats], Coverage]
SAFE = 2**62  # numbers of combinations beyond it are Python integers


@dataclass(frozen=True, eq=False)
class State:
    """The open nodes, and what became of the combinations that are in none of them."""

    nodes: Ints  # (node, group): a node of each group's tree; with a trail there is a last column, its number there
    bounds: Floats  # (node,)
    left: Coverage
    trail: Trail | None = None  # where a certificate is asked for


@dataclass(eq=False)
class Branching:
    """The open nodes of one choice of kept tensors."""

    relaxation: Relaxation
    objective: Objective
    weights: list[list[float]]
    geometric: Geometric | None = None  # bounds of the objective, where it is a product of energy and cycles
    limit: float = np.inf  # of no use is what is not below it
    certify: bool = False  # keep what a certificate needs
    looks: list[dict[str, float]] = field(default_factory=list)  # the weights that ruled rows out, in turn
    rows: list[Ints] = field(init=False)  # per group those that are left
    trees: list[Tree] = field(init=False)
    state: State = field(init=False)
    opened: int = 0

    def __post_init__(self) -> None:
        rows, found, ruled_out = self._narrowed()
        self.rows = rows
        self.sharper = [one.least for one in found]
        self.trees = []
        self.state = State(np.zeros((0, len(rows)), np.int64), np.zeros(0), Coverage(ruled_out=ruled_out))
        if not all(map(len, rows)):
            return
        for g, (columns, mine) in enumerate(zip(self.relaxation.columns, rows, strict=True)):
            factors = [one.factors[g] for one in found]
            weights = [*self.weights[g], *([FACTOR_WEIGHT] * len(factors))]
            table = [*(column[mine] for column in columns), *factors]
            self.trees.append(grow(table, weights, mine, self.relaxation.groups[g].deadline))
        kind = np.int64 if prod(map(len, rows)) < SAFE else object
        self._sizes = [tree.size.astype(kind) for tree in self.trees]
        root = np.zeros((1, len(self.trees) + self.certify), np.int64)
        self.state = State(root, self.bound(root), self.state.left, Trail() if self.certify else None)

    def _narrowed(self) -> tuple[list[Ints], list[Factors], int]:
        """The rows of each group with which something may be below the limit, the bounds that told, and how many
        combinations these rule out."""
        rows = [np.arange(len(group)) for group in self.relaxation.groups]
        found: list[Factors] = []
        ruled_out = 0
        while self.geometric is not None:
            before = sum(map(len, rows))
            one = self.geometric.factors(rows)
            self.looks += [one.weights] if one.weights else []
            stay = [one.least * factors < self.limit * (1 - ROUNDING) for factors in one.factors]
            numbers = [(int(these.sum()), int((~these).sum())) for these in stay]
            for g, (_, gone) in enumerate(numbers):  # with a row of g that goes, and rows of those before that stay
                ruled_out += gone * prod(n for n, _ in numbers[:g]) * prod(map(sum, numbers[g + 1 :]))
            rows = [mine[these] for mine, these in zip(rows, stay, strict=True)]
            found = [Factors(each.least, tuple(f[s] for f, s in zip(each.factors, stay, strict=True)))
                     for each in [*found, one]][-LOOKS:]  # fmt: skip
            if not all(map(len, rows)) or sum(map(len, rows)) > SHRINKS * before:
                break
        return rows, found, ruled_out

    @property
    def least(self) -> float:
        """No mapping among the open nodes is below it; inf when there are none."""
        return float(self.state.bounds.min(initial=np.inf))

    @property
    def coverage(self) -> Coverage:
        """What became of all combinations."""
        state = self.state
        return state.left + Coverage(open=self._number(state.nodes))

    def _number(self, nodes: Ints) -> int:
        """How many combinations there are in all of some nodes."""
        if not len(nodes):
            return 0
        return int(reduce(mul, (sizes[nodes[:, g]] for g, sizes in enumerate(self._sizes))).sum())

    def bound(self, nodes: Ints) -> Floats:
        """The bound of each node, inf where nothing in it is valid."""
        found = self.relaxed(nodes)
        return np.maximum(np.where(found.possible, self.objective(found), np.inf), self.weighted(nodes))

    def weighted(self, nodes: Ints) -> Floats:
        """The bound of each node by weighted products."""
        bounds = np.full(len(nodes), -np.inf)
        for i, least in enumerate(self.sharper):
            factors = (tree.low[i - len(self.sharper)][nodes[:, g]] for g, tree in enumerate(self.trees))
            bounds = np.maximum(bounds, least * reduce(mul, factors))
        return bounds

    def relaxed(self, nodes: Ints) -> Bound:
        """Energy and cycles that nothing in each node is below."""
        return self.relaxation.bound(lambda g, column: self.trees[g].low[column][nodes[:, g]], len(nodes))

    def step(self, best: Callable[[], float], evaluate: Evaluate) -> None:
        """Open some nodes; single chains among their parts go to `evaluate`, which may lower `best`.

        The nodes opened stay among the open ones until all their parts are accounted for: Ctrl-C may come any time.
        """
        before, chosen = self.state, self._choose()
        others = np.ones(len(before.bounds), bool)
        others[chosen] = False
        trail = before.trail and before.trail.going_on()
        nodes, bounds, left = self._opened(before.nodes[chosen], before.bounds[chosen], best, evaluate, trail)
        limit = best() * (1 - ROUNDING)
        keep, still = bounds < limit, others & (before.bounds < limit)
        gone = np.concatenate([nodes[~keep], before.nodes[others & ~still]])
        if trail:
            trail.rule_out(gone, self.weighted(gone) >= limit)
        self.state = State(
            np.concatenate([before.nodes[still], nodes[keep]]),
            np.concatenate([before.bounds[still], bounds[keep]]),
            before.left + left + Coverage(ruled_out=self._number(gone)),
            trail,
        )
        self.opened += len(chosen)

    def dive(self, best: Callable[[], float], evaluate: Evaluate) -> None:
        """Look for a better mapping: from the open nodes with the least bounds down, the least of each generation.

        The open nodes stay as they are.
        """
        nodes, bounds = self.state.nodes, self.state.bounds
        while len(nodes):
            few = np.argsort(bounds)[:DIVERS]
            nodes, bounds, _ = self._opened(nodes[few], bounds[few], best, evaluate)
            hope = bounds < best() * (1 - ROUNDING)
            nodes, bounds = nodes[hope], bounds[hope]

    def _opened(
        self,
        nodes: Ints,
        bounds: Floats,
        best: Callable[[], float],
        evaluate: Evaluate,
        trail: Trail | None = None,
    ) -> tuple[Ints, Floats, Coverage]:
        """Parts that cover some nodes, but for those of single chains: these are evaluated, or ruled out."""
        single, limit = self._single(nodes), best() * (1 - ROUNDING)
        parts, below, owner, along = self._parts(nodes[~single], bounds[~single], limit)
        if trail:
            trail.divide(nodes[~single], along, parts, owner)
        nodes, bounds = np.concatenate([nodes[single], parts]), np.concatenate([bounds[single], below])
        single, hope = self._single(nodes), bounds < limit
        left = Coverage(ruled_out=int((single & ~hope).sum()))
        if trail:
            trail.rule_out(nodes[single & ~hope], self.weighted(nodes[single & ~hope]) >= limit)
            trail.evaluate(nodes[single & hope])
        left += self._evaluate(nodes[single & hope], bounds[single & hope], evaluate)
        return nodes[~single], bounds[~single], left

    def _choose(self) -> Ints:
        bounds = self.state.bounds
        n = len(bounds)
        if n <= OPENED:
            return np.arange(n)
        if n > MOST_OPEN:
            return np.argpartition(bounds, n - OPENED)[n - OPENED :]
        return np.argpartition(bounds, OPENED)[:OPENED]

    def _single(self, nodes: Ints) -> Bools:
        """Which nodes have one chain per dim."""
        single: Bools = self._spread(nodes).max(axis=1) == 0
        return single

    def _spread(self, nodes: Ints) -> Floats:
        return np.stack([tree.spread[nodes[:, g]] for g, tree in enumerate(self.trees)], axis=1)

    def _parts(self, nodes: Ints, bounds: Floats, limit: float) -> tuple[Ints, Floats, Ints, Ints]:
        """The children of each node, along the group where they leave least to do: themselves, their bounds, whose they
        are; and of each node this group."""
        every = [self._children(nodes, bounds, g) for g in range(len(self.trees))]
        if np.isfinite(limit):
            left = np.stack([_left(below, owner, limit, len(nodes)) for owner, _, below in every], axis=1)
        else:  # before anything is known to be good: where the rows are least alike
            left = -self._spread(nodes)
        along = np.where(self._spread(nodes) > 0, left, np.inf).argmin(axis=1)
        chosen = [along[owner] == g for g, (owner, _, _) in enumerate(every)]
        parts = [found[mine] for mine, (_, found, _) in zip(chosen, every, strict=True)]
        least = [below[mine] for mine, (_, _, below) in zip(chosen, every, strict=True)]
        owners = [owner[mine] for mine, (owner, _, _) in zip(chosen, every, strict=True)]
        return np.concatenate(parts), np.concatenate(least), np.concatenate(owners), along

    def _children(self, nodes: Ints, bounds: Floats, g: int) -> tuple[Ints, Ints, Floats]:
        """The children of each node along group g: whose they are, themselves, and their bounds."""
        tree = self.trees[g]
        number = tree.children[nodes[:, g]]
        owner = np.repeat(np.arange(len(nodes)), number)
        parts = nodes[owner]
        place = np.arange(len(parts)) - np.repeat(np.cumsum(number) - number, number)
        parts[:, g] = tree.first[parts[:, g]] + place
        return owner, parts, np.maximum(bounds[owner], self.bound(parts))

    def _evaluate(self, nodes: Ints, bounds: Floats, evaluate: Evaluate) -> Coverage:
        order = np.argsort(bounds)
        rows = np.stack([tree.row[nodes[:, g]] for g, tree in enumerate(self.trees)], axis=1)
        return evaluate(rows[order], bounds[order])


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


def combination(groups: list[DimGroup], chains: Ints) -> Ints | None:
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
