"""Columns shared between choices of kept tensors: each choice has the bounds and weights that it has by itself."""

import pickle

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.mapper.bounds import Geometric, Relaxation, Terms

from ..conftest import DEEP
from ..small_problems import slow_layers


@settings(max_examples=300 if DEEP else 8)
@given(st.data())
def test_shared_columns_are_those_of_each_choice(data):
    """To the last bit, in any turn, with wires and slow levels, and in another process."""
    space, table, costs, groups = data.draw(slow_layers((0.0, 1.0)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    rows = np.stack([rng.integers(0, len(group), 100) for group in groups], axis=1)
    terms = Terms(groups)
    for keep in space.sample(rng, 4).keep:
        alone = Relaxation(groups, table, keep, costs)
        shared = Relaxation(groups, table, keep, costs, terms=terms)
        sent = pickle.loads(pickle.dumps(shared))
        assert [len(columns) for columns in shared.columns] == [len(columns) for columns in alone.columns]
        expected = bounds(alone, rows)
        for relaxed in (shared, sent):
            for one, other in zip(bounds(relaxed, rows), expected, strict=True):
                assert np.array_equal(one, other)
        every = [np.arange(len(group)) for group in groups]
        one, other = (Geometric(relaxed, (1, 1)).factors(every) for relaxed in (alone, shared))
        assert (one.least, set(one.weights)) == (other.least, set(other.weights))
    used = [len(columns) for columns in terms.products.columns]
    assert all(number <= most for number, most in zip(map(len, shared.columns), used, strict=True))


def bounds(relaxed, rows):
    """Energy, cycles and values of some combinations of chains."""
    bound = relaxed.bound(lambda g, column: relaxed.columns[g][column][rows[:, g]], len(rows))
    return bound.energy_pj, bound.cycles, bound.possible, bound.value(bound.energy_pj * bound.cycles, np.multiply)
