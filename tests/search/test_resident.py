"""Tensors that stay in a memory, and outputs that add: searches and proofs against every mapping."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import unstacked
from ruby_map.energy import stacked_table
from ruby_map.mapper.mapping import read_mapping, write_mapping
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.problem import OBJECTIVES
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.workloads import Document, InputError

from ..conftest import DEEP
from ..model.test_resident import accumulating
from ..searches import a_poor_beginning, optimal, search
from ..small_problems import (
    CHOICES,
    FEW,
    PRESETS,
    best_of_all,
    check_best_of_all,
    constrained_machines,
    cost_options,
    figures,
    small_machines,
    uneven_spaces,
    values_of,
)
from ..strategies import convolutions, matmuls

OPTIMAL = SearchOptions(strategy="optimal", certify=True)


@pytest.fixture(autouse=True, scope="module")
def hardly_any_first_look():
    """A poor first best, so that there is something to prove."""
    with a_poor_beginning():
        yield


@st.composite
def resident_problems(draw):
    """A mapspace small enough to visit, some of whose tensors stay in a memory, or whose output adds; its figures."""
    if draw(st.booleans()):
        space = draw(uneven_spaces())
        arch, work, preset = unstacked(space.arch), space.workload, "ruby"
    else:
        arch = draw(st.one_of(small_machines(), constrained_machines()))
        work, preset = draw(st.one_of(matmuls(4), convolutions(4, two_windows=False))), draw(st.sampled_from(PRESETS))
    work = accumulating(work) if draw(st.booleans()) else work
    chosen = draw(st.sets(st.sampled_from([tensor.name for tensor in work.tensors]), max_size=2))
    for name in sorted(chosen):
        try:
            arch = arch.with_resident(draw(st.integers(1, len(arch.levels))) % len(arch.levels), [name])
        except ValueError:
            assume(False)
    try:
        space = Mapspace(arch, work, preset, distinct=True)
    except InputError:
        assume(False)
    assume(space.size.total <= FEW and space.size.bypass <= CHOICES)
    table = stacked_table(draw(figures(arch)), space.arch)
    return space, table, draw(st.sampled_from(sorted(OBJECTIVES))), draw(cost_options())


@settings(max_examples=2_000 if DEEP else 12)
@given(resident_problems())
def test_the_proof_finds_the_best_of_every_mapping(problem):
    """And the checker, whose bounds and counts are its own, agrees."""
    space, table, objective, costs = problem
    found = optimal(space, table, replace(OPTIMAL, objective=objective), costs)
    check_best_of_all(found, space, table, objective, costs, certified=True)


@settings(max_examples=200 if DEEP else 10)
@given(resident_problems(), st.sampled_from(["random", "exhaustive", "evolve", "milp"]))
def test_no_search_finds_less_than_the_best(problem, strategy):
    """Each returns a mapping of the mapspace; that which visits all finds the best."""
    space, table, objective, costs = problem
    options = SearchOptions(strategy=strategy, objective=objective, samples=None if strategy == "exhaustive" else 200)
    found, least = search(space, table, options, costs), best_of_all(space, table, objective, costs)
    if found.best is None:
        assert strategy != "exhaustive" or np.isinf(least)
        return
    value = values_of(found.best, table, objective, costs)[0]
    assert value >= least * (1 - 1e-9)
    assert strategy != "exhaustive" or value == pytest.approx(least, rel=1e-9)
    assert 0 <= space.index(found.best)[0] < space.size.total


@settings(max_examples=500 if DEEP else 25)
@given(resident_problems(), st.integers(0, 2**32))
def test_every_mapping_is_written_and_read(problem, number):
    """What is resident is in files as what is kept."""
    space = problem[0]
    batch = space[number % space.size.total]
    written = Document("mapping", write_mapping(batch), {})
    again = read_mapping(written, unstacked(space.arch), space.workload)
    np.testing.assert_array_equal(again.keep, batch.keep)
    np.testing.assert_array_equal(again.factors, batch.factors)
