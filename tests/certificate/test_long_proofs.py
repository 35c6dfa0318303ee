"""Proofs with certificates that take long begin anew from the best mapping, proven first by all engines."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.problem.effort import Effort
from ruby_map.mapper.proof import policy
from ruby_map.mapper.proof.optimal import Optimal
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.outcome import Ended
from ruby_map.workloads import shaped

from ..conftest import DEEP, interrupt_at
from ..search.test_optimal_rounds import many_rounds
from ..searches import optimal
from ..small_problems import best_of_all, check_best_of_all, constrained_problems
from .test_certificate import verified

CERTIFIED = SearchOptions(strategy="optimal", certify=True)


@settings(max_examples=2_000 if DEEP else 8)
@given(constrained_problems(), st.sampled_from(["", ",delay"]))
def test_equal_the_best_of_every_mapping(problem, more):
    """By one objective and by several; every certificate is verified."""
    space, table, objective, costs = problem
    objectives = objective + (more if objective != "delay" else "")
    with many_rounds():
        found = optimal(space, table, replace(CERTIFIED, objective=objectives), costs)
    if "," not in objectives:
        check_best_of_all(found, space, table, objective, costs, certified=True)
    elif found.best is not None:
        seen = verified(found, space, table)
        assert seen.optimal == found.optimal
        assert seen.value == pytest.approx(best_of_all(space, table, objective, costs), rel=1e-8)


@settings(max_examples=1_000 if DEEP else 8)
@given(constrained_problems(), st.one_of(st.integers(1, 40), st.integers(50, 3_000)))
def test_ended_early_they_say_no_more_than_is_proven(problem, end):
    """By Ctrl-C at one of the first steps, or by effort: in the short proof, in that of all engines, in the last."""
    space, table, objective, costs = problem
    stop = interrupt_at(end)
    options = replace(CERTIFIED, objective=objective)
    with many_rounds():
        if end <= 40:
            found = optimal(space, table, options, costs, lambda recorder: stop(None, recorder))
        else:
            found = optimal(space, table, replace(options, effort=Effort(steps=end)), costs)
    if found.best is None:
        return
    least = best_of_all(space, table, objective, costs)
    assert found.lower_bound <= least * (1 + 1e-9)
    assert not found.optimal or found.lower_bound == pytest.approx(least, rel=1e-8)
    if found.certificate is not None:
        seen = verified(found, space, table)
        assert seen.lower_bound <= found.lower_bound * (1 + 1e-9)


@pytest.fixture
def proofs(monkeypatch):
    """The proofs that run, in turn: whether each has a certificate, and how it ended."""
    ran, run = [], Optimal.run

    def noted(self):
        outcome = run(self)
        ran.append((self.task.options.certify, outcome))
        return outcome

    monkeypatch.setattr(Optimal, "run", noted)
    monkeypatch.setattr(policy, "ALONE", 100)
    return ran


def layer():
    arch = load_arch("eyeriss_like")
    return Mapspace(arch, shaped("conv2d", M=20, C=12, P=9, Q=7, R=3, S=3), "ruby-s"), energy_table(arch)


def test_what_is_proven_first_makes_the_trees_small(proofs):
    """The last proof begins with the optimum, and goes on with the effort that was used."""
    space, table = layer()
    with many_rounds(opened=64):
        found = optimal(space, table, CERTIFIED)
    (first, proven, last) = proofs
    assert [certified for certified, _ in proofs] == [True, False, True]
    assert first[1].statistics.ended == ()
    assert proven[1].optimal
    assert found.optimal
    assert first[1].statistics.steps < proven[1].statistics.steps < last[1].statistics.steps == found.statistics.steps
    assert verified(found, space, table).optimal
    assert found.coverage.open == 0


def test_with_little_effort_left_there_is_one_proof(proofs):
    """A certificate is not given up for another proof that there is no effort for."""
    space, table = layer()
    with many_rounds(opened=64):
        whole = optimal(space, table, CERTIFIED)
        steps = proofs[0][1].statistics.steps
        proofs.clear()
        found = optimal(space, table, replace(CERTIFIED, effort=Effort(mappings=64, steps=2 * steps)))
    assert len(proofs) == 1
    assert Ended.EFFORT in found.statistics.ended
    assert verified(found, space, table).lower_bound == pytest.approx(found.lower_bound)
    assert found.lower_bound < whole.lower_bound


def test_what_only_the_certificate_leaves_open_is_proven(proofs, monkeypatch):
    """A last proof that its effort ends leaves a certificate of less than was proven before."""
    space, table = layer()
    with many_rounds(opened=64):
        whole = optimal(space, table, CERTIFIED)
        proven, last = (outcome.statistics.steps for _, outcome in proofs[1:])
        proofs.clear()
        effort = Effort(mappings=64, steps=2 * proven)
        monkeypatch.setattr(
            "ruby_map.mapper.proof.effort_used.EffortUsed.late",
            late_after(last - (last - proven) // 4),
        )
        found = optimal(space, table, replace(CERTIFIED, effort=effort))
    assert found.optimal
    assert found.lower_bound == pytest.approx(whole.lower_bound)
    assert verified(found, space, table).lower_bound < found.lower_bound * (1 - 1e-6)
    assert np.isfinite(found.lower_bound)


def late_after(most):
    """EffortUsed.late of a proof with so many steps."""

    def late(self):
        over = self.recorder.statistics.steps >= most
        if over:
            self.recorder.statistics.stop(Ended.EFFORT)
        return over

    return late
