"""Sets of chains: each group of dims has a tree over its chains, and a set is a product of nodes of these trees."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import mul

import numpy as np

from ...mapping import Floats, Ints
from ..format import Tree
from .problem import Refused


@dataclass(eq=False)
class ChainTree:
    """The tree over the chains of one group; its nodes, numbered by level, are intervals of their parents'."""

    tree: Tree
    rows: Ints = field(init=False)  # (leaf,) the chains, from left to right
    parts: Ints = field(init=False)  # (node,)
    first: Ints = field(init=False)  # (node,) the number of the first part
    size: Ints = field(init=False)  # (node,) number of chains
    start: Ints = field(init=False)  # (node,) start of its interval
    levels: list[tuple[int, int]] = field(init=False)  # the first node of each level, and the end

    def __post_init__(self) -> None:
        """Number the nodes. Raises Refused where the numbers of parts make no tree."""
        if not all(0 <= part < max(len(self.tree.parts), 2) for part in self.tree.parts) or 1 in self.tree.parts:
            raise Refused("a tree of chains is no tree")
        self.rows, self.parts = np.array(self.tree.chains, np.int64), np.array(self.tree.parts, np.int64)
        self.first = np.cumsum(self.parts) - self.parts + 1
        if len(self.parts) != self.parts.sum() + 1:
            raise Refused("a tree of chains is no tree")
        self.levels = [(0, 1)]
        while (end := self.levels[-1][1]) < len(self.parts):
            self.levels.append((end, end + int(self.parts[slice(*self.levels[-1])].sum())))
            if self.levels[-1][1] == end:
                raise Refused("a tree of chains is no tree")
        self._place()

    def _place(self) -> None:
        """Compute the interval of every node. Raises Refused where there are not as many leaves as chains."""
        self.size = (self.parts == 0).astype(np.int64)
        for start, stop, inner in self._inner():
            self.size[inner] = np.add.reduceat(self.size[start:stop], self.first[inner] - start)
        self.start = np.zeros(len(self.parts), np.int64)
        for start, stop, inner in reversed(list(self._inner())):
            before = np.cumsum(self.size[start:stop]) - self.size[start:stop]
            owner = np.repeat(inner, self.parts[inner])
            self.start[start:stop] = self.start[owner] + before - before[self.first[owner] - start]
        if self.size[0] != len(self.rows):
            raise Refused("a tree of chains has more or fewer ends than there are chains")

    def _inner(self) -> Iterator[tuple[int, int, Ints]]:
        """Yield first node and end of each level, lowest first, with the nodes above that have parts in it."""
        for (start, stop), (above, _) in zip(self.levels[:0:-1], self.levels[-2::-1], strict=True):
            yield start, stop, above + np.flatnonzero(self.parts[above:start])

    def least(self, column: Floats) -> Floats:
        """Compute the least entry of a column # (leaf,) over each node. # (node,)"""
        lows = np.empty(len(self.parts))
        ends = self.parts == 0
        lows[ends] = column[self.start[ends]]
        for start, stop, inner in self._inner():
            lows[inner] = np.minimum.reduceat(lows[start:stop], self.first[inner] - start)
        return lows


@dataclass(frozen=True, eq=False)
class ChainSets:
    """Sets of combinations of chains: a set is a row of nodes in `boxes` # (set, group)."""

    names: Sequence[str]  # per group, for messages
    rows: Sequence[Ints]  # per group, the chains in its tree
    trees: Sequence[ChainTree | None]  # per group; None: a single node with all chains

    @property
    def whole(self) -> Ints:
        """The set of all combinations; no set where a group has no chain left. # (set, group)"""
        return np.zeros((int(all(map(len, self.rows))), len(self.rows)), np.int64)

    def least(self, g: int, column: Floats) -> Floats:
        """Compute the least entry of a column of group g # (row,) over each node. # (node,)"""
        tree = self.trees[g]
        return column.min(keepdims=True) if tree is None else tree.least(column)

    def numbers(self, boxes: Ints) -> Ints:
        """Count the combinations of each set, as Python integers. # (set,)"""
        return reduce(mul, (self._sizes(g)[boxes[:, g]] for g in range(len(self.rows))))

    def _sizes(self, g: int) -> Ints:
        tree = self.trees[g]
        return np.array([len(self.rows[g])], object) if tree is None else tree.size.astype(object)

    def divide(self, boxes: Ints, along: Ints) -> tuple[Ints, Ints]:
        """Divide each set along a group; `along` # (set,), a negative number divides no set.

        Returns for each part the index of its set, and the part. Raises Refused for a single chain.
        """
        number = np.zeros(len(boxes), np.int64)
        for g, tree in enumerate(self.trees):
            divided = np.flatnonzero(along == g)
            if len(divided):
                number[divided] = 0 if tree is None else tree.parts[boxes[divided, g]]
        if not number[along >= 0].all():
            raise Refused("a single chain cannot be divided")
        owner = np.repeat(np.arange(len(boxes)), number)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(number) - number, number)
        parts = boxes[owner]
        for g, tree in enumerate(self.trees):
            if tree is not None:
                of_group = along[owner] == g
                parts[of_group, g] = tree.first[parts[of_group, g]] + place[of_group]
        return owner, parts

    def single(self, boxes: Ints) -> list[Ints]:
        """Return the chain of each group in sets of one combination # (set,) each. Raises Refused for a larger set."""
        rows = []
        for g, tree in enumerate(self.trees):
            nodes = boxes[:, g]
            if tree is None or (tree.parts[nodes] > 0).any():
                raise Refused("a set of several combinations is said to be evaluated")
            rows.append(self.rows[g][tree.start[nodes]])
        return rows

    def text(self, box: Ints) -> str:
        """Name a set by the places of its chains in each tree."""
        names = []
        for g, (dims, tree) in enumerate(zip(self.names, self.trees, strict=True)):
            start, size = (0, len(self.rows[g])) if tree is None else (tree.start[box[g]], tree.size[box[g]])
            names.append(f"{dims} {start}..{start + size - 1}")
        return ", ".join(names)


def listed_rows(chains: Sequence[int], number: int) -> Ints:
    """Check and return the chains that a tree lists. Raises Refused for a chain listed twice, or not below `number`."""
    rows = np.array(chains, np.int64) if all(0 <= chain < number for chain in chains) else None
    if rows is None or len(np.unique(rows)) != len(rows):
        raise Refused("a tree names a chain twice, or one that there is not")
    return rows
