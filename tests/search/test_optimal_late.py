"""Time up, or Ctrl-C, in the middle of a long step of the proof: what is said then is proven."""

import sys
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.model.cost import evaluate
from ruby_map.mapper.problem import Effort
from ruby_map.mapper.problem.charges import Charges
from ruby_map.mapper.proof import optimal as optimal_file
from ruby_map.mapper.proof import slow_orders
from ruby_map.mapper.proof.effort_used import EffortUsed
from ruby_map.mapper.runtime.deadline import TimeUp
from ruby_map.mapper.search import Observers, Task
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.outcome.ended import Ended
from ruby_map.workloads import load_workload

from ..conftest import DEEP
from ..searches import begin_poorly, lower_bound, optimal
from ..small_problems import best_of_all, problems
from .test_bandwidth import two_instances

TABLES = {"Optimal._work", "Products.of", "_Increment.overlap"}  # before the mapspace as a whole is bounded
BRANCHING = {"Forest.check", "grow"}
ASCENT = {"Geometric._least", "Geometric._logs", "Ascent._look"}
STOPPED = {TimeUp: "time limit", KeyboardInterrupt: "interrupted"}


@pytest.fixture(scope="module")
def problem():
    """A small layer with windows, its certified optimum and the bound of its mapspace as a whole."""
    arch, layer = load_arch("eyeriss_like"), load_workload("resnet50/conv5_x_3x3")
    workload = replace(layer, sizes=tuple(min(size, 8) for size in layer.sizes))
    space, table = Mapspace(arch, workload, "pfm"), energy_table(arch)
    proven = optimal(space, table, SearchOptions(strategy="random"))
    assert proven.optimal
    return (
        space,
        table,
        proven,
        lower_bound(space, table, SearchOptions(strategy="random", bound=0.0), proven.best).lower_bound,
    )


def stop_in(monkeypatch, step=None, call=0, error=TimeUp):
    """Raise `error` at the call number `call` of the check in `step`; returns how often each step looks."""
    looks = Counter()

    def check(self, steps):
        here = sys._getframe(1).f_code.co_qualname
        looks[here] += 1
        if here == step and looks[here] == call:
            raise error

    monkeypatch.setattr(EffortUsed, "check", check)
    return looks


def test_in_the_middle_of_every_step(problem, monkeypatch):
    """Stopped at the first or the last look of each step, or by Ctrl-C between them: no certificate, a bound below the
    optimum; once the mapspace is bounded as a whole, no less than that bound."""
    space, table, proven, root = problem
    begin_poorly(monkeypatch)  # so that the proof has work to do
    looks = stop_in(monkeypatch)
    optimal(space, table, SearchOptions(strategy="random"))
    assert set(looks) == TABLES | ASCENT | BRANCHING
    for step, number in looks.items():
        for call, error in ((1, TimeUp), (number // 2 + 1, KeyboardInterrupt), (number, TimeUp)):
            stop_in(monkeypatch, step, call, error)
            early = optimal(space, table, SearchOptions(strategy="random"))
            assert early.statistics.stopped_by == STOPPED[error]
            assert not early.optimal
            assert 0 < early.lower_bound <= proven.lower_bound <= evaluate(early.best, table).edp[0]
            assert early.lower_bound < root or step not in TABLES
            assert early.lower_bound >= root or step not in BRANCHING


@settings(max_examples=300 if DEEP else 13)
@given(problems(), st.integers(1, 1500), st.sampled_from(list(STOPPED)))
def test_at_any_look(problem, call, error):
    """Whatever is kept and whenever time is up, the bound is not above the least of all mappings."""
    space, table, objective, costs = problem
    looks = iter(range(call))

    def check(self, steps):
        if next(looks, None) is None:
            raise error

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EffortUsed, "check", check)
        begin_poorly(patch)
        early = optimal(space, table, SearchOptions(strategy="random", objective=objective), costs)
    if early.best is not None:
        assert early.lower_bound <= best_of_all(space, table, objective, costs) * (1 + 1e-9)


@pytest.mark.parametrize("front", ["", "energy,delay"])
def test_a_limit_in_the_middle_of_the_tables_is_met(front):
    """With tables of 75,840 rows, that take several times as many, a million steps are exceeded by a tenth at most."""
    arch, workload = load_arch("simba_like"), load_workload("resnet50/conv2_x_3x3")
    early = optimal(
        Mapspace(arch, workload, "ruby"),
        energy_table(arch),
        SearchOptions(strategy="random", effort=Effort(2048, 1_000_000), front=front),
    )
    assert early.statistics.stopped_by == "effort"
    assert 1_000_000 <= early.statistics.steps < 1_100_000
    assert early.statistics.evaluated == 2048
    assert 0 < early.lower_bound < evaluate(early.best, energy_table(arch)).edp[0]
    assert not early.optimal


@pytest.mark.parametrize("late", [False, True])
def test_time_up_while_orders_are_searched(monkeypatch, late):
    """Chains left open for want of time end the proof by the time limit, those with too many orders by these."""
    space, table = two_instances()
    monkeypatch.setattr(slow_orders, "MOST_LOOPS", -1)
    options = SearchOptions(strategy="random", objective="delay", time_limit=1e9)
    work = optimal_file.Optimal(Task.of(space, table, options, Charges()), Observers())

    def time_is_up():
        work.statistics.stop(Ended.TIME_LIMIT)
        return True

    if late:
        work.leaves.late = time_is_up
    found = work.run()
    assert not found.optimal
    assert found.statistics.stopped_by == ("time limit" if late else Ended.LEFT_OPEN)
