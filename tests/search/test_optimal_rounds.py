"""Hard proofs open nodes in rounds of turns, by any number of processes: same optimum, every mapping counted."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.problem import Charges
from ruby_map.mapper.problem.effort import Effort
from ruby_map.mapper.proof import branch_and_bound, keep_choice, policy, rounds, turns
from ruby_map.mapper.proof.incumbents import BestIncumbent
from ruby_map.mapper.proof.leaves import LeafEvaluator
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.outcome.ended import Ended
from ruby_map.workloads import shaped

from ..conftest import DEEP
from ..searches import a_poor_beginning, optimal
from ..small_problems import best_of_all, check_best_of_all, constrained_problems, problems, values_of

OPTIMAL = SearchOptions(strategy="optimal")


@contextmanager
def many_rounds(opened=2):
    """Proofs that open nodes in rounds from the beginning, `opened` at once; nothing goes on beside them."""
    with a_poor_beginning() as patch:
        patch.setattr(policy, "ALONE", 0)
        patch.setattr(keep_choice.KeepChoice, "halves_next", False)
        patch.setattr(branch_and_bound.Branching, "dive", lambda *_: None)  # the rounds must find the best
        patch.setattr(branch_and_bound, "OPENED", opened)
        patch.setattr(branch_and_bound, "EVALUATED", max(1, opened // 16))
        patch.setattr(rounds, "MOST", opened)
        patch.setattr(rounds, "NODES", 2 * opened)
        patch.setattr(rounds, "FEWEST", max(1, opened // 8))
        yield patch


def check(space, table, objective, costs):
    """The least value of all mappings, found in rounds."""
    with many_rounds():
        found = optimal(space, table, replace(OPTIMAL, objective=objective), costs)
    check_best_of_all(found, space, table, objective, costs)


@settings(max_examples=3_000 if DEEP else 15)
@given(problems())
def test_equals_the_best_of_every_mapping(problem):
    """On small machines with free choices of what is kept."""
    check(*problem)


@settings(max_examples=3_000 if DEEP else 10)
@given(constrained_problems())
def test_equals_the_best_of_every_mapping_under_constraints(problem):
    """With every kind of constraint."""
    check(*problem)


def hard(preset="ruby"):
    """A layer that opens thousands of nodes, and its machine."""
    arch = load_arch("simba_like")
    return Mapspace(arch, shaped("conv2d", M=12, C=10, P=6, Q=5, R=3, S=3), preset), energy_table(arch)


@contextmanager
def many_turns():
    """Proofs that open nodes in turns from the beginning; only the process that hands them out is changed."""
    with a_poor_beginning() as patch:
        patch.setattr(policy, "ALONE", 0)
        patch.setattr(keep_choice.KeepChoice, "halves_next", False)
        patch.setattr(rounds, "NODES", 2**6)
        patch.setattr(rounds, "FEWEST", 2**3)
        yield


def wide():
    """A layer that takes tens of such turns, and its machine."""
    arch = load_arch("eyeriss_like")
    return Mapspace(arch, shaped("conv2d", M=40, C=30, P=10, Q=14, R=1, S=1), "ruby"), energy_table(arch)


@pytest.fixture(scope="module")
def one():
    """The proof of a wide layer by one process."""
    with many_turns():
        return optimal(*wide(), OPTIMAL)


@pytest.mark.parametrize("jobs", [2, 3])
def test_any_number_of_processes_gives_the_same(one, jobs):
    """The same mapping, bound, numbers of combinations and of mappings, and improvements."""
    with many_turns():
        several = optimal(*wide(), replace(OPTIMAL, jobs=jobs))
    assert one.optimal
    assert several.optimal
    assert one.lower_bound == several.lower_bound
    assert (one.best.factors == several.best.factors).all()
    assert (one.best.order == several.best.order).all()
    assert one.coverage == several.coverage
    assert replace(one.statistics, seconds=0.0) == replace(several.statistics, seconds=0.0)


def test_nodes_that_get_lost_are_noticed(monkeypatch):
    """Where open nodes are forgotten the numbers of combinations do not add up, and nothing is certified."""
    space, table = wide()
    with many_turns():
        real = rounds.Rounds._chosen

        def chosen(self, limit):
            sets = real(self, limit)
            self.state = replace(self.state, nodes=self.state.nodes[: len(sets)])
            return sets

        monkeypatch.setattr(rounds.Rounds, "_chosen", chosen)
        monkeypatch.setattr(rounds, "MOST", 4)
        found = optimal(space, table, OPTIMAL)
    assert found.statistics.stopped_by == Ended.UNCOUNTED
    assert not found.optimal


def test_too_many_open_nodes_are_opened_from_the_highest(one, monkeypatch):
    """The same optimum, with the nodes next to being ruled out first."""
    space, table = wide()
    with many_turns():
        monkeypatch.setattr(rounds, "MOST_OPEN", 50)
        found = optimal(space, table, OPTIMAL)
    assert found.optimal
    assert found.lower_bound == pytest.approx(one.lower_bound, rel=1e-9)


@settings(max_examples=200 if DEEP else 6)
@given(problems(), st.integers(10_000, 400_000))
def test_effort_may_end_any_turn(problem, steps):
    """What was proven by then holds."""
    space, table, objective, costs = problem
    least = best_of_all(space, table, objective, costs)
    with many_rounds():
        found = optimal(space, table, replace(OPTIMAL, objective=objective, effort=Effort(2048, steps)), costs)
    if found.best is not None and found.lower_bound is not None:
        assert found.lower_bound <= least * (1 + 1e-9)


@pytest.mark.parametrize("machine", ["linear_16", "eyeriss_like"])
def test_ctrl_c_closes_no_node_whose_mapping_is_lost(machine):
    """Nodes are closed once their mapping has been recorded: else the bound would be above the optimum."""
    arch = load_arch(machine)
    space, table = (
        Mapspace(arch, shaped("matmul", M=5, N=10 if DEEP else 7, K=9 if DEEP else 6), "ruby-s"),
        energy_table(arch),
    )
    least = optimal(space, table, OPTIMAL).lower_bound
    real, calls = LeafEvaluator.add, [0]
    for at in range(1, 20):

        def add(self, best, *rest, at=at):
            calls[0] += best is not None
            if best is not None and calls[0] == at:
                raise KeyboardInterrupt
            real(self, best, *rest)

        calls[0] = 0
        with many_rounds(4) as patch:
            patch.setattr(LeafEvaluator, "add", add)
            found = optimal(space, table, OPTIMAL)
        if not found.statistics.interrupted:
            break
        assert found.best is None or found.lower_bound <= least * (1 + 1e-9)
    assert at > 1


def test_ctrl_c_keeps_the_best_of_a_turn_that_has_not_ended(monkeypatch):
    """Not only that of turns before."""
    space, table = hard("ruby-s")
    real, least = turns.TreeSearch.search, [np.inf]

    def search(self, turn, left, beside):
        def ended(best):
            beside(best)
            if best is not None:
                least[0] = values_of(best, table, "edp", Charges())[0]
                raise KeyboardInterrupt

        return real(self, turn, left, ended)

    with many_rounds(2**6) as patch:
        patch.setattr(turns.TreeSearch, "search", search)
        found = optimal(space, table, OPTIMAL)
    assert found.statistics.interrupted
    assert values_of(found.best, table, "edp", Charges())[0] <= least[0] < np.inf


@pytest.mark.parametrize("at", [1, 2])
def test_ctrl_c_keeps_the_best_of_a_step_that_has_not_ended(at):
    """Nor is that lost which the step of a turn has just found."""
    space, table = hard("ruby-s")
    offer, search, within, found = BestIncumbent.offer, turns.TreeSearch.search, [0], list[float]()

    def searched(*given):
        within[0] += 1
        try:
            return search(*given)
        finally:
            within[0] -= 1

    def offered(self, *given):
        before = self.least
        better = offer(self, *given)
        if within[0] and self.least < before:
            found.append(self.least)
            if len(found) == at:
                raise KeyboardInterrupt
        return better

    with many_rounds(2**4) as patch:
        patch.setattr(turns.TreeSearch, "search", searched)
        patch.setattr(BestIncumbent, "offer", offered)
        outcome = optimal(space, table, OPTIMAL)
    assert len(found) == at
    assert outcome.statistics.interrupted
    assert values_of(outcome.best, table, "edp", Charges())[0] == pytest.approx(found[-1], rel=1e-12)
