"""Ctrl-C and the end of time in the middle of a step of the proof: nothing is lost, nothing is claimed too much."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.model.cost import CostOptions
from ruby_map.mapper.search import Task, Watch
from ruby_map.mapper.search.ended import Ended
from ruby_map.mapper.search.optimal import leaves as combinations
from ruby_map.mapper.search.optimal import optimal as optimal_file
from ruby_map.mapper.search.optimal.leaves import LeafEvaluator
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.workloads import load_workload

from ..conftest import DEEP
from ..searches import a_poor_beginning, begin_poorly, optimal
from ..small_problems import best_of_all, constrained_problems
from .test_optimal import combinations_of


class KeepChoice:
    """A part of a checkpoint in memory: what is saved goes through JSON, as on disk."""

    final = False

    def __init__(self):
        self.state = None

    def load(self):
        return json.loads(self.state) if self.state else None

    def save(self, state):
        self.state = json.dumps(state)

    def offer(self, state):
        self.save(state())


def interrupted(call, late):
    """Ctrl-C at a call of what evaluates combinations within a step, before or after it did."""
    calls = iter(range(call))

    def see(self, *arguments, real=LeafEvaluator.see):
        if next(calls, None) is not None:
            return real(self, *arguments)
        if late:
            real(self, *arguments)
        raise KeyboardInterrupt

    return see


@settings(max_examples=2_000 if DEEP else 20)
@given(constrained_problems(), st.integers(0, 6), st.booleans(), st.sampled_from(["", "energy,delay"]))
def test_within_a_step(problem, call, late, front):
    """Every combination is still accounted for, the bound is below the least of all mappings, and the proof goes on
    from there to the optimum."""
    space, table, objective, costs = problem
    options, kept = SearchOptions(strategy="random", objective=objective, front=front), KeepChoice()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LeafEvaluator, "see", interrupted(call, late))
        begin_poorly(patch)
        patch.setattr("ruby_map.mapper.search.optimal.branch_and_bound.OPENED", 4)
        early = optimal(space, table, options, costs, part=kept)
    least = best_of_all(space, table, objective, costs)
    assert early.statistics.stopped_by in ("interrupted", Ended.SEEN_ALL)
    assert early.coverage.total == combinations_of(space)
    if early.best is not None:
        assert early.lower_bound <= least * (1 + 1e-9)
    if early.statistics.interrupted:
        assert early.coverage.open
        assert not early.optimal or early.lower_bound >= least * (1 - 1e-9)
    with a_poor_beginning():
        resumed = optimal(space, table, options, costs, part=kept)
    if np.isinf(least):
        assert resumed.best is None
    else:
        assert resumed.optimal
        assert resumed.lower_bound == pytest.approx(least, rel=1e-8)


@pytest.fixture
def wired():
    """A layer with wires, where every order of the best chains has to be tried, and the proof that does."""
    arch, layer = load_arch("linear_16"), replace(load_workload("matmul_100"), sizes=(6, 5, 4))
    space, table = Mapspace(arch, layer, "pfm"), energy_table(arch)
    work = optimal_file.Optimal(
        Task(space, table, SearchOptions(strategy="random", time_limit=1e9), CostOptions(hop_pj=1000.0)), Watch()
    )
    return space, table, work


def test_time_up_while_orders_are_counted_exactly(wired, monkeypatch):
    """Orders that are recounted one by one stop soon after time is up, and the chains count as open."""
    space, table, work = wired
    proven = optimal(space, table, SearchOptions(strategy="random"), CostOptions(hop_pj=1000.0))
    offered, real = [], LeafEvaluator.offer
    monkeypatch.setattr(LeafEvaluator, "offer", lambda self, batch: offered.append(1) or real(self, batch))
    monkeypatch.setattr(combinations, "evaluate", inexact(combinations.evaluate))

    def late():
        if len(offered) < 30:
            return False
        work.statistics.stop(Ended.TIME_LIMIT)
        return True

    work.leaves.late = late
    found = work.run()
    assert len(offered) <= 31
    assert found.statistics.stopped_by == "time limit"
    assert not found.optimal
    assert found.lower_bound <= proven.lower_bound


def inexact(real):
    """Costs whose counts are flagged, as far as whoever asks can tell."""

    def evaluate(batch, *more):
        costs = real(batch, *more)
        if len(batch) < 2:
            return costs
        counts = SimpleNamespace(exact=np.zeros(len(batch), bool), cycles=costs.counts.cycles)
        return replace(costs, counts=counts)

    return evaluate


def test_more_orders_than_are_tried_leave_chains_open(wired, monkeypatch):
    """Their bound limits what is claimed."""
    space, table, work = wired
    monkeypatch.setattr(combinations, "MOST_ORDERS", 1)
    proven = optimal(space, table, SearchOptions(strategy="random"), CostOptions(hop_pj=1000.0))
    assert proven.statistics.stopped_by == Ended.LEFT_OPEN
    monkeypatch.undo()
    found = work.run()
    assert found.optimal
    assert proven.lower_bound <= found.lower_bound
