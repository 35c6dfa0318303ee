"""The trees of certificates that take very long have halving beside them, and grow anew for the best mapping."""

from contextlib import contextmanager
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.problem.effort import Effort
from ruby_map.mapper.proof import branch_and_bound, policy
from ruby_map.mapper.proof.keep_choice import KeepChoice
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.workloads import shaped

from ..conftest import DEEP, interrupt_at
from ..searches import a_poor_beginning, optimal
from ..small_problems import best_of_all, check_best_of_all, constrained_problems
from .test_certificate import verified

CERTIFIED = SearchOptions(strategy="optimal", certify=True)


@contextmanager
def aided(opened=2):
    """Proofs that have halving beside the trees of a certificate from the beginning, and open few nodes at once."""
    with a_poor_beginning() as patch:
        patch.setattr(policy, "UNAIDED", 0)
        patch.setattr(branch_and_bound.Branching, "dive", lambda *_: None)  # halving must find the best
        patch.setattr(branch_and_bound, "OPENED", opened)
        patch.setattr(branch_and_bound, "EVALUATED", max(1, opened // 16))
        yield


@settings(max_examples=2_000 if DEEP else 8)
@given(constrained_problems())
def test_equal_the_best_of_every_mapping(problem):
    """Under every kind of constraint; every certificate is verified."""
    space, table, objective, costs = problem
    with aided():
        found = optimal(space, table, replace(CERTIFIED, objective=objective), costs)
    check_best_of_all(found, space, table, objective, costs, certified=True)


@settings(max_examples=1_000 if DEEP else 8)
@given(constrained_problems(), st.one_of(st.integers(1, 40), st.integers(50, 3_000)))
def test_ended_early_they_say_no_more_than_is_proven(problem, end):
    """By Ctrl-C at one of the first steps, or by effort."""
    space, table, objective, costs = problem
    stop = interrupt_at(end)
    options = replace(CERTIFIED, objective=objective)
    with aided():
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
        assert verified(found, space, table).lower_bound <= found.lower_bound * (1 + 1e-9)


def layer():
    arch = load_arch("eyeriss_like")
    return Mapspace(arch, shaped("conv2d", M=20, C=12, P=9, Q=7, R=3, S=3), "ruby-s"), energy_table(arch)


@pytest.fixture
def grown(monkeypatch):
    """The choices whose trees grew again, in turn."""
    choices, grow_again = [], KeepChoice.grow_again

    def noted(self):
        before = self.branching
        grow_again(self)
        if self.branching is not before:
            choices.append(self)

    monkeypatch.setattr(KeepChoice, "grow_again", noted)
    return choices


def test_trees_grow_again_once_for_the_proven_best(grown):
    """They prove it with fewer sets; all combinations are counted."""
    space, table = layer()
    with aided(opened=4):
        found = optimal(space, table, CERTIFIED)
    assert len(grown) == len({id(choice) for choice in grown}) > 0
    assert found.optimal
    assert found.coverage.open == 0
    assert verified(found, space, table).optimal


def test_what_the_trees_proved_before_they_grew_again_stays(grown):
    """Where effort ends before the new trees prove as much, the report and the certificate have the old ones'."""
    space, table = layer()

    def interrupted(recorder):
        if grown:
            raise KeyboardInterrupt

    with aided(opened=4):
        found = optimal(space, table, CERTIFIED, progress=interrupted)
    (choice,) = grown
    assert choice.outgrown is not None
    assert found.lower_bound >= choice.outgrown.least * (1 - 1e-9)
    assert choice.outgrown.least > choice.branching.least
    assert not found.optimal
    seen = verified(found, space, table)
    assert seen.lower_bound == pytest.approx(found.lower_bound)


def test_trees_that_are_short_have_no_help(grown):
    """Nothing is halved, and nothing grows again."""
    space, table = layer()
    with a_poor_beginning():
        found = optimal(space, table, CERTIFIED)
    assert found.optimal
    assert not grown
