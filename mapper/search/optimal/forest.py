"""The trees over the chains of all groups, for one choice of kept tensors, and the bounds of nodes.

A node here has a node in the tree of each group: it is the set of all combinations of their chains.
"""

from collections.abc import Callable
from functools import reduce
from math import prod
from operator import mul

import numpy as np

from ...mapping import Bools, Floats, Ints
from ...model.bounds import ROUNDING, Bound, Factors, Geometric, Relaxation
from .chain_tree import Tree, grow

LOOKS = 2  # weighted products that remain in use after ruling out rows
SHRINKS = 0.9  # a further product is computed while fewer than this share of the rows is left
FACTOR_WEIGHT = 2.0  # weight of a product's factor in the trees; rows differ little in it, so it matters little
SAFE = 2**62  # numbers of combinations beyond it are Python integers


class Forest:
    """A tree per group over the rows that weighted products have not ruled out.

    `merit` converts a bound to a number; combinations whose number is not below `limit` are of no use. Without trees no
    combination is left.
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
        """Rule out rows by weighted products: return the rows left per group, the products, and the number of
        combinations ruled out."""
        rows = [np.arange(len(group)) for group in self.relaxation.groups]
        products: list[Factors] = []
        ruled_out = 0
        while geometric is not None:
            before = sum(map(len, rows))
            product = geometric.factors(rows)
            self.looks += [product.weights] if product.weights else []
            stay = [product.least * factors < limit * (1 - ROUNDING) for factors in product.factors]
            numbers = [(int(these.sum()), int((~these).sum())) for these in stay]
            for g, (_, gone) in enumerate(numbers):  # combinations whose first row that goes is of group g
                ruled_out += gone * prod(n for n, _ in numbers[:g]) * prod(map(sum, numbers[g + 1 :]))
            rows = [mine[these] for mine, these in zip(rows, stay, strict=True)]
            products = [Factors(each.least, tuple(f[s] for f, s in zip(each.factors, stay, strict=True)))
                     for each in [*products, product]][-LOOKS:]  # fmt: skip
            if not all(map(len, rows)) or sum(map(len, rows)) > SHRINKS * before:
                break
        return rows, products, ruled_out

    def number(self, nodes: Ints) -> int:
        """Count the combinations in some nodes."""
        if not len(nodes):
            return 0
        return int(reduce(mul, (sizes[nodes[:, g]] for g, sizes in enumerate(self._sizes))).sum())

    def bound(self, nodes: Ints) -> Floats:
        """Bound each node from below; inf where no mapping in it is valid. # (node,)"""
        relaxed = self.relaxed(nodes)
        return np.maximum(np.where(relaxed.possible, self.merit(relaxed), np.inf), self.weighted(nodes))

    def weighted(self, nodes: Ints) -> Floats:
        """Bound each node from below by weighted products. # (node,)"""
        bounds = np.full(len(nodes), -np.inf)
        for i, least in enumerate(self.sharper):
            factors = (tree.low[i - len(self.sharper)][nodes[:, g]] for g, tree in enumerate(self.trees))
            bounds = np.maximum(bounds, least * reduce(mul, factors))
        return bounds

    def relaxed(self, nodes: Ints) -> Bound:
        """Bound the energy and cycles of each node from below. # (node,) each"""
        return self.relaxation.bound(lambda g, column: self.trees[g].low[column][nodes[:, g]], len(nodes))

    def single(self, nodes: Ints) -> Bools:
        """Mark the nodes with one chain per dim. # (node,)"""
        single: Bools = self.spread(nodes).max(axis=1) == 0
        return single

    def spread(self, nodes: Ints) -> Floats:
        """Return the distance of the rows in each tree; 0: a single row. # (node, group)"""
        return np.stack([tree.spread[nodes[:, g]] for g, tree in enumerate(self.trees)], axis=1)

    def children(self, nodes: Ints, bounds: Floats, g: int) -> tuple[Ints, Ints, Floats]:
        """Divide nodes along group g: return the index of each child's node, the children, and their bounds."""
        tree = self.trees[g]
        number = tree.children[nodes[:, g]]
        owner = np.repeat(np.arange(len(nodes)), number)
        parts = nodes[owner]
        place = np.arange(len(parts)) - np.repeat(np.cumsum(number) - number, number)
        parts[:, g] = tree.first[parts[:, g]] + place
        return owner, parts, np.maximum(bounds[owner], self.bound(parts))

    def rows_of(self, nodes: Ints) -> Ints:
        """Return the rows of nodes with one row per group. # (node, group)"""
        return np.stack([tree.row[nodes[:, g]] for g, tree in enumerate(self.trees)], axis=1)
