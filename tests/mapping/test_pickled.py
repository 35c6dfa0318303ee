"""Mappings that go to other processes: the chains alone, without the columns that were derived of them."""

import pickle

import numpy as np
from hypothesis import given
from ruby_map.mapper.model.counts import count

from ..strategies import mappings


@given(mappings(n=3))
def test_a_batch_is_pickled_without_what_is_derived(batch):
    """Counting a batch derives columns of its chains; its pickle stays as long, and counts the same."""
    fresh = pickle.dumps(batch.tables)
    counts = count(batch)
    assert pickle.dumps(batch.tables) == fresh
    again = count(pickle.loads(pickle.dumps(batch)))
    for name in ("cycles", "reads", "fills", "updates"):
        assert np.array_equal(getattr(again, name), getattr(counts, name))
