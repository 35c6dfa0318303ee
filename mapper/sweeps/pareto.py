"""Where the knee of a Pareto frontier is, and how much it dominates; and both where points are known within limits.

Less is better on every axis. A point is a row, an axis a column. Knee and hypervolume are exact for any number of axes.
Of points within limits, `low` and `high` (point, axis), each may be anywhere between them, whatever the others are.
"""

import numpy as np

from ..mapping import Bools, Floats, frontier

SLACK = 1e-12  # of distances in two orders


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


def surely_on(low: Floats, high: Floats) -> Bools:
    """The points on the frontier for whatever is within the limits: none dominates them at their worst. # (point,)"""
    return np.array([not _dominated(high[row], np.delete(low, row, axis=0)) for row in range(len(low))], bool)


def possibly_on(low: Floats, high: Floats) -> Bools:
    """The points on the frontier for something within the limits: none dominates them at their best. # (point,)"""
    return np.array([not _dominated(low[row], np.delete(high, row, axis=0)) for row in range(len(low))], bool)


def _dominated(value: Floats, others: Floats) -> bool:
    return bool(((others <= value).all(axis=1) & (others < value).any(axis=1)).any())


def possible_knees(low: Floats, high: Floats) -> Bools:
    """Mark the knee for whatever is within the limits, perhaps with points that never are: none is left out. # (point,)

    The distance of a point to the ideal corner, on an axis (x - corner) / (end - corner), grows with x and falls as the
    corner or the end of the frontier moves up; so limits of all three give limits of the distance.
    """
    sure, may = surely_on(low, high), possibly_on(low, high)
    corner, corner_high = low.min(axis=0), high.min(axis=0)
    end = np.maximum(low[sure].max(axis=0), corner) if sure.any() else corner
    end_high = high[may].max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.nan_to_num(np.clip((low - corner_high) / (end_high - corner_high), 0.0, 1.0))
        far = np.where(end > corner, np.minimum((high - corner) / (end - corner), 1.0), 1.0)
    far[:, end_high <= corner] = 0.0  # all of the frontier are equal there
    nearest = np.linalg.norm(far[sure], axis=1).min() if sure.any() else np.inf
    return may & (np.linalg.norm(near, axis=1) <= nearest + SLACK)
