"""Bounds by products of one number per chain: below what they bound, and sharp where it can be seen."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Compute, FactorRule, LoopConstraint, Storage, load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper.bounds.ascent import Ascent
from ruby_map.mapper.bounds.dim_groups import DimGroup, grouped
from ruby_map.mapper.bounds.geometric import Factors, Geometric
from ruby_map.mapper.bounds.relaxation import Relaxation
from ruby_map.mapper.mapspace import Mapspace, every_chain
from ruby_map.mapper.problem import OBJECTIVES
from ruby_map.mapper.proof.chain_tree import _split
from ruby_map.mapper.proof.incumbents import BestIncumbent
from ruby_map.mapper.proof.narrowing import narrowed
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.outcome.ended import Ended
from ruby_map.workloads import load_workload

from ..conftest import DEEP
from ..model.test_cost import matmul, table
from ..searches import optimal
from ..small_problems import problems

MOST = 20_000  # combinations of chains compared


def groups_of(space):
    tables = tuple(every_chain(chains) for chains in space.chains)
    return [DimGroup(space.arch, space.workload, tables, dims) for dims in grouped(space.workload) or [(0,)]]


def excess(relaxed, objective, rows, rng):
    """The largest share by which the bound by products exceeds that of a combination of `rows`; -inf without any."""
    powers = OBJECTIVES[objective].powers
    found = Geometric(relaxed, powers).factors(rows)
    n = min(MOST, int(np.prod([float(len(mine)) for mine in rows])))
    picked = [rng.integers(0, len(mine), n) for mine in rows]
    bound = relaxed.bound(lambda g, column: relaxed.columns[g][column][rows[g][picked[g]]], n)
    exact = bound.energy_pj ** powers[0] * bound.cycles ** powers[1]
    below = found.least * np.prod([found.factors[g][each] for g, each in enumerate(picked)], axis=0)
    return float((below - exact - 1e-9 * exact).max(where=bound.possible, initial=-np.inf))


@settings(max_examples=500 if DEEP else 20)
@given(problems(), st.integers(0, 2**32))
def test_no_valid_combination_is_below(problem, seed):
    """Whatever the rows looked at, no combination of them that fits has a bound below the product of its factors."""
    space, table, objective, costs = problem
    groups, rng = groups_of(space), np.random.default_rng(seed)
    relaxed = Relaxation(groups, table, next(iter(space.every_keep())), costs)
    every = [np.arange(len(group)) for group in groups]
    few = [rng.choice(rows, -(-len(rows) // 3), replace=False) for rows in every]
    for rows in (every, few):
        assert excess(relaxed, objective, rows, rng) <= 0


@pytest.fixture(scope="module")
def layer():
    arch, workload = load_arch("simba_like"), load_workload("resnet50/conv4_x_3x3")
    space = Mapspace(arch, workload, "ruby-s")
    return Relaxation(groups_of(space), energy_table(arch), next(iter(space.every_keep())))


def test_far_above_the_least_of_every_column(layer):
    """On a 3x3 layer the bound of the whole mapspace is more than five times that of columns taken one by one."""
    least = layer.bound_of_all()
    rows = [np.arange(len(group)) for group in layer.groups]
    assert Geometric(layer, (1, 1)).factors(rows).least > 5 * (least.energy_pj * least.cycles)[0]


@pytest.mark.filterwarnings("error")
def test_where_nothing_fits():
    """Tiles that fit nowhere raise the bound beyond all floats: infinite, without a warning, and nothing is valid."""
    full = LoopConstraint(factors=tuple(FactorRule(dim, "=", None) for dim in "MK"))
    buffer = Storage("L1", "SRAM", capacity_bits=64, keep=frozenset("ABZ"), temporal=full)
    arch = Architecture("small", (Storage("L0", "DRAM"), buffer), Compute("MAC", "intmac"))
    space = Mapspace(arch, matmul(32, 2, 32), "pfm")
    found = optimal(space, table(arch), SearchOptions(strategy="random"))
    assert found.best is None
    assert found.statistics.stopped_by == Ended.SEEN_ALL
    relaxed = Relaxation(groups_of(space), table(arch), next(iter(space.every_keep())))
    assert Geometric(relaxed, (1, 1)).factors([np.arange(len(group)) for group in relaxed.groups]).least == np.inf


def test_a_wrong_bound_is_noticed(layer, monkeypatch):
    """Terms of one charge counted as if they added up, where only the largest counts, give too high a bound."""

    def own(self, weights, powers, right=Ascent._own):
        found, terms = right(self, weights, powers), self.problem.terms
        return np.append(np.log(weights[:terms]), found[terms:])

    rng = np.random.default_rng(0)
    many = [rng.integers(0, len(group), 1000) for group in layer.groups]
    fits = layer.bound(lambda g, column: layer.columns[g][column][many[g]], 1000).possible.argmax()
    rows = [each[fits : fits + 1] for each in many]
    assert excess(layer, "edp", rows, rng) <= 0
    monkeypatch.setattr(Ascent, "_own", own)
    assert excess(layer, "edp", rows, rng) > 0


@pytest.mark.parametrize("objective", ["delay", "edp", "energy"])
def test_chains_are_ruled_out_by_products_alone(objective):
    """Nothing else enters, as a certificate has nothing else: not even that no mapping takes less than a cycle."""
    best = BestIncumbent((OBJECTIVES[objective],))
    best.offer(None, 1.0, 1.0)

    class Weighing:
        def factors(self, rows, enough):
            return Factors(0.5, (np.array([1.0, 1.9, 2.0])[rows[0]],))

    assert narrowed([np.arange(3)], (Weighing(),), best).rows[0].tolist() == [0, 1]


@pytest.mark.parametrize("value", [1.0, 1.0 + 2**-52, 3.3, 1e-300])
def test_neighbouring_floats_divide_a_tree(value):
    """Their middle is one of them; neither part is empty, and every row becomes a leaf."""
    columns = np.array([value, np.nextafter(value, 9.0)] * 40)
    parts, apart = _split(columns[None], np.arange(80))
    assert sorted(map(len, parts)) == [40, 40]
    assert apart > 0
