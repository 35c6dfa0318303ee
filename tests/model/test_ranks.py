"""Ranks of one dim: the short way says what the walk over meeting contexts says."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.mapper.model.nests import RankView, prefixes
from ruby_map.mapper.model.nests.context_combinations import context_combinations, summed

from ..conftest import DEEP
from ..strategies import mappings


def lengths(view):
    """The summed lengths of the tiles of all steps, context by context. # (chain,)"""
    total = np.zeros(view.n)
    for met in context_combinations([[part.contexts(part.c)] for part in view.parts], view.rows):
        own = view._at(met.combination)
        for ranges in product(*met.ranges):
            number = met.times * np.prod([part.count for part in ranges], axis=0)
            total += summed(number * own.length([part.last for part in ranges]), met.combination, view.n)
    return total


@settings(max_examples=500 if DEEP else 40)
@given(mappings(n=4), st.integers(1, 3))
def test_ranks_of_one_dim(batch, coef):
    """At every boundary, with every spread and cut: summed lengths, and what a pass shares with the next."""
    for table, rows in zip(batch.tables, batch.rows.T, strict=True):
        for c in range(len(batch.arch.levels) + 1):
            for lo, hi in product(range(c + 1), repeat=2):
                view = RankView((coef,), (prefixes(table, batch.arch, c, lo, max(lo, hi)),), (rows,))
                assert view.sizes.tolist() == lengths(view).tolist()
                for cut in range(c + 1):
                    assert view.wrap_words([cut]).tolist() == view.wrap([cut]).words.tolist()
