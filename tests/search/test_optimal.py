"""The certified optimum against every mapping of small mapspaces, and its bound against the mappings it bounds."""

from dataclasses import replace
from itertools import permutations, product
from math import prod

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Compute, LoopConstraint, Storage, load_arch
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy, energy_table
from ruby_map.mapper.bounds.charges import charges
from ruby_map.mapper.bounds.dim_groups import DimGroup, RankWords, grouped
from ruby_map.mapper.bounds.relaxation import Relaxation
from ruby_map.mapper.mapspace import Mapspace, every_chain
from ruby_map.mapper.model.cost import evaluate, validity
from ruby_map.mapper.model.recount import recount
from ruby_map.mapper.problem import OBJECTIVES
from ruby_map.mapper.problem.charges import Charges
from ruby_map.mapper.problem.effort import Effort
from ruby_map.mapper.proof.best_orders import best_orders
from ruby_map.mapper.proof.branch_and_bound import Branching
from ruby_map.mapper.proof.chain_groups import rows_of
from ruby_map.mapper.runtime import InternalError
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.outcome.ended import Ended
from ruby_map.workloads import load_workload

from ..conftest import DEEP
from ..model.test_cost import matmul
from ..searches import a_poor_beginning, lower_bound, optimal, search
from ..small_problems import (
    MOST,
    check_best_of_all,
    combinations_of,
    constrained_problems,
    cost_options,
    figures,
    problems,
    slow_layers,
    small_machines,
)
from ..strategies import convolutions, matmuls

MANY = settings(max_examples=500 if DEEP else 20)
AGAIN = RankWords.again


@pytest.fixture(autouse=True, scope="module")
def hardly_any_first_look():
    """A poor first best: branch and bound must find the optimum itself."""
    with a_poor_beginning():
        yield


def check_against_every_mapping(space, table, objective, costs, seed=0):
    """The search finds the least value over all mappings, proves it, and its mapping is one of the mapspace."""
    options = SearchOptions(strategy="random", objective=objective, seed=seed)
    check_best_of_all(optimal(space, table, options, costs), space, table, objective, costs)


@MANY
@given(problems())
def test_equals_the_best_of_every_mapping(problem):
    """On small machines with free choices of what is kept."""
    check_against_every_mapping(*problem)


@settings(max_examples=5_000 if DEEP else 15)
@given(constrained_problems(), st.integers(0, 99))
def test_equals_the_best_of_every_mapping_under_constraints(problem, seed):
    """With every kind of constraint, chains that are pinned and figures of one tensor alone."""
    check_against_every_mapping(*problem, seed)


def pinned(free):
    """A product whose chains are pinned at `free` levels that may keep what they like, as a file may say it."""
    none = LoopConstraint(dims=())
    levels = [Storage("DRAM", "DRAM", temporal=none)]
    levels += [Storage(f"b{i}", "SRAM", temporal=none) for i in range(1, free)]
    levels.append(Storage("last", "SRAM"))
    arch = Architecture("pinned", tuple(levels), Compute("MAC", "intmac"))
    pj = [(5.0, 5.0, 5.0), *((3.0 - i, 2.0 - i, 3.0 - i) for i in range(free - 1)), (1.0, 2.0, 1.0)]
    figures = tuple(
        LevelEnergy(level.name, *each, 0.0, 1.0, "given") for level, each in zip(arch.levels, pj, strict=True)
    )
    table = EnergyTable("pinned", figures, ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given"))
    return Mapspace(arch, matmul(8, 8, 8), "ruby-s", distinct=True), table


@pytest.mark.parametrize("free", [1, 2])
def test_where_all_chains_are_pinned(free):
    """A root of the branch and bound that is a single combination is evaluated, not passed over."""
    space, table = pinned(free)
    for seed in range(3):
        check_against_every_mapping(space, table, "edp", Charges(), seed)


def test_combinations_that_get_lost_are_noticed(monkeypatch):
    """Where single combinations leave the search unseen, the numbers do not add up, and nothing is certified."""
    space, table = pinned(1)
    proven = optimal(space, table, SearchOptions(strategy="random"))
    first = space[0]  # so that a wrong proof would be wrong

    def lossy(self, nodes, *more, real=Branching._opened):
        return real(self, nodes[~self.forest.single(nodes)], *(more[0][~self.forest.single(nodes)], *more[1:]))

    monkeypatch.setattr(Branching, "_opened", lossy)
    found = lower_bound(space, table, SearchOptions(strategy="random", bound=60.0), first)
    assert found.statistics.stopped_by == Ended.UNCOUNTED
    assert not found.optimal
    assert found.lower_bound <= proven.lower_bound
    assert found.coverage.total < combinations_of(space) or found.coverage.open


@settings(max_examples=500 if DEEP else 10)
@given(st.data())
def test_bound_is_below_every_mapping(data):
    """Whatever the loop orders, no mapping is below the bound of its chains; valid ones count as possible."""
    arch = data.draw(small_machines())
    space = Mapspace(
        arch, data.draw(st.one_of(matmuls(12), convolutions(7))), data.draw(st.sampled_from(["ruby", "pfm"]))
    )
    table, costs = data.draw(figures(arch)), data.draw(cost_options((0.0,)))
    batch = space.sample(np.random.default_rng(data.draw(st.integers(0, 2**32))), 30)
    tables = tuple(every_chain(chains) for chains in space.chains)
    groups = [DimGroup(arch, space.workload, tables, dims) for dims in grouped(space.workload) or [(0,)]]
    kept: dict[bytes, Relaxation] = {}
    for one in map(batch.take, np.arange(len(batch))[:, None]):
        if one.keep.tobytes() not in kept:
            kept[one.keep.tobytes()] = Relaxation(groups, table, one.keep[0], costs)
        relaxed = kept[one.keep.tobytes()]
        bound = relaxed.bound(at(relaxed, rows_of(groups, one)), 1)
        found = evaluate(one, table, costs, recount(one))
        assert bound.cycles[0] <= found.cycles[0] * (1 + 1e-12)
        assert bound.energy_pj[0] <= found.energy_pj[0] * (1 + 1e-12)
        assert bound.possible[0] or validity(one)[0] != 0


@settings(max_examples=500 if DEEP else 10)
@given(st.data())
def test_energy_and_cycles_are_bounded_together(data):
    """In sets of chains, where any level may be slow: no mapping has less of what grows with both."""
    space, table, costs, groups = data.draw(slow_layers((0.0,)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    batch, few = space.sample(rng, 30), data.draw(st.sampled_from([0, 1, 5]))
    for one in map(batch.take, np.flatnonzero(validity(batch) == 0)[:, None]):
        relaxed, own = Relaxation(groups, table, one.keep[0], costs), rows_of(groups, one)
        rows = [np.append(rng.integers(0, len(group), few), row) for group, row in zip(groups, own, strict=True)]
        bound = relaxed.bound(
            lambda g, column, at=relaxed.columns, rows=rows: at[g][column][rows[g]].min(keepdims=True), 1
        )
        found = evaluate(one, table, costs, recount(one))
        energy_pj, cycles = max(float(found.energy_pj[0]), 1e-6), float(found.cycles[0])
        for convert in (
            lambda pj, took: np.maximum(pj, 1e-6) * took,
            lambda pj, took, slope=energy_pj / cycles: pj + slope * took,
            lambda pj, took, energy_pj=energy_pj, cycles=cycles: np.maximum(pj / energy_pj, took / cycles),
        ):
            least = bound.value(convert(bound.energy_pj, bound.cycles), convert)
            assert least[0] <= convert(energy_pj, cycles) * (1 + 1e-9)


def at(relaxed, rows):
    """The columns of one combination of chains."""
    return lambda g, column: relaxed.columns[g][column][rows[g : g + 1]]


@MANY
@given(st.data())
def test_best_orders_are_those_of_all_permutations(data):
    """No permutation of the loops of any level beats the orders that the programme over subsets finds."""
    arch = data.draw(small_machines(bandwidths=False))
    space = Mapspace(arch, data.draw(st.one_of(matmuls(9), convolutions(5, two_windows=False))), "ruby", distinct=True)
    table, costs = data.draw(figures(arch)), data.draw(cost_options((0.0,)))
    choices = orders_by_level(space)
    assume(prod(map(len, choices)) <= MOST)
    one = space.sample(np.random.default_rng(data.draw(st.integers(0, 2**32))), 1)
    check_orders(space, table, choices, one, costs)


@pytest.mark.parametrize("front", ["M", "N", "K"])
def test_best_orders_behind_a_loop_in_front(front):
    """A loop that a constraint puts outermost decides what the loops behind it keep in place."""
    arch = load_arch("linear_16")
    dram = replace(arch.levels[0], temporal=LoopConstraint(outermost=(front,)))
    space = Mapspace(replace(arch, levels=(dram, *arch.levels[1:])), matmul(4, 4, 4), "ruby", distinct=True)
    batch = space.sample(np.random.default_rng(0), 30)
    for i in range(len(batch)):
        check_orders(space, energy_table(arch), orders_by_level(space), batch.take([i]))


def orders_by_level(space):
    """The loop orders that a mapspace allows at each level."""
    return [
        [(*level.outermost, *level.idle, *middle, *level.innermost) for middle in permutations(level.free)]
        for level in space.orders.levels
    ]


def check_orders(space, table, choices, one, costs=None):
    """The best orders of a mapping, by the programme over subsets, are as good as the best of all."""
    orders = np.array(list(product(*choices)), np.int8)
    best = best_orders(one, charges(space.arch, space.workload, table, one.keep[0], costs), space.orders.levels)
    found = evaluate(replace(one, order=best), table, costs).energy_pj[0]
    least = evaluate(replace(one.take([0] * len(orders)), order=orders), table, costs).energy_pj.min()
    assert found == pytest.approx(least, rel=1e-12)


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(lambda self, cuts: self.once(cuts), id="tiles that stay put are moved anew"),
        pytest.param(lambda self, cuts: 1.5 * AGAIN(self, cuts), id="half as much again is moved"),
    ],
)
def test_a_wrong_bound_is_noticed(monkeypatch, wrong):
    """With a bound that is too high the search stops short of the optimum, or finds a mapping below its bound."""
    arch, workload = load_arch("eyeriss_like"), load_workload("resnet50/conv5_x_1x1b")
    space, table = Mapspace(arch, workload, "pfm"), energy_table(arch)
    right = optimal(space, table, SearchOptions(strategy="random"))
    monkeypatch.setattr(RankWords, "again", wrong)
    try:
        found = optimal(space, table, SearchOptions(strategy="random"))
    except InternalError:
        return
    assert found.lower_bound > right.lower_bound * 1.001


@pytest.mark.parametrize("mapspace", ["pfm", "ruby-s"])
@pytest.mark.parametrize("objective", sorted(OBJECTIVES))
def test_never_above_random_search(mapspace, objective):
    """What random search finds on a real layer is never below the certified optimum."""
    arch, workload = load_arch("eyeriss_like"), load_workload("resnet50/conv5_x_1x1b")
    space, table = Mapspace(arch, workload, mapspace), energy_table(arch)
    proven = optimal(space, table, SearchOptions(strategy="random", objective=objective))
    assert proven.optimal
    for seed in range(3):
        found = search(space, table, SearchOptions(strategy="random", objective=objective, seed=seed, samples=20_000))
        value = OBJECTIVES[objective].of(evaluate(found.best, table))[0]
        assert proven.lower_bound <= value * (1 + 1e-9)


def test_stopped_early_it_says_what_is_proven():
    """Out of effort there is a best so far, a lower bound under the true optimum, and no certificate."""
    arch, workload = load_arch("linear_16"), load_workload("matmul_100")
    space, table = Mapspace(arch, workload, "ruby-s"), energy_table(arch)
    proven = optimal(space, table, SearchOptions(strategy="random"))
    early = optimal(space, table, SearchOptions(strategy="random", effort=Effort(2048, 200_000)))
    assert early.statistics.stopped_by == "effort"
    assert not early.optimal
    assert 0 < early.lower_bound <= proven.lower_bound <= evaluate(early.best, table).edp[0]


def test_interrupted_it_says_what_is_proven(monkeypatch):
    """Ctrl-C in the middle of the proof gives the best so far and a lower bound under the true optimum."""
    arch, workload = load_arch("linear_16"), load_workload("matmul_100")
    space, table = Mapspace(arch, workload, "ruby-s"), energy_table(arch)
    proven = optimal(space, table, SearchOptions(strategy="random"))
    steps = iter([None, None, KeyboardInterrupt()])

    def step(self, best, evaluate, real=Branching.step):
        if error := next(steps):
            raise error
        real(self, best, evaluate)

    monkeypatch.setattr(Branching, "step", step)
    monkeypatch.setattr("ruby_map.mapper.proof.branch_and_bound.OPENED", 4)
    early = optimal(space, table, SearchOptions(strategy="random"))
    assert early.statistics.interrupted
    assert not early.optimal
    assert 0 < early.lower_bound <= proven.lower_bound
