"""The certified optimum against every mapping of small mapspaces, and its bound against the mappings it bounds."""

from dataclasses import replace
from itertools import permutations, product
from math import prod

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, LoopConstraint, Storage, load_arch
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy, energy_table
from ruby_map.mapper import optimal as optimal_file
from ruby_map.mapper.best_order import best_orders
from ruby_map.mapper.branch import Branching, combination
from ruby_map.mapper.cost import CostOptions, evaluate, validity
from ruby_map.mapper.flows import charges
from ruby_map.mapper.groups import Group, RankWords, grouped
from ruby_map.mapper.mapspace import Mapspace, every_chain
from ruby_map.mapper.optimal import optimal
from ruby_map.mapper.options import SearchOptions
from ruby_map.mapper.recount import recount
from ruby_map.mapper.relax import Relaxation
from ruby_map.mapper.sanity import InternalError
from ruby_map.mapper.score import OBJECTIVES
from ruby_map.mapper.search import search
from ruby_map.workloads import InputError, load_workload

from .conftest import DEEP
from .strategies import convolutions, matmuls

MOST = 2_000  # mappings of a mapspace visited one by one
MANY = settings(max_examples=500 if DEEP else 40)
AGAIN = RankWords.again


@st.composite
def small_machines(draw, bandwidths=True):
    """Two or three levels with little room, an axis or two, constraints and free choices of what is kept."""
    n = draw(st.integers(2, 3))
    levels = []
    for i in range(n):
        axes = tuple(Axis(f"a{i}{j}", draw(st.integers(2, 5))) for j in range(draw(st.integers(0, 2 if i == 0 else 1))))
        keep = draw(st.sampled_from([(), (), ("A", "Inputs"), ("Z", "Outputs", "B", "Weights")])) if i else ()
        loops = LoopConstraint(
            innermost=draw(st.sampled_from([(), (), ("K",), ("P", "C")])),
            dims=draw(st.sampled_from([None, None, ("M", "K", "P", "C")])) if i else None,
            max_loops=draw(st.sampled_from([None, None, 2])) if i else None,
        )
        levels.append(Storage(
            f"L{i}", "SRAM", fanout=axes, keep=frozenset(keep), temporal=loops,
            capacity_bits=16 * draw(st.integers(3, 40)) if i else None,
            read_bandwidth=draw(st.sampled_from([None, None, None, 1.0])) if bandwidths else None,
        ))  # fmt: skip
        if draw(st.booleans()) and i:
            levels[i] = replace(levels[i], keep=frozenset("ABZ") | {"Inputs", "Outputs", "Weights"})
    return Architecture("small", tuple(levels), Compute("MAC", "intmac"))


@st.composite
def figures(draw, arch):
    """Energies of any proportions, zero now and then."""
    pj = st.sampled_from([0.0, 0.5, 1.0, 3.0, 10.0, 200.0])
    levels = tuple(
        LevelEnergy(level.name, draw(pj), draw(pj), draw(pj), draw(st.sampled_from([0.0, 0.1])), 1.0, "given")
        for level in arch.levels
    )
    return EnergyTable(arch.name, levels, ComputeEnergy("MAC", draw(pj), 0.0, 1.0, "given"))


@st.composite
def problems(draw):
    """A mapspace small enough to visit, energies, an objective, and whether leakage and wires count."""
    workload = draw(st.one_of(matmuls(5), convolutions(4, two_windows=False)))
    arch = draw(small_machines())
    try:
        space = Mapspace(arch, workload, draw(st.sampled_from(["pfm", "ruby-s", "ruby-t", "ruby"])), distinct=True)
    except InputError:
        assume(False)
    assume(space.size.total <= MOST)
    costs = CostOptions(leakage=draw(st.booleans()), hop_pj=draw(st.sampled_from([0.0, 0.0, 0.0, 2.0])))
    return space, draw(figures(arch)), draw(st.sampled_from(sorted(OBJECTIVES))), costs


def values_of(batch, table, objective, costs):
    """The objective of each mapping, counted exactly; inf where invalid."""
    values = np.full(len(batch), np.inf)
    valid = np.flatnonzero(validity(batch) == 0)
    if len(valid):
        found = evaluate(batch.take(valid), table, costs)
        values[valid] = OBJECTIVES[objective](found)
        for i in valid[~found.counts.exact]:
            one = batch.take([i])
            values[i] = OBJECTIVES[objective](evaluate(one, table, costs, recount(one)))[0]
    return values


def best_of_all(space, table, objective, costs):
    """The least objective of all mappings, and of how many it is the value."""
    values = np.concatenate([values_of(batch, table, objective, costs) for batch in space.batches()])
    return values.min()


@pytest.fixture(autouse=True, scope="module")
def hardly_any_first_look():
    """A poor first best: branch and bound must find the optimum itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optimal_file, "FIRST_LOOK", 3)
        yield


@MANY
@given(problems())
def test_equals_the_best_of_every_mapping(problem):
    """The search finds the least value over all mappings, proves it, and its mapping is one of the mapspace."""
    space, table, objective, costs = problem
    outcome = optimal(space, table, SearchOptions(objective=objective), costs)
    least = best_of_all(space, table, objective, costs)
    if np.isinf(least):
        assert outcome.best is None
        assert not outcome.optimal
        return
    assert outcome.optimal
    assert outcome.lower_bound == pytest.approx(least, rel=1e-8)
    assert values_of(outcome.best, table, objective, costs)[0] == pytest.approx(least, rel=1e-8)
    assert 0 <= space.index(outcome.best)[0] < space.size.total


@settings(max_examples=500 if DEEP else 20)
@given(st.data())
def test_bound_is_below_every_mapping(data):
    """Whatever the loop orders, no mapping is below the bound of its chains; valid ones count as possible."""
    arch = data.draw(small_machines())
    space = Mapspace(
        arch, data.draw(st.one_of(matmuls(12), convolutions(7))), data.draw(st.sampled_from(["ruby", "pfm"]))
    )
    table, costs = data.draw(figures(arch)), CostOptions(data.draw(st.booleans()))
    batch = space.sample(np.random.default_rng(data.draw(st.integers(0, 2**32))), 30)
    tables = tuple(every_chain(chains) for chains in space.chains)
    groups = [Group(arch, space.workload, tables, dims) for dims in grouped(space.workload) or [(0,)]]
    kept: dict[bytes, Relaxation] = {}
    for one in map(batch.take, np.arange(len(batch))[:, None]):
        if one.keep.tobytes() not in kept:
            kept[one.keep.tobytes()] = Relaxation(groups, table, one.keep[0], costs.leakage)
        relaxed = kept[one.keep.tobytes()]
        bound = relaxed.bound(at(relaxed, combination(groups, one.factors[0])), 1)
        found = evaluate(one, table, costs, recount(one))
        assert bound.cycles[0] <= found.cycles[0] * (1 + 1e-12)
        assert bound.energy_pj[0] <= found.energy_pj[0] * (1 + 1e-12)
        assert bound.possible[0] or validity(one)[0] != 0


def at(relaxed, rows):
    """The columns of one combination of chains."""
    return lambda g, column: relaxed.columns[g][column][rows[g : g + 1]]


@MANY
@given(st.data())
def test_best_orders_are_those_of_all_permutations(data):
    """No permutation of the loops of any level beats the orders that the programme over subsets finds."""
    arch = data.draw(small_machines(bandwidths=False))
    space = Mapspace(arch, data.draw(st.one_of(matmuls(9), convolutions(5, two_windows=False))), "ruby", distinct=True)
    table = data.draw(figures(arch))
    one = space.sample(np.random.default_rng(data.draw(st.integers(0, 2**32))), 1)
    orders = best_orders(one, charges(arch, space.workload, table, one.keep[0]), space.orders.levels)
    got = evaluate(replace(one, order=orders), table).energy_pj[0]
    choices = [
        [(*level.outermost, *level.idle, *middle, *level.innermost) for middle in permutations(level.free)]
        for level in space.orders.levels
    ]
    assume(prod(map(len, choices)) <= MOST)
    every = np.array(list(product(*choices)), np.int8)
    least = evaluate(replace(one.take([0] * len(every)), order=every), table).energy_pj.min()
    assert got == pytest.approx(least, rel=1e-12)


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
    right = optimal(space, table, SearchOptions())
    monkeypatch.setattr(RankWords, "again", wrong)
    try:
        found = optimal(space, table, SearchOptions())
    except InternalError:
        return
    assert found.lower_bound > right.lower_bound * 1.001


@pytest.mark.parametrize("mapspace", ["pfm", "ruby-s"])
@pytest.mark.parametrize("objective", sorted(OBJECTIVES))
def test_never_above_random_search(mapspace, objective):
    """What random search finds on a real layer is never below the certified optimum."""
    arch, workload = load_arch("eyeriss_like"), load_workload("resnet50/conv5_x_1x1b")
    space, table = Mapspace(arch, workload, mapspace), energy_table(arch)
    proven = optimal(space, table, SearchOptions(objective=objective))
    assert proven.optimal
    for seed in range(3):
        found = search(space, table, SearchOptions(objective=objective, seed=seed, samples=20_000))
        value = OBJECTIVES[objective](evaluate(found.best, table))[0]
        assert proven.lower_bound <= value * (1 + 1e-9)


def test_stopped_early_it_says_what_is_proven():
    """Out of time there is a best so far, a lower bound under the true optimum, and no certificate."""
    arch, workload = load_arch("linear_16"), load_workload("matmul_100")
    space, table = Mapspace(arch, workload, "ruby-s"), energy_table(arch)
    proven = optimal(space, table, SearchOptions())
    early = optimal(space, table, SearchOptions(time_limit=0.01))
    assert early.statistics.stopped_by == "time limit"
    assert not early.optimal
    assert 0 < early.lower_bound <= proven.lower_bound <= evaluate(early.best, table).edp[0]


def test_interrupted_it_says_what_is_proven(monkeypatch):
    """Ctrl-C in the middle of the proof gives the best so far and a lower bound under the true optimum."""
    arch, workload = load_arch("linear_16"), load_workload("matmul_100")
    space, table = Mapspace(arch, workload, "ruby-s"), energy_table(arch)
    proven = optimal(space, table, SearchOptions())
    steps = iter([None, None, KeyboardInterrupt()])

    def step(self, best, evaluate, real=Branching.step):
        if error := next(steps):
            raise error
        real(self, best, evaluate)

    monkeypatch.setattr(Branching, "step", step)
    monkeypatch.setattr("ruby_map.mapper.branch.OPENED", 4)
    early = optimal(space, table, SearchOptions())
    assert early.statistics.interrupted
    assert not early.optimal
    assert 0 < early.lower_bound <= proven.lower_bound
