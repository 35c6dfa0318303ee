"""A limit on the temporal loops of all levels together: counted, sampled, proven, checked and said like any other."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Compute, Storage, load_arch, of_stacks, unstacked
from ruby_map.mapper.exploration import evaluate, explore
from ruby_map.mapper.mapspace import Mapspace, violations
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.workloads import InputError, shaped

from ..conftest import DEEP
from ..searches import a_poor_beginning, optimal
from ..small_problems import check_best_of_all, constrained_problems, problems, uneven_problems

FEW_EXAMPLES = 1_000 if DEEP else 12


def loops(batch):
    """The temporal loops of each mapping with a bound over 1."""
    slots = [s for s, slot in enumerate(batch.arch.slots) if not slot.spatial]
    return (batch.factors[:, slots] > 1).sum(axis=(1, 2))


def limited(space, most):
    """The mapspace with such a limit; None where it has no mapping."""
    arch = replace(unstacked(space.arch), max_loops=most)
    try:
        return Mapspace(arch, space.workload, of_stacks(space.remainders, space.arch, arch), distinct=True)
    except InputError:
        return None


def rows(batch):
    """Each mapping as bytes, its levels as those of the memories."""
    parts = [batch.factors.reshape(len(batch), -1), batch.order.reshape(len(batch), -1)]
    parts += [batch.keep.reshape(len(batch), -1)]
    return [row.tobytes() for row in np.concatenate([part.astype(np.int64) for part in parts], axis=1)]


some_problems = st.one_of(problems(), constrained_problems(), uneven_problems())


@settings(max_examples=FEW_EXAMPLES * 3, deadline=None)
@given(some_problems, st.integers(0, 6))
def test_it_leaves_the_mappings_with_few_loops(problem, most):
    """No more, no fewer, each by its number; what is drawn is among them."""
    free = problem[0]
    every = [row for batch in free.batches() for row, n in zip(rows(batch), loops(batch), strict=True) if n <= most]
    space = limited(free, most)
    assert (space.size.total if space else 0) == len(every)
    if space is None:
        return
    assert sorted(row for batch in space.batches() for row in rows(batch)) == sorted(every)
    drawn = space.sample(np.random.default_rng(most), 20)
    assert (loops(drawn) <= most).all()
    assert all(0 <= index < space.size.total for index in space.index(drawn))


@settings(max_examples=FEW_EXAMPLES, deadline=None)
@given(some_problems, st.integers(1, 5))
def test_its_optimum_is_proven_and_checked(problem, most):
    """The best of every mapping with so few loops, by branch and bound, and its certificate by the checker."""
    free, table, objective, costs = problem
    space = limited(free, most)
    assume(space is not None)
    with a_poor_beginning():
        found = optimal(space, table, SearchOptions(strategy="optimal", objective=objective, certify=True), costs)
    check_best_of_all(found, space, table, objective, costs, certified=True)


def test_it_is_said():
    """In a violation, and where constraints exclude each other."""
    arch = Architecture(
        "two", (Storage("A", "SRAM"), Storage("B", "SRAM", capacity_bits=64)), Compute("M", "intmac"), max_loops=2
    )
    layer = shaped("matmul", M=4, N=2, K=2)
    with pytest.raises(InputError, match="at most 2 temporal loops"):
        Mapspace(arch, layer, "pfm")
    batch = Mapspace(replace(arch, max_loops=None), layer, "pfm")[0]
    assert violations(replace(batch, arch=arch)) == [f"at most 2 temporal loops are allowed, got {loops(batch)[0]}"]


def test_a_file_and_its_reasons(tmp_path):
    """The key `max_loops` of an architecture file: searches keep to it, a mapping beyond it says so."""
    path = tmp_path / "arch.yaml"
    path.write_text("base: toy_6pe\nname: few\nmax_loops: 4\n")
    layer = shaped("conv2d", M=4, C=3, P=4, Q=4, R=1, S=1)
    assert load_arch(str(path)).max_loops == 4
    for strategy in ("random", "evolve", "exhaustive"):
        options = SearchOptions(strategy=strategy, valid=200, seed=1) if strategy != "exhaustive" else SearchOptions(
            strategy=strategy)  # fmt: skip
        found = explore(str(path), layer, "pfm", options)
        assert found.found
        assert loops(found.batch)[0] <= 4
    many = explore("toy_6pe", layer, "pfm", SearchOptions(strategy="random", valid=50, seed=3))
    batch = many.batch
    if loops(batch)[0] > 4:
        again = evaluate(load_arch(str(path)), layer, batch)
        assert not again.found
