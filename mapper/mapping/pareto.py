"""Pareto dominance: which points nobody dominates, and which points a front covers. Less is better on every axis.

A point *covers* another if it is as good on every axis; it *dominates* another if it covers it and is better on one.
Points are the rows of arrays # (point, axis), for any number of axes.
"""

from collections.abc import Sequence

import numpy as np

from .batch import Bools, Floats, Ints

Front = Floats | Sequence[tuple[float, ...]]  # (point, axis)


def frontier(points: Floats) -> Bools:
    """Mark the points that no other point dominates. # (point,)

    Equal points stand or fall together. A point with a value that is not finite has no place on a frontier.

    >>> frontier(np.array([[1, 3], [2, 2], [2, 2], [3, 2]])).tolist()
    [True, True, True, False]
    """
    import moocore  # takes a tenth of a second

    on = np.isfinite(points).all(axis=1)
    on[on] = moocore.is_nondominated(points[on], keep_weakly=True)
    return np.asarray(on, np.bool_)


def dominated(points: Floats, front: Front) -> Bools:
    """Mark the points that some point of `front` covers. # (point,)

    >>> dominated(np.array([[2.0, 2.0], [1.0, 4.0]]), [(1.0, 3.0), (2.0, 2.0)]).tolist()
    [True, True]
    """
    marked = np.zeros(len(points), dtype=np.bool_)
    columns = list(points.T)
    for member in front:
        inside = ~marked
        for place, column in zip(member, columns, strict=True):
            inside &= place <= column
        marked |= inside
    return marked


def uncovered_by_earlier(low: Floats, high: Floats) -> Ints:
    """The rows that no row before them surely covers, of finite points known to lie from `low` to `high`. # (row,)

    Each is compared with the rows of this list alone: of exact points (`low` is `high`) that is enough, for what covers
    a covered point covers whatever that one would.
    """
    remaining, rows = np.arange(len(low)), []
    while remaining.size:
        first, remaining = remaining[0], remaining[1:]
        rows.append(first)
        remaining = remaining[(low[remaining] < high[first]).any(axis=1)]
    return np.array(rows, np.int64)


def pareto_rows(first: Floats, second: Floats) -> Ints:
    """The finite points of two axes that no other covers, of equals one: first ascending, second descending. # (row,)

    >>> pareto_rows(np.array([3.0, 1.0, 2.0, 2.0]), np.array([2.0, 3.0, 2.0, 4.0])).tolist()
    [1, 2]
    """
    order = np.lexsort((second, first))
    lowest = np.minimum.accumulate(np.concatenate([[np.inf], second[order]]))[:-1]  # over the points before
    return order[second[order] < lowest]
