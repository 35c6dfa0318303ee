"""The exact front of energy and delay against every mapping of small mapspaces, and what is proven of it early."""

from collections import Counter
from dataclasses import replace
from itertools import cycle, islice

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage, load_arch
from ruby_map.energy import as_written, energy_table, stacked_table
from ruby_map.mapper.bounds import Geometric
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.model.cost import evaluate, validity
from ruby_map.mapper.model.recount import recount
from ruby_map.mapper.problem import OBJECTIVES, Charges, Goal, Problem
from ruby_map.mapper.proof import incumbents as aims
from ruby_map.mapper.proof import optimal as optimal_file
from ruby_map.mapper.proof.branch_and_bound import Branching
from ruby_map.mapper.proof.effort_used import EffortUsed
from ruby_map.mapper.proof.front_search import FrontSearch
from ruby_map.mapper.proof.incumbents import FrontIncumbents
from ruby_map.mapper.proof.initial_evolution import Evolver
from ruby_map.mapper.proof.leaves import LeafEvaluator
from ruby_map.mapper.report.front import exact_front
from ruby_map.mapper.runtime import InternalError
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.outcome import FrontProof, reach
from ruby_map.workloads import load_workload

from ..conftest import DEEP
from ..model.test_cost import matmul
from ..searches import a_poor_beginning, begin_poorly, optimal
from ..small_problems import cost_options, figures, problems

FRONT = ("energy", "delay")
OPTIONS = SearchOptions(strategy="optimal", front="energy,delay")


def points_of(space, table, costs):
    """Energy and cycles of every valid mapping, counted exactly. # (mapping, 2)"""
    found = []
    for batch in space.batches():
        valid = batch.take(np.flatnonzero(validity(batch) == 0))
        if len(valid):
            every = evaluate(valid, table, costs)
            for i, exact in enumerate(every.counts.exact.tolist()):
                one = valid.take([i])
                each = every if exact else evaluate(one, table, costs, recount(one))
                at = i if exact else 0
                found.append((each.energy_pj[at], each.cycles[at]))
    return np.array(found).reshape(-1, 2)


def front_of(points):
    """The points that no other beats, by cycles, those within rounding of another left out: by the definition."""
    kept = []
    for cycles, energy in sorted((c, e) for e, c in points.tolist()):
        if all(energy < other * (1 - 1e-9) for _, other in kept):
            kept.append((cycles, energy))
    return kept


def found_by(outcome, table, costs=None):
    """Cycles and energies of the front that a search found."""
    levels, workload = outcome.best.arch, outcome.best.workload
    arch, energies = as_written(levels, stacked_table(table, levels))
    front = exact_front(Problem(arch, workload, energies, costs or Charges(), Goal(front=FRONT)), outcome.front)
    return sorted((one.value("delay"), one.value("energy")) for one in front)


@pytest.fixture(autouse=True, scope="module")
def hardly_any_first_look():
    """A poor beginning: branch and bound must find the front itself."""
    with a_poor_beginning() as patch:
        patch.setattr("ruby_map.mapper.proof.front_search.DRAWN", 3)
        yield


@settings(max_examples=500 if DEEP else 10)
@given(problems())
def test_equals_the_front_of_every_mapping(problem):
    """The front is that of all mappings, is proven, and the best by the objective is on it."""
    space, table, objective, costs = problem
    outcome = optimal(space, table, SearchOptions(strategy="random", objective=objective, front="energy,delay"), costs)
    points = points_of(space, table, costs)
    if not len(points):
        assert outcome.best is None
        assert outcome.front == ()
        return
    expected = front_of(points)
    found = found_by(outcome, table, costs)
    assert [cycles for cycles, _ in found] == [cycles for cycles, _ in expected]
    assert [energy for _, energy in found] == pytest.approx([energy for _, energy in expected], rel=1e-8)
    assert outcome.optimal
    assert outcome.proof.corners == ()
    least = OBJECTIVES[objective].value(points[:, 0], points[:, 1]).min()
    assert outcome.lower_bound == pytest.approx(least, rel=1e-8)


@st.composite
def long_fronts(draw):
    """Where more elements of the array cost energy for the way to them: often ten mappings on the front or more."""
    axis = Axis("PE", draw(st.integers(5, 16)))
    inner = [
        Storage(f"L{i}", "SRAM", capacity_bits=16 * draw(st.integers(6, 40)),
                keep=frozenset(draw(st.sampled_from(["ABZ", "ABZ", "AB", ""]))),
                read_bandwidth=draw(st.sampled_from([None, 0.25, 1.0])))
        for i in range(1, draw(st.integers(2, 3)))
    ]  # fmt: skip
    arch = Architecture("long", (Storage("L0", "DRAM", fanout=(axis,)), *inner), Compute("MAC", "intmac"))
    workload = matmul(draw(st.integers(6, 20)), draw(st.integers(4, 16)), draw(st.integers(1, 3)))
    space = Mapspace(arch, workload, draw(st.sampled_from(["ruby", "ruby-s", "ruby-t"])), distinct=True)
    assume(500 < space.size.total <= (30_000 if DEEP else 4_000))
    return space, draw(figures(arch)), "edp", draw(cost_options((0.0, 5.0, 20.0, 100.0)))


@settings(max_examples=500 if DEEP else 8)
@given(long_fronts())
def test_a_front_of_many_mappings(problem):
    """The same where the front is long."""
    test_equals_the_front_of_every_mapping.hypothesis.inner_test(problem)


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(lambda *point: 1.3 * reach(*point), id="what is almost reached is passed over"),
        pytest.param(
            lambda *point: np.maximum(reach(*point), point[3] / point[1].min(initial=np.inf)), id="one axis is enough"
        ),
    ],
)
def test_a_wrong_pruning_rule_is_noticed(monkeypatch, wrong):
    """A rule that passes over too much loses points of the front."""
    arch, workload = load_arch("linear_16"), load_workload("matmul_100")
    space, table = Mapspace(arch, workload, "ruby-s"), energy_table(arch)
    right = found_by(optimal(space, table, OPTIONS), table)
    monkeypatch.setattr(aims, "reach", wrong)
    assert found_by(optimal(space, table, OPTIONS), table) != right


@given(
    st.lists(st.tuples(st.integers(1, 20), st.integers(0, 20)), min_size=1),
    st.lists(st.tuples(st.integers(1, 20), st.integers(0, 20)), min_size=1),
)
def test_reach_is_the_largest_factor_of_a_point_of_the_front(members, points):
    """The reach equals the definition, tried for each point of the front; a front keeps what no other beats."""
    front = FrontIncumbents((OBJECTIVES["edp"],))
    for cycles, energy in members:
        front.offer(None, float(energy), float(cycles))
    assert list(zip(front.cycles, front.energy_pj, strict=True)) == front_of(np.array([(e, c) for c, e in members]))
    for cycles, energy in points:
        factors = [min(cycles / c, energy / e if e else np.inf) for c, e in zip(front.cycles, front.energy_pj)]  # noqa: B905
        assert front.bound_value(np.array([float(energy)]), np.array([float(cycles)]))[0] == pytest.approx(max(factors))


@pytest.mark.parametrize("before", [[], [(10, 30), (20, 20), (30, 10)]])
@pytest.mark.parametrize("call", [1, 2])
def test_interrupted_while_a_point_is_taken(monkeypatch, before, call):
    """Ctrl-C while a front takes a point: its mappings, cycles and energies are those of one front."""
    front, calls, insert = FrontIncumbents((OBJECTIVES["edp"],)), Counter(), np.insert
    for cycles, energy in before:
        front.offer((cycles, energy), float(energy), float(cycles))

    def interrupted(*arguments):
        calls["insert"] += 1
        if calls["insert"] == call:
            raise KeyboardInterrupt
        return insert(*arguments)

    monkeypatch.setattr(np, "insert", interrupted)
    with pytest.raises(KeyboardInterrupt):
        front.offer((5, 40), 40.0, 5.0)
    assert list(front.batches) == list(zip(front.cycles, front.energy_pj, strict=True)) == before
    assert front.least == min((cycles * energy for cycles, energy in before), default=np.inf)
    assert (front.best is None) == (not before)


def test_stopped_early_it_says_what_is_proven(monkeypatch):
    """After a few steps no point of the true front is below the bounds given, nor farther off than the gap."""
    arch, workload = load_arch("linear_16"), load_workload("matmul_100")
    space, table = Mapspace(arch, workload, "ruby"), energy_table(arch)
    true = found_by(optimal(space, table, OPTIONS), table)
    monkeypatch.setattr("ruby_map.mapper.proof.branch_and_bound.OPENED", 64)
    begin_poorly(monkeypatch)
    monkeypatch.setattr("ruby_map.mapper.proof.front_search.EXCHANGED", 1)
    for steps in (1, 50, 150, 280, 310):
        calls = iter(range(steps))
        with monkeypatch.context() as patch:
            patch.setattr(optimal_file.Optimal, "_tell", lambda self, *_, calls=calls, **__: _interrupt(calls) or 0.0)
            early = optimal(space, table, OPTIONS)
        assert early.statistics.interrupted
        front = np.array(found_by(early, table))
        gap = early.proof.gap(front[:, 1], front[:, 0])
        assert 0 < gap <= 1
        for cycles, energy in true:
            seen = front[front[:, 0] <= cycles, 1].min(initial=np.inf)
            assert min(early.proof.energy_pj(cycles), seen) <= energy * (1 + 1e-9)
            assert reach(front[:, 1], front[:, 0], np.array([energy]), np.array([cycles]))[0] >= (1 - gap) * (1 - 1e-9)


def free_energy(preset="ruby", **given):
    """A mapspace on a machine with these bandwidths, and energies of 0."""
    arch, workload = load_arch("linear_16"), load_workload("matmul_100")
    arch = replace(arch, levels=tuple(replace(level, **given) for level in arch.levels))
    table, free = energy_table(arch), {"read_pj": 0.0, "write_pj": 0.0, "update_pj": 0.0}
    levels = tuple(replace(level, **free) for level in table.levels)
    return Mapspace(arch, workload, preset), replace(
        table, levels=levels, compute=replace(table.compute, compute_pj=0.0)
    )


@pytest.mark.filterwarnings("error")
def test_stopped_early_where_nothing_costs_energy(monkeypatch):
    """The front is the fastest mapping; what is open is above a corner, and no number is lost on the way."""
    (space, table), calls = free_energy(), iter(range(5))
    begin_poorly(monkeypatch)
    monkeypatch.setattr("ruby_map.mapper.proof.branch_and_bound.OPENED", 2)
    monkeypatch.setattr(Branching, "dive", lambda *_: None)
    monkeypatch.setattr(FrontSearch, "start", lambda *_: None)
    monkeypatch.setattr(optimal_file.Optimal, "_tell", lambda *_, **__: _interrupt(calls) or 0.0)
    early = optimal(space, table, OPTIONS)
    assert early.statistics.interrupted
    ((cycles, energy),) = found_by(early, table)
    assert energy == early.lower_bound == 0
    fastest = optimal(space, table, replace(OPTIONS, front="", objective="delay")).lower_bound
    assert early.proof.corners[0][0] <= fastest < cycles


def test_time_is_up_at_the_first_mapping_where_nothing_costs_energy(monkeypatch):
    """No node is lost before there is a mapping; with orders of its chains open, the front is not certified."""
    (space, table), ends, settle = free_energy(read_bandwidth=0.05), [False], LeafEvaluator._settle
    monkeypatch.setattr(Evolver, "quiet", True)
    monkeypatch.setattr(Evolver, "settled", True)
    monkeypatch.setattr(FrontSearch, "start", lambda *_: None)

    def late(self, *given):
        ends[0] = True
        settle(self, *given)

    monkeypatch.setattr(LeafEvaluator, "_settle", late)
    monkeypatch.setattr(EffortUsed, "late", lambda _: ends[0])
    found = optimal(space, table, OPTIONS)
    ((cycles, energy),) = found_by(found, table)
    assert energy == 0
    assert found.proof.gap(np.array([energy]), np.array([cycles])) > 0


def _interrupt(calls):
    if next(calls, None) is None:
        raise KeyboardInterrupt


def test_corners_above_others_are_left_out():
    """A proof keeps the corners that no other is below, by cycles; each bounds what has as many cycles or more."""
    proof = FrontProof.of([(3.0, 1.0), (1.0, 5.0), (2.0, 5.0), (2.0, 4.0)])
    assert proof.corners == ((1.0, 5.0), (2.0, 4.0), (3.0, 1.0))
    assert [proof.energy_pj(cycles) for cycles in (0.5, 1.0, 2.5, 9.0)] == [np.inf, 5.0, 4.0, 1.0]
    assert proof.gap(np.array([5.0, 2.0]), np.array([1.0, 4.0])) == pytest.approx(0.5)  # 1 pJ in 3 cycles is half of 2


@settings(max_examples=1_000 if DEEP else 100)
@given(
    st.lists(st.tuples(st.integers(1, 20), st.integers(0, 20)), min_size=1, max_size=8),
    st.tuples(st.floats(1, 30), st.floats(0, 30)),
    st.lists(st.floats(0.1, 1), min_size=7, max_size=12),
)
def test_products_reach_no_farther_than_a_point_above_them(members, point, shares):
    """Bounds of a point, and of its products, never say that it is farther from the front than it is."""
    front = FrontIncumbents((OBJECTIVES["edp"],))
    for cycles, energy in members:
        front.offer(None, float(energy), float(cycles))
    cycles, energy = point
    powers = islice(cycle(front.weighed), len(shares) - 2)
    products = [np.array([share * energy**p * cycles**q]) for share, (p, q) in zip(shares[2:], powers, strict=True)]
    own = reach(front.energy_pj, front.cycles, np.array([energy]), np.array([cycles]))[0]
    below = front.bound_value(np.array([shares[0] * energy]), np.array([shares[1] * cycles]), products)[0]
    assert below <= own * (1 + 1e-9) + 1e-12
    assert below >= front.bound_value(np.array([shares[0] * energy]), np.array([shares[1] * cycles]))[0]
    exact = [products[i] / shares[2 + i] for i in range(len(products))]
    if energy and own < 1:  # with all that there is to know of a point within reach, its reach is known
        assert front.bound_value(np.zeros(1), np.ones(1), exact)[0] == pytest.approx(own)


def test_a_product_that_is_too_high_is_noticed(monkeypatch):
    """It passes over points of the front."""
    arch, workload = load_arch("linear_16"), load_workload("matmul_100")
    space, table = Mapspace(arch, workload, "ruby-s"), energy_table(arch)
    right = found_by(optimal(space, table, OPTIONS), table)
    real = Geometric.factors

    def too_high(self, rows, enough):
        found = real(self, rows, enough)
        return replace(found, least=2 * found.least)

    monkeypatch.setattr(Geometric, "factors", too_high)
    try:
        wrong = found_by(optimal(space, table, OPTIONS), table)
    except InternalError:
        return
    assert wrong != right
