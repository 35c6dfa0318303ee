"""The trees over the chains of all groups, for one choice of kept tensors, and the bounds of nodes made of them.

A node has a place in the tree of each group: it is the set of all combinations of the chains below these places.
"""

from collections.abc import Callable
from functools import reduce
from math import prod
from operator import mul

import numpy as np

from ...mapping import Bools, Floats, Ints
from ...model.bounds import ROUNDING, Bound, Factors, Geometric, Relaxation
from .chain_tree import Tree, grow

LOOKS = 2  # bounds by products kept of those found while rows are ruled out
SHRINKS = 0.9  # they are looked for again while fewer than this share of the rows is left
FACTOR_WEIGHT = 2.0  # of a factor of these bounds in the trees; rows left differ little in it, so little hangs on it
SAFE = 2**62  # numbers of combinations beyond it are Python integers


class Forest:
    """A tree per group over the rows that are left when weighted products have ruled out others.

    `merit` is the number of a bound, `limit` what is of no use is not below; without trees no combination is left.
    """

    def __init__(
        self,
        relaxation: Relaxation,
        merit: Callable[[Bound], Floats],
        weights: list[list[float]],
        geometric: Geometric | None,
        limit: float,
    ) -> None:
        self.relaxation, self.merit = relaxation, merit
        self.looks: list[dict[str, float]] = []  # the weights that ruled rows out, in turn
        self.rows, products, self.ruled_out = self._narrowed(geometric, limit)
        self.sharper = [product.least for product in products]
        self.trees: list[Tree] = []
        if not all(map(len, self.rows)):
            return
        for g, (columns, rows) in enumerate(zip(relaxation.columns, self.rows, strict=True)):
            factors = [product.factors[g] for product in products]
            table = [*(column[rows] for column in columns), *factors]
            deadline = relaxation.groups[g].deadline
            self.trees.append(grow(table, [*weights[g], *([FACTOR_WEIGHT] * len(factors))], rows, deadline))
        kind = np.int64 if prod(map(len, self.rows)) < SAFE else object
        self._sizes = [tree.size.astype(kind) for tree in self.trees]

    def _narrowed(self, geometric: Geometric | None, limit: float) -> tuple[list[Ints], list[Factors], int]:
        """The rows of each group with which something may be below the limit, the bounds by products, and how many
        combinations these rule out."""
        rows = [np.arange(len(group)) for group in self.relaxation.groups]
        products: list[Factors] = []
        ruled_out = 0
        while geometric is not None:
            before = sum(map(len, rows))
            product = geometric.factors(rows)
            self.looks += [product.weights] if product.weights else []
            stay = [product.least * factors < limit * (1 - ROUNDING) for factors in product.factors]
            numbers = [(int(these.sum()), int((~these).sum())) for these in stay]
            for g, (_, gone) in enumerate(numbers):  # with a row of g that goes, and rows of those before that stay
                ruled_out += gone * prod(n for n, _ in numbers[:g]) * prod(map(sum, numbers[g + 1 :]))
            rows = [mine[these] for mine, these in zip(rows, stay, strict=True)]
            products = [Factors(each.least, tuple(f[s] for f, s in zip(each.factors, stay, strict=True)))
                     for each in [*products, product]][-LOOKS:]  # fmt: skip
            if not all(map(len, rows)) or sum(map(len, rows)) > SHRINKS * before:
                break
        return rows, products, ruled_out

    def number(self, nodes: Ints) -> int:
        """How many combinations there are in all of some nodes."""
        if not len(nodes):
            return 0
        return int(reduce(mul, (sizes[nodes[:, g]] for g, sizes in enumerate(self._sizes))).sum())

    def bound(self, nodes: Ints) -> Floats:
        """The bound of each node, inf where nothing in it is valid."""
        relaxed = self.relaxed(nodes)
        return np.maximum(np.where(relaxed.possible, self.merit(relaxed), np.inf), self.weighted(nodes))

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

    def single(self, nodes: Ints) -> Bools:
        """Which nodes have one chain per dim."""
        single: Bools = self.spread(nodes).max(axis=1) == 0
        return single

    def spread(self, nodes: Ints) -> Floats:
        """How unlike the rows below each place are; 0: a single chain. # (node, group)"""
        return np.stack([tree.spread[nodes[:, g]] for g, tree in enumerate(self.trees)], axis=1)

    def children(self, nodes: Ints, bounds: Floats, g: int) -> tuple[Ints, Ints, Floats]:
        """The children of each node along group g: whose they are, themselves, and their bounds."""
        tree = self.trees[g]
        number = tree.children[nodes[:, g]]
        owner = np.repeat(np.arange(len(nodes)), number)
        parts = nodes[owner]
        place = np.arange(len(parts)) - np.repeat(np.cumsum(number) - number, number)
        parts[:, g] = tree.first[parts[:, g]] + place
        return owner, parts, np.maximum(bounds[owner], self.bound(parts))

    def rows_of(self, nodes: Ints) -> Ints:
        """The rows of nodes with one chain per group. # (node, group)"""
        return np.stack([tree.row[nodes[:, g]] for g, tree in enumerate(self.trees)], axis=1)
