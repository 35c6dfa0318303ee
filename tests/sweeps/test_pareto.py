"""Pareto frontiers: against the definition, point by point, with ties, duplicates and values that are not finite."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.mapper.mapping import frontier
from ruby_map.mapper.sweeps.fronts import hypervolume, knee

NUMBERS = st.integers(0, 5).map(float)  # few, so that ties and duplicates are common


def points(axes, of=NUMBERS):
    """Up to 12 rows."""
    rows = st.lists(st.tuples(*[of] * axes), max_size=12)
    return rows.map(lambda rows: np.array(rows, dtype=float).reshape(len(rows), axes))


any_points = st.integers(1, 3).flatmap(lambda axes: points(axes, NUMBERS | st.sampled_from([np.inf, np.nan])))


def dominates(one, other):
    return all(one <= other) and any(one < other)


@given(any_points)
def test_the_frontier_is_what_no_finite_row_dominates(values):
    """By definition: finite, and no other finite row is as good everywhere and better somewhere."""
    finite = [row for row in values if np.isfinite(row).all()]
    expected = [np.isfinite(row).all() and not any(dominates(other, row) for other in finite) for row in values]
    assert frontier(values).tolist() == expected


@given(points(2), st.randoms())
def test_the_frontier_does_not_depend_on_the_order(values, random):
    """Shuffled rows keep their verdicts, duplicates included."""
    order = list(range(len(values)))
    random.shuffle(order)
    assert frontier(values[order]).tolist() == frontier(values)[order].tolist()


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_hypervolume_is_the_number_of_cells_dominated(axes):
    """On whole numbers the volume is a count of unit cells, also for rows at, beyond and outside the reference."""
    reference = np.full(axes, 5.0)
    cells = np.indices((5,) * axes).reshape(axes, -1).T  # (cell, axis) its lower corner

    @given(points(axes, NUMBERS | st.sampled_from([np.inf, 7.0])))
    def check(values):
        count = (values[:, None, :] <= cells).all(axis=2).any(axis=0).sum()
        assert hypervolume(values, reference) == count

    check()


@given(points(3), NUMBERS, NUMBERS, NUMBERS)
def test_one_more_point_never_takes_volume_away(values, a, b, c):
    """Hypervolume is monotone, and a dominated point does not change it."""
    reference, before = np.full(3, 6.0), hypervolume(values, np.full(3, 6.0))
    after = hypervolume(np.vstack([values, [a, b, c]]), reference)
    assert after >= before
    if any((row <= [a, b, c]).all() for row in values):
        assert after == before


@given(any_points)
def test_the_knee_is_on_the_frontier(values):
    """There is a knee where there is a frontier, and it is part of it."""
    on, found = frontier(values), knee(values)
    assert (found is None) == (not on.any())
    assert found is None or on[found]


def test_the_knee_is_the_nearest_to_the_ideal_corner_with_scaled_axes():
    """Units do not matter; an axis on which all are equal does not either; of equals the first."""
    curve = np.array([[1.0, 10.0], [2.0, 3.0], [6.0, 2.0], [11.0, 1.0], [5.0, 9.0]])
    distance = [np.hypot((x - 1) / 10, (y - 1) / 9) for x, y in curve[:4]]
    assert knee(curve) == int(np.argmin(distance)) == 1
    assert knee(curve * [1e6, 1e-9]) == 1
    assert knee(np.array([[4.0, 4.0], [4.0, 4.0]])) == 0
    assert knee(np.array([[np.inf, 1.0]])) is None
