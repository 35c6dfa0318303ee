"""Loop orders under bandwidths: of all orders of some chains, those found are the best, and cost what they should."""

from dataclasses import replace
from itertools import permutations, product
from math import prod

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.mapper.bounds import charges
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model import evaluate, recount
from ruby_map.mapper.problem import Charges
from ruby_map.mapper.problem.objectives import OBJECTIVES
from ruby_map.mapper.proof import slow_orders
from ruby_map.mapper.proof.slow_orders import SlowOrders, TooManyOrders
from ruby_map.workloads import InputError, shaped

from ..conftest import DEEP
from ..small_problems import constrained_machines, cost_options, figures, slow
from ..strategies import convolutions, matmuls
from .test_bandwidth import array

MOST = 150 if DEEP else 60  # orders compared one by one


@st.composite
def mappings_on_slow_machines(draw):
    """A mapping of a few loops on a machine whose every level may be slow: (mapspace, energies, costs, mapping)."""
    workload = draw(st.one_of(matmuls(7), convolutions(6, two_windows=False)))
    arch = draw(constrained_machines())
    rate = st.sampled_from([None, 0.1, 0.3, 0.7, 1.0, 2.5])
    levels = tuple(
        replace(
            slow(draw, each, rate),
            fanout=tuple(replace(axis, mesh=draw(st.sampled_from("XY"))) for axis in each.fanout),
        )
        for each in arch.levels
    )
    arch = replace(arch, levels=levels)
    try:
        space = Mapspace(arch, workload, draw(st.sampled_from(["ruby", "ruby-s", "pfm"])), distinct=True)
    except InputError:
        assume(False)
    costs = draw(cost_options((0.0, 0.0, 3.0)))
    batch = space.sample(np.random.default_rng(draw(st.integers(0, 2**32))), 1)
    return space, draw(figures(arch)), costs, batch


def every_order(space, mapping):
    """The mapping in every loop order, one per row."""
    choices = [
        [(*level.outermost, *level.idle, *middle, *level.innermost) for middle in permutations(level.free)]
        for level in space.orders.levels
    ]
    assume(1 < prod(map(len, choices)) <= MOST)
    return [replace(mapping, order=np.array([orders], np.int8)) for orders in product(*choices)]


def searched(space, table, costs, mapping, useful=None, least_cycles=0.0):
    """The orders that the search finds."""
    exact = evaluate(mapping, table, costs, recount(mapping))
    charged = charges(space.arch, space.workload, table, mapping.keep[0], costs)
    leak = costs.leak_pj_per_cycle(space.arch, table)
    search = SlowOrders(mapping, exact, charged, space.orders.levels, leak)
    every = useful or (lambda energy_pj, cycles: np.ones(len(cycles), bool))
    return search.useful(every, least_cycles, lambda: False)


@settings(max_examples=3_000 if DEEP else 15)
@given(mappings_on_slow_machines())
def test_every_order_is_covered(problem):
    """No order is better in energy or cycles than all that are found; these cost what the search says."""
    space, table, costs, mapping = problem
    exact = [evaluate(one, table, costs, recount(one)) for one in every_order(space, mapping)]
    found = searched(*problem)
    assert len(found.cycles)
    for orders, energy_pj, cycles in zip(found.orders, found.energy_pj, found.cycles, strict=True):
        one = replace(mapping, order=orders[None])
        mine = evaluate(one, table, costs, recount(one))
        assert energy_pj == pytest.approx(float(mine.energy_pj[0]), rel=1e-9, abs=1e-9)
        assert cycles == mine.cycles[0]
    for each in exact:
        as_good = found.energy_pj <= float(each.energy_pj[0]) * (1 + 1e-9) + 1e-9
        assert (as_good & (found.cycles <= float(each.cycles[0]))).any()


@settings(max_examples=2_000 if DEEP else 15)
@given(mappings_on_slow_machines(), st.sampled_from(sorted(OBJECTIVES)), st.floats(1.0, 1.3))
def test_with_a_limit_the_least_is_found(problem, objective, above):
    """Orders that are of no use are dropped; the least of an objective below the limit is not."""
    space, table, costs, mapping = problem
    exact = [evaluate(one, table, costs, recount(one)) for one in every_order(space, mapping)]
    values = [float(OBJECTIVES[objective].of(each)[0]) for each in exact]
    compute = min(float(each.cycles[0]) for each in exact)
    limit = min(values) * above * (1 + 1e-6)
    assume(limit > 0)
    found = searched(*problem, lambda e, c: OBJECTIVES[objective].value(e, c) < limit, compute)
    assert OBJECTIVES[objective].value(found.energy_pj, found.cycles).min() == pytest.approx(min(values), rel=1e-9)


def test_too_many_orders_are_said_to_be_too_many(monkeypatch):
    """Beyond the limits nothing is found, rather than a part."""
    problem = next_problem()
    assert len(searched(*problem).cycles)
    for limit in ("MOST_POINTS", "MOST_PAIRS", "MOST_LOOPS"):
        with monkeypatch.context() as patch:
            patch.setattr(slow_orders, limit, 0)
            with pytest.raises(TooManyOrders):
                searched(*problem)


def next_problem(seed=1):
    """A product on two slow levels."""
    arch, table = array()
    space = Mapspace(arch, shaped("matmul", M=96, N=40, K=60), "ruby-s")
    return space, table, Charges(), space.sample(np.random.default_rng(seed), 1)


@pytest.mark.parametrize("column", [0, 1])
def test_a_wrong_sum_is_noticed(monkeypatch, column):
    """Points whose energy or words are wrong are not what the model counts."""
    real = slow_orders._Level.of

    def of(free, added):
        return real(free, added * np.where(np.arange(added.shape[2]) == column, 2.0, 1.0))

    def differs(problem):
        space, table, costs, mapping = problem
        found = searched(*problem)
        for orders, energy_pj, cycles in zip(found.orders, found.energy_pj, found.cycles, strict=True):
            one = replace(mapping, order=orders[None])
            exact = evaluate(one, table, costs, recount(one))
            if abs(energy_pj / float(exact.energy_pj[0]) - 1) > 1e-9 or cycles != exact.cycles[0]:
                return True
        return False

    problems = [next_problem(seed) for seed in range(10)]
    assert not any(map(differs, problems))
    monkeypatch.setattr(slow_orders._Level, "of", of)
    assert any(map(differs, problems))
