"""Which designs may still change an answer, by hand: values, bounds, limits, gaps."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.mapper.designs.standing import Ceiling, Score, Standing, Wanted, _least_factors

AREAS = [1.0, 2.0, 3.0, 4.0]
VALUE = Score("edp", np.ones((4, 1)), 1.0)
AREA = Score("area", np.array(AREAS)[:, None], 0.0)


def standing(lower, upper, *, axes=(), minimise=None, gap=0.0, most=np.inf):
    """Four designs of areas 1 to 4; an upper value of None: not searched."""
    wanted = Wanted(minimise, axes, np.ones(4, bool), np.full((4, 1), most), gap)
    made = Standing(wanted)
    made.lower[:, 0] = lower
    for row, value in enumerate(upper):
        if value is not None:
            made.take(row, [value])
    return made


@pytest.mark.parametrize(
    ("lower", "gap", "open_rows"),
    [
        ([9.9, 10.0, 10.1, 10.0], 0.0, [0]),  # what cannot be below the best, 10, is closed, and nothing else
        ([9.99, 9.4, 9.6, 10.0], 0.05, [1]),  # with a gap of 5 % what may be lower by more is open
        ([0.0, 10.0, 1.0, 10.0], 0.0, [0, 2]),
    ],
)
def test_the_best_closes_what_cannot_be_below_it(lower, gap, open_rows):
    found = standing(lower, [None, None, None, 10.0], minimise=VALUE, gap=gap)
    assert np.flatnonzero(found.open()).tolist() == open_rows
    assert np.flatnonzero(found.waiting()).tolist() == open_rows


@pytest.mark.parametrize("gap", [0.0, 0.2])
def test_a_frontier_closes_larger_designs_alone(gap):
    """Design 1 has 10: a smaller one of 20 at least is open, a larger one of 10 at least is closed."""
    found = standing([20.0, 10.0, 10.0, 7.9], [None, 10.0, None, None], axes=(AREA, VALUE), gap=gap)
    assert np.flatnonzero(found.open()).tolist() == [0, 3]
    found.take(0, [20.0])
    assert np.flatnonzero(found.open()).tolist() == [3]
    assert found.best((AREA, VALUE)).tolist() == [0, 1]


def test_a_searched_design_with_a_gap_is_open_and_not_searched_again():
    found = standing([8.0, 10.0, 11.0, 12.0], [10.0, None, None, None], minimise=VALUE)
    assert np.flatnonzero(found.open()).tolist() == [0]
    assert not found.waiting().any()
    assert found.least(VALUE) == 8.0


def test_limits_exclude_what_is_proven_beyond_them():
    """A design above a limit is no answer; one whose bound is above it is out of the question."""
    found = standing([5.0, 8.0, 1.0, np.inf], [6.0, None, 9.0, None], minimise=VALUE, most=7.0)
    assert found.excluded.tolist() == [False, True, False, True]
    assert found.known.tolist() == [True, False, False, False]
    assert np.flatnonzero(found.open()).tolist() == [0, 2]


def test_a_ceiling_excludes_what_is_proven_above_it_and_sums_over_workloads():
    """Twice the first workload and the second: 2 x 3 + 4 = 10 is within 10, and 2 x 4 + 3 = 11 is not."""
    score = Score("edp", np.array([[2.0, 1.0]] * 4), 1.0)
    wanted = Wanted(AREA, (), np.ones(4, bool), np.full((4, 2), np.inf), ceilings=(Ceiling(score, 10.0),))
    known = Standing(Wanted(score, (), np.ones(4, bool), np.full((4, 2), np.inf)))
    limited = Standing(wanted, known)
    known.raise_lower(np.array([0]), [4.0, 3.0])
    known.take(1, [4.0, 3.0])
    known.take(3, [3.0, 4.0])
    assert limited.excluded.tolist() == [True, False, False, False]
    assert limited.known.tolist() == [False, False, False, True]
    assert (known.best_row, limited.best_row) == (3, 3)
    assert np.flatnonzero(limited.open()).tolist() == [1, 2]  # of less area, and nothing is proven of them
    assert np.flatnonzero(limited.waiting()).tolist() == [2]


FIGURE = st.sampled_from([0.0, 1.0, 2.0, 3.0, 5.0])


@given(
    alone=st.lists(st.booleans(), min_size=2, max_size=3),
    lower=st.lists(st.tuples(FIGURE, FIGURE, FIGURE), min_size=1, max_size=8),
    best=st.lists(st.tuples(FIGURE, FIGURE, FIGURE), max_size=5),
)
def test_the_nearest_known_candidate_decides(alone, lower, best):
    """Of area and EDP the least EDP of all that are no larger; of other scores each known candidate in turn."""
    count = len(alone)
    factors = _least_factors(*(np.array([own[:count] for own in rows]).reshape(-1, count) for rows in (lower, best)),
                             np.array(alone))  # fmt: skip
    for own, factor in zip(lower, factors.tolist(), strict=True):
        every = [max(_factor(*pair) for pair in zip(known[:count], own[:count], alone, strict=True)) for known in best]
        assert factor == min(every, default=inf)


def _factor(known, lower, alone):
    if alone:
        return 0.0 if known <= lower else inf
    return known / lower if lower else 1.0 if known == 0 else inf
