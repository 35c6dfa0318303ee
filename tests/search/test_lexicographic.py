"""Objectives minimised in turn: the mapping found is the best of every mapping, and a wrong limit is noticed."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model import OBJECTIVES, InternalError
from ruby_map.mapper.search import SearchOptions

from ..conftest import DEEP
from ..searches import a_poor_beginning, optimal
from ..small_problems import constrained_problems, figures, problems, values_of

LISTS = [",".join(names) for n in (2, 3) for names in permutations(sorted(OBJECTIVES), n)]
EQUAL = 1e-9  # relative: values that differ by less count as equal


def values_of_all(space, table, costs, names):
    """Each objective of every valid mapping. # (mapping, objective)"""
    batches = list(space.batches())
    values = np.stack(
        [np.concatenate([values_of(batch, table, name, costs) for batch in batches]) for name in names], axis=1
    )
    return values[np.isfinite(values).all(axis=1)]


def least_in_turn(values, equal):
    """The least value by each objective in turn, of the mappings that equal the least by those before."""
    least = []
    for i in range(values.shape[1]):
        least.append(values[:, i].min())
        values = values[values[:, i] <= least[-1] * (1 + equal)]
    return least


def check(found, space, table, costs, names):
    """An outcome is the best of every mapping by all objectives in turn, and says so."""
    values = values_of_all(space, table, costs, names)
    if not len(values):
        assert found.best is None
        return
    own = [values_of(found.best, table, name, costs)[0] for name in names]
    for each, strict, loose in zip(own, least_in_turn(values, 0.0), least_in_turn(values, 3 * EQUAL), strict=True):
        assert loose * (1 - 5 * EQUAL) <= each <= strict * (1 + 5 * EQUAL)
    assert found.optimal
    assert [stage.objective for stage in found.stages] == list(names)
    for each, stage in zip(own, found.stages, strict=True):
        assert stage.optimal
        assert stage.value == pytest.approx(each, rel=5 * EQUAL)
        assert stage.lower_bound == pytest.approx(each, rel=5 * EQUAL)


@st.composite
def slow_problems(draw):
    """Problems with every kind of constraint, whose every level may be slow."""
    space, table, objective, costs = draw(constrained_problems())
    rate = st.sampled_from([None, None, 0.3, 0.7, 1.0, 2.5])
    levels = tuple(replace(each, read_bandwidth=draw(rate), write_bandwidth=draw(rate)) for each in space.arch.levels)
    space = Mapspace(replace(space.arch, levels=levels), space.workload, space.remainders, distinct=True)
    return space, table, objective, costs


@settings(max_examples=5_000 if DEEP else 120)
@given(st.one_of(problems(), constrained_problems(), slow_problems()), st.sampled_from(LISTS), st.integers(0, 99))
def test_equals_the_best_of_every_mapping(problem, objectives, seed):
    """For every pair and triple of objectives, in all mapspaces, with constraints, bandwidths, leakage and wires."""
    space, table, _, costs = problem
    with a_poor_beginning():
        found = optimal(space, table, SearchOptions(strategy="optimal", objective=objectives, seed=seed), costs)
    check(found, space, table, costs, objectives.split(","))
