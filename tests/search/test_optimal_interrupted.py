"""Ctrl-C and the end of time in the middle of a step of the proof: nothing is lost, nothing is claimed too much."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.mapper.problem.charges import Charges
from ruby_map.mapper.proof import optimal as optimal_file
from ruby_map.mapper.proof import slow_orders
from ruby_map.mapper.proof.leaves import LeafEvaluator
from ruby_map.mapper.search import Observers, Task
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.outcome.ended import Ended

from ..conftest import DEEP
from ..searches import a_poor_beginning, begin_poorly, optimal
from ..small_problems import best_of_all, combinations_of, constrained_problems
from .test_bandwidth import two_instances


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


@settings(max_examples=2_000 if DEEP else 10)
@given(constrained_problems(), st.integers(0, 6), st.booleans(), st.sampled_from(["", "energy,delay"]))
def test_within_a_step(problem, call, late, front):
    """Every combination is still accounted for, the bound is below the least of all mappings, and the proof goes on
    from there to the optimum."""
    space, table, objective, costs = problem
    options, kept = SearchOptions(strategy="random", objective=objective, front=front), KeepChoice()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LeafEvaluator, "see", interrupted(call, late))
        begin_poorly(patch)
        patch.setattr("ruby_map.mapper.proof.branch_and_bound.OPENED", 4)
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
def slow():
    """A window on slow instances, whose orders have to be searched, and the proof that does."""
    space, table = two_instances()
    options = SearchOptions(strategy="random", objective="delay", time_limit=1e9)
    return space, table, optimal_file.Optimal(Task.of(space, table, options, Charges()), Observers())


@pytest.mark.parametrize("calls", [1, 3, 7])
def test_time_up_while_orders_are_searched(slow, calls):
    """The search for orders stops at once when time is up, and the chains count as open."""
    space, table, work = slow
    proven = optimal(space, table, SearchOptions(strategy="random", objective="delay"))
    asked = []

    def late():
        asked.append(1)
        if len(asked) < calls:
            return False
        work.statistics.stop(Ended.TIME_LIMIT)
        return True

    work.leaves.late = late
    found = work.run()
    assert len(asked) >= calls
    assert found.statistics.stopped_by == "time limit"
    assert not found.optimal
    assert found.lower_bound <= proven.lower_bound


def test_more_orders_than_are_searched_leave_chains_open(slow, monkeypatch):
    """Their bound limits what is claimed."""
    space, table, work = slow
    monkeypatch.setattr(slow_orders, "MOST_LOOPS", -1)
    proven = optimal(space, table, SearchOptions(strategy="random", objective="delay"))
    assert proven.statistics.stopped_by == Ended.LEFT_OPEN
    monkeypatch.undo()
    found = work.run()
    assert found.optimal
    assert proven.lower_bound <= found.lower_bound
