"""The trees over the chains of all groups, for one choice of kept tensors, and the bounds of nodes.

A node here has a node in the tree of each group: it is the set of all combinations of their chains.
"""

from functools import cached_property, reduce
from operator import mul
from typing import Any, override

import numpy as np

from ..bounds import Bound, Program, Relaxation
from ..mapping import Bools, Floats, Ints
from .chain_tree import Tree, grow
from .incumbents import Incumbents
from .narrowing import Narrowed

FACTOR_WEIGHT = 2.0  # weight of a product's factor in the trees; rows differ little in it, so it matters little
SAFE = 2**62  # numbers of combinations beyond it are Python integers


class Forest:
    """A tree per group over the rows that weighted products have not ruled out.

    `incumbents` convert bounds to bound values. Without trees no combination is left.
    """

    def __init__(
        self, relaxation: Relaxation, incumbents: Incumbents, weights: list[list[float]], remaining: Narrowed
    ) -> None:
        self.relaxation, self.incumbents, self.weights, self.remaining = relaxation, incumbents, weights, remaining
        self.sharper = [product.least for product in remaining.products]
        self.trees = self._grown()
        kind = np.int64 if remaining.number < SAFE else object
        self._sizes = [tree.size.astype(kind) for tree in self.trees]

    @override
    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs: not what is kept for speed."""
        return {name: value for name, value in vars(self).items() if name not in ("_program", "_packed")}

    def _grown(self) -> list[Tree]:
        trees: list[Tree] = []
        if not self.remaining.number:
            return trees
        for g, (columns, rows) in enumerate(zip(self.relaxation.columns, self.remaining.rows, strict=True)):
            factors = [product.factors[g] for product in self.remaining.products]
            table = [*(column[rows] for column in columns), *factors]
            deadline = self.relaxation.groups[g].deadline
            trees.append(grow(table, [*self.weights[g], *([FACTOR_WEIGHT] * len(factors))], rows, deadline))
        return trees

    def check(self, steps: int) -> None:
        """Count steps that follow. May raise TimeUp."""
        self.relaxation.groups[0].deadline(steps)

    @property
    def figures(self) -> int:
        """The number of charges, for each group: what to bound the parts of a node costs."""
        return len(self.trees) * (1 + len(self.relaxation.charges))

    @property
    def rows(self) -> int:
        """The number of rows of all trees."""
        return sum(map(len, self.remaining.rows))

    def number(self, nodes: Ints) -> int:
        """Count the combinations in some nodes."""
        return int(self.sizes(nodes).sum())

    def sizes(self, nodes: Ints) -> Ints:
        """Count the combinations in each node. # (node,)"""
        if not len(nodes):
            return np.zeros(0, np.int64)
        return reduce(mul, (sizes[nodes[:, g]] for g, sizes in enumerate(self._sizes)))

    def bound(self, nodes: Ints) -> Floats:
        """Bound each node from below; inf where no mapping in it is valid. # (node,)"""
        if self._program is not None:
            values = self._program.run(self._packed, nodes[:, : len(self.trees)])[:, 0]
            return reduce(np.maximum, self.products(nodes), values)
        relaxed = self.relaxed(nodes)
        values = self.incumbents.bound_value(relaxed.energy_pj, relaxed.cycles, self.products(nodes))
        return relaxed.value(values, self.incumbents.bound_value)

    @cached_property
    def _program(self) -> Program | None:
        """What bounds nodes in place of NumPy, if there is a compiled form; a front changes as the proof goes on."""
        key = self.incumbents.valued_by
        return None if key is None else self.relaxation.program(self.incumbents.bound_value, key)

    @cached_property
    def _packed(self) -> list[Floats]:
        """The entries that the program needs, per tree. # (node, column) each"""
        assert self._program is not None
        return [self._program.packed(g, tree.low) for g, tree in enumerate(self.trees)]

    def weighted(self, nodes: Ints) -> Floats:
        """Bound the single objective of each node from below by weighted products. # (node,)"""
        return reduce(np.maximum, self.products(nodes), np.full(len(nodes), -np.inf))

    def products(self, nodes: Ints) -> list[Floats]:
        """Bound each product of powers from below. # (node,) each"""
        products = []
        for i, least in enumerate(self.sharper):
            factors = (tree.low[i - len(self.sharper)][nodes[:, g]] for g, tree in enumerate(self.trees))
            products.append(least * reduce(mul, factors))
        return products

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
