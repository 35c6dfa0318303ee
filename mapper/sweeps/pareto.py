"""Where the knee of a Pareto frontier is, and how much the frontier dominates.

Less is better on every axis. A point is a row, an axis a column. Both figures are exact, for any number of axes.
"""

import numpy as np

from ..mapping import Floats, frontier


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
