"""Pareto frontiers: what nothing beats on every axis at once, where their knee is, and how much they dominate.

Less is better on every axis. A point is a row, an axis a column; a row with a value that is not finite has no place
on a frontier. All of it is exact, for any number of axes.
"""

import numpy as np
from numpy.typing import NDArray

from ..mapping import Floats

Mask = NDArray[np.bool_]


def frontier(values: Floats) -> Mask:
    """Which rows of `values` (point, axis) no other row dominates: none is as good on every axis and better on one.

    Equal rows stand or fall together.

    >>> frontier(np.array([[1, 3], [2, 2], [2, 2], [3, 2]])).tolist()
    [True, True, True, False]
    """
    on = np.zeros(len(values), dtype=np.bool_)  # (point,)
    kept = np.empty((0, values.shape[1]))
    rows = np.flatnonzero(np.isfinite(values).all(axis=1))
    # in lexicographic order nothing dominates what stands before it, so what is on the frontier stays there
    for row in rows[np.lexsort(values[rows].T[::-1])]:
        point = values[row]
        if not ((kept <= point).all(axis=1) & (kept < point).any(axis=1)).any():
            on[row] = True
            kept = np.concatenate([kept, point[None]])
    return on


def knee(values: Floats) -> int | None:
    """The row of the frontier of `values` (point, axis) that is nearest to the ideal corner; None without a frontier.

    Each axis runs from 0 to 1 over the frontier; the ideal corner is 0 on all of them. Of equals the first.

    >>> knee(np.array([[1, 9], [2, 2], [9, 1]]))
    1
    """
    rows = np.flatnonzero(frontier(values))
    if not rows.size:
        return None
    points = values[rows]
    low, high = points.min(axis=0), points.max(axis=0)
    scaled = (points - low) / np.where(high > low, high - low, 1.0)
    return int(rows[np.linalg.norm(scaled, axis=1).argmin()])


def hypervolume(values: Floats, reference: Floats) -> float:
    """The volume of what the rows of `values` (point, axis) dominate, up to `reference` (axis,): exact.

    Rows that do not reach the reference on some axis add nothing.

    >>> hypervolume(np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([3.0, 3.0]))
    3.0
    """
    inside = values[np.isfinite(values).all(axis=1) & (values < reference).all(axis=1)]
    return _volume(inside[frontier(inside)], reference) if len(inside) else 0.0


def _volume(points: Floats, reference: Floats) -> float:
    """Slabs along the last axis, each with the volume, on the other axes, of the points that reach into it."""
    if points.shape[1] == 1:
        return float(reference[0] - points.min())
    points = points[points[:, -1].argsort()]
    edges = np.append(points[:, -1], reference[-1])
    heights = np.diff(edges)
    return sum(
        float(height) * _volume(points[: row + 1, :-1], reference[:-1]) for row, height in enumerate(heights) if height
    )
