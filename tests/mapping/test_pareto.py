"""Pareto dominance: each function against the definition, pair by pair, with ties, duplicates and no points at all."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.mapper.mapping import dominated, frontier, pareto_rows, uncovered_by_earlier

NUMBERS = st.integers(0, 5).map(float)  # few, so that ties and duplicates are common


def points(axes):
    """Up to 12 points of so many axes. # (point, axis)"""
    rows = st.lists(st.tuples(*[NUMBERS] * axes), max_size=12)
    return rows.map(lambda rows: np.array(rows, dtype=float).reshape(len(rows), axes))


any_points = st.integers(1, 4).flatmap(points)
any_pair = st.integers(1, 4).flatmap(lambda axes: st.tuples(points(axes), points(axes)))


def covers(point, other):
    return all(a <= b for a, b in zip(point, other, strict=True))


def dominates(point, other):
    return covers(point, other) and not covers(other, point)


@given(any_points)
def test_the_frontier_is_what_no_point_dominates(values):
    """Equal points stand together."""
    assert frontier(values).tolist() == [not any(dominates(other, point) for other in values) for point in values]


@given(any_pair)
def test_covered_is_what_some_point_of_the_front_is_as_good_as(pair):
    """The front may be an array or a sequence of tuples, and need not be one of its own."""
    values, front = pair
    expected = [any(covers(member, point) for member in front) for point in values]
    assert dominated(values, front).tolist() == dominated(values, list(map(tuple, front))).tolist() == expected


@given(any_points)
def test_uncovered_by_earlier_of_exact_points(values):
    """A point stays where no point before it covers it; of equals the first."""
    expected = [i for i, point in enumerate(values) if not any(covers(other, point) for other in values[:i])]
    assert uncovered_by_earlier(values, values).tolist() == expected


@given(any_pair)
def test_uncovered_by_earlier_of_ranges_never_loses_a_point(pair):
    """Wherever in its range each point lies, those that no point before them covers are in the list."""
    low, width = pair
    n = min(len(low), len(width))
    low, high = low[:n], low[:n] + width[:n]
    found = uncovered_by_earlier(low, high).tolist()
    for share in (0.0, 0.5, 1.0):
        exact = low + share * (high - low)
        assert set(uncovered_by_earlier(exact, exact).tolist()) <= set(found)


@given(any_points)
def test_in_lexicographic_order_the_uncovered_are_the_frontier_without_its_duplicates(values):
    """So a sorted list needs one pass."""
    ordered = values[np.lexsort(values.T[::-1])]
    alone = ordered[uncovered_by_earlier(ordered, ordered)]
    assert alone.tolist() == np.unique(values[frontier(values)], axis=0).tolist()


@given(points(2))
def test_the_staircase_is_the_frontier_of_two_axes_in_order_without_its_duplicates(values):
    """The first axis ascends, the second descends."""
    steps = values[pareto_rows(*values.T)]
    assert steps.tolist() == np.unique(values[frontier(values)], axis=0).tolist()
    assert (np.diff(steps[:, 0]) > 0).all()
    assert (np.diff(steps[:, 1]) < 0).all()


@given(any_pair)
def test_a_front_extended_by_points_is_the_frontier_of_all(pair):
    """As a search extends its front: new points that the front does not cover, old ones that these do not cover."""
    old, new = (values[uncovered_by_earlier(values, values)] for values in pair)
    old = old[frontier(old)]
    new = new[~dominated(new, old)]
    new = new[frontier(new)]
    extended = np.concatenate([old[~dominated(old, new)], new])
    assert (
        sorted(extended.tolist())
        == np.unique(every := np.concatenate(pair), axis=0)[frontier(np.unique(every, axis=0))].tolist()
    )
