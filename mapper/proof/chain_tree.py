"""Builds a tree over the chain combinations of a group of dims: sets of similar rows, halved down to single rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..mapping import Floats, Ints
from ..runtime import Deadline, InternalError, no_deadline

NODE_STEPS = 12  # steps of a proof for each node of a tree
BUCKET = 4  # sets of up to so many rows are divided into single rows at once
FAR = 8.0  # the factor by which 0 and inf count as smaller and larger than all other values


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree of sets of rows: node 0 has all rows; the children of a node have consecutive numbers."""

    low: Floats  # (column, node) the least entry of each column
    first: Ints  # (node,) the first child
    children: Ints  # (node,) number of children; 0 for a single row
    row: Ints  # (node,) the row of a single-row node, else -1
    spread: Floats  # (node,) distance of its rows; 0 for a single row
    size: Ints  # (node,) number of rows

    def __post_init__(self) -> None:
        """Check the invariant of the proof: the children of a node cover it, each row once. Raises InternalError."""
        ends = np.concatenate([[0], np.cumsum(self.size)])
        parts = ends[self.first + self.children] - ends[self.first]
        if (np.where(self.children > 0, parts, 1) != self.size).any():
            raise InternalError("internal error: sets of chains are not covered by their parts; please report it")

    def __len__(self) -> int:
        return len(self.row)


def grow(columns: Sequence[Floats], weights: Sequence[float], names: Ints, deadline: Deadline = no_deadline) -> Tree:
    """Build the tree over the rows of `columns` # (row,) each, whose numbers in the group are `names` # (row,).

    Differences in columns of large weight divide rows first. Weights affect the speed of a search, never its result.
    """
    table = np.stack(columns)  # (column, row)
    scaled = np.stack([w * logarithms(column) for w, column in zip(weights, columns, strict=True)])
    members: list[Ints] = [np.arange(table.shape[1])]
    first, children, spread = [], [], []
    for node in range(2 * table.shape[1]):
        if node >= len(members):
            break
        deadline(NODE_STEPS)
        parts, apart = _split(scaled, members[node])
        spread.append(apart)
        first.append(len(members))
        children.append(len(parts))
        members += parts
    low = np.empty((len(members), len(table)))
    single = np.array([len(rows) == 1 for rows in members])
    low[single] = table.T[[rows[0] for rows in members if len(rows) == 1]]
    for node in np.flatnonzero(~single)[::-1].tolist():  # children come after their node
        deadline(0)
        low[node] = low[first[node] : first[node] + children[node]].min(axis=0)
    low = np.ascontiguousarray(low.T)
    row = np.array([names[rows[0]] if len(rows) == 1 else -1 for rows in members])
    size = np.array([len(rows) for rows in members])
    return Tree(low, np.array(first), np.array(children), row, np.array(spread), size)


def _split(scaled: Floats, rows: Ints) -> tuple[list[Ints], float]:
    """Divide a set: return its children, and the distance of its rows."""
    if len(rows) == 1:
        return [], 0.0
    part = scaled[:, rows]
    least, most = part.min(axis=1), part.max(axis=1)
    widest = int((most - least).argmax())
    apart = float(most[widest] - least[widest])
    if len(rows) <= BUCKET or apart == 0.0:
        return [rows[i : i + 1] for i in range(len(rows))], max(apart, 1e-9)
    middle = (least[widest] + most[widest]) / 2
    # between neighbouring floats the middle is one of them
    low = part[widest] <= middle if middle < most[widest] else part[widest] < most[widest]
    return [rows[low], rows[~low]], apart


def logarithms(column: Floats) -> Floats:
    """Take logarithms, with 0 and inf moved near the other values."""
    plain = column[(column > 0) & np.isfinite(column)]
    least, most = (plain.min(), plain.max()) if len(plain) else (1.0, 1.0)
    return np.log(np.clip(column, least / FAR, most * FAR))
