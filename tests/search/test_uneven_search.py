"""Every search of uneven placement against every mapping of small mapspaces."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Compute, FactorRule, LoopConstraint, Storage
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model import validity
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.workloads import shaped

from ..conftest import DEEP
from ..searches import a_poor_beginning, optimal, search
from ..small_problems import best_of_all, check_best_of_all, uneven_problems, values_of

OPTIMAL = SearchOptions(strategy="optimal")


@settings(max_examples=3_000 if DEEP else 6)
@given(uneven_problems())
def test_a_proof_finds_the_best_of_every_mapping(problem):
    """With every kind of constraint, and nothing but branch and bound to find it."""
    space, table, objective, costs = problem
    with a_poor_beginning():
        found = optimal(space, table, replace(OPTIMAL, objective=objective), costs)
    check_best_of_all(found, space, table, objective, costs)


@settings(max_examples=500 if DEEP else 4)
@given(uneven_problems(), st.sampled_from(["random", "exhaustive", "evolve", "auto"]), st.integers(0, 100))
def test_searches_return_mappings_of_the_mapspace(problem, strategy, seed):
    """The best of each search has a number, costs what it says, and is no better than the best of all."""
    space, table, objective, costs = problem
    options = SearchOptions(strategy=strategy, objective=objective, seed=seed)
    if strategy == "random":
        options = replace(options, victory=30)
    found = search(space, table, options, costs)
    least = best_of_all(space, table, objective, costs)
    assert (found.best is None) <= (strategy == "random" or np.isinf(least))
    assume(found.best is not None)
    assert 0 <= space.index(found.best)[0] < space.size.total
    value = values_of(found.best, table, objective, costs)[0]
    assert np.isfinite(value)
    assert value >= least * (1 - 1e-9)
    if strategy in ("exhaustive", "auto"):
        assert value == pytest.approx(least, rel=1e-8)


@settings(max_examples=1_000 if DEEP else 4)
@given(uneven_problems())
def test_fronts_are_those_of_every_mapping(problem):
    """Each point is of a mapping of the mapspace; none that is not dominated is missing."""
    space, table, _, costs = problem
    with a_poor_beginning():
        found = optimal(space, table, replace(OPTIMAL, objective="energy", front="energy,delay"), costs)
    points = []
    for batch in space.batches():
        energies, delays = (values_of(batch, table, name, costs) for name in ("energy", "delay"))
        points += [point for point in zip(energies.tolist(), delays.tolist(), strict=True) if np.isfinite(point).all()]
    staircase, least = [], np.inf
    for energy, delay in sorted(points):
        if delay < least:
            staircase.append((energy, delay))
            least = delay
    mine = [tuple(values_of(one, table, name, costs)[0] for name in ("energy", "delay")) for one in found.front]
    assert all(0 <= space.index(one)[0] < space.size.total for one in found.front)
    for energy, delay in staircase:
        assert any(e <= energy * (1 + 1e-8) and d <= delay for e, d in mine)
    for energy, delay in mine:
        assert any(e <= energy * (1 + 1e-8) and d <= delay for e, d in staircase)


def test_no_loop_is_repaired_into_an_empty_level_of_a_stack():
    """L0 cannot take N, and nothing else fits than the outputs: a loop above them would belong to L0."""
    inner = Storage(
        "L1", "SRAM", capacity_bits=24, tensor_bits=(("Outputs", 24),), keep=frozenset({"Outputs"}),
        bypass=frozenset({"Inputs"}), temporal=LoopConstraint((FactorRule("N", ">=", 2),)), placement="uneven",
    )  # fmt: skip
    outer = Storage("L0", "SRAM", temporal=LoopConstraint(dims=("M", "K")))
    arch = Architecture("small", (outer, inner), Compute("MAC", "intmac"))
    levels = tuple(LevelEnergy(level.name, 1.0, 1.0, 0.0, 0.0, 1.0, "given") for level in arch.levels)
    table = EnergyTable("small", levels, ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given"))
    space = Mapspace(arch, shaped("matmul", M=3, N=2, K=1), "pfm")
    every = space.at(range(space.size.total))
    assert (validity(every) != 0).all()
    found = search(space, table, SearchOptions("evolve", "energy", samples=20_000))
    assert found.best is None
