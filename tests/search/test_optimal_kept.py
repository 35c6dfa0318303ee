"""The certified optimum where there are many choices of what is kept."""

from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from heapq import heappop
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.mapper.bounds import Relaxation, ideal
from ruby_map.mapper.certificate.checker import verify
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.model import evaluate
from ruby_map.mapper.problem import Charges
from ruby_map.mapper.problem.effort import Effort
from ruby_map.mapper.proof import bounding, branch_and_bound, effort_used, retention_order, why_no_proof
from ruby_map.mapper.proof import optimal as optimal_file
from ruby_map.mapper.proof.effort_used import EffortUsed
from ruby_map.mapper.proof.retention_order import in_turn_by_tensors
from ruby_map.mapper.proof.work import Piece
from ruby_map.mapper.search.evolution import population, populations
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.outcome.ended import Ended
from ruby_map.mapper.search.strategy import Observers, Task

from ..conftest import DEEP
from ..model.test_cost import matmul
from ..searches import a_poor_beginning, done, lower_bound, optimal
from ..small_problems import best_of_all, check_best_of_all, combinations_of, constrained_problems, problems, values_of
from .test_optimal_geometric import groups_of
from .test_optimal_interrupted import KeepChoice as InMemory

OPTIMAL = SearchOptions(strategy="optimal")


@cache
def problem(free):
    """A small product on a machine whose `free` inner levels may keep what they like."""
    inner = tuple(Storage(f"L{i}", "SRAM", capacity_bits=160) for i in range(1, free + 1))
    arch = Architecture("many", (Storage("L0", "DRAM"), *inner), Compute("MAC", "intmac"))
    figures = tuple(LevelEnergy(x.name, 9.0 - i / 4, 9.0, 9.0, 0.0, 1.0, "given") for i, x in enumerate(arch.levels))
    return Mapspace(arch, matmul(2, 2, 1), "pfm"), EnergyTable(
        "many", figures, ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given")
    )


@contextmanager
def choices_in_turn(held=0):
    """Proofs that bound all choices by tensors first, then those that may be best; more than `held` rows are folded."""
    with a_poor_beginning() as patch:
        patch.setattr(retention_order, "FEW", 0)
        patch.setattr(bounding, "HELD", held)
        patch.setattr(branch_and_bound, "OPENED", 4)  # several choices are opened by and by
        yield patch


@settings(max_examples=3_000 if DEEP else 8)
@given(st.one_of(problems(), constrained_problems()), st.sampled_from([0, 100]))
def test_equals_the_best_of_every_mapping(problem, held):
    """With choices in turn, folded and unfolded, under every kind of constraint."""
    space, table, objective, costs = problem
    with choices_in_turn(held):
        found = optimal(space, table, replace(OPTIMAL, objective=objective), costs)
    check_best_of_all(found, space, table, objective, costs)


@settings(max_examples=2_000 if DEEP else 6)
@given(problems())
def test_certificates_name_the_choices_that_only_tensors_ruled_out(problem):
    """The same, certified: the checker bounds each choice by itself."""
    space, table, objective, costs = problem
    with choices_in_turn():
        found = optimal(space, table, replace(OPTIMAL, objective=objective, certify=True), costs)
    check_best_of_all(found, space, table, objective, costs, certified=True)


@settings(max_examples=500 if DEEP else 3)
@given(problems(most=300))
def test_fronts_and_lists_of_objectives(problem):
    """With choices in turn they are those without."""
    space, table, _, costs = problem
    for options in (replace(OPTIMAL, front="energy,delay"), replace(OPTIMAL, objective="delay,energy")):
        plain = optimal(space, table, options, costs)
        with choices_in_turn():
            found = optimal(space, table, options, costs)
        assert found.coverage.total == plain.coverage.total
        assert (found.best is None) == (plain.best is None)
        if plain.best is not None:
            assert found.optimal
            assert found.lower_bound == pytest.approx(plain.lower_bound, rel=1e-8)
            for mine, theirs in zip(_values(found, table, costs), _values(plain, table, costs), strict=True):
                assert mine == pytest.approx(theirs, rel=1e-8)


def _values(found, table, costs):
    """Energy and cycles of the best, then those of the front."""
    every = [found.best, *found.front]
    return [value for one in every for value in values_in_full(one, table, costs)]


def values_in_full(batch, table, costs):
    """Energy and cycles of a single mapping, counted exactly."""
    return [float(values_of(batch, table, name, costs)[0]) for name in ("energy", "delay")]


@settings(max_examples=500 if DEEP else 12)
@given(problems())
def test_choices_come_in_the_order_of_bounds_that_hold(problem):
    """Each once; by ascending sums; no sum above the bound of the choice by itself."""
    space, table, _, costs = problem
    groups, choices = groups_of(space), space.keep_choices

    def relaxation(keep):
        yield Piece(steps=1)
        return Relaxation(groups, table, keep, costs)

    in_turn = done(in_turn_by_tensors(choices, relaxation))
    kept = np.array([in_turn.keep(place) for place in range(choices.number)])
    sums = [in_turn.energy(place) for place in range(choices.number + 1)]
    assert sums == sorted(sums)
    assert sums[-1] == np.inf
    assert sorted(choices.rank(kept).tolist()) == list(range(choices.number))
    for keep, least in zip(kept, sums, strict=False):
        bound = Relaxation(groups, table, keep, costs).bound_of_all()
        assert in_turn.cycles <= bound.cycles[0]
        assert least <= bound.energy_pj[0] * (1 + 1e-9)


@pytest.mark.parametrize("free", [5, 6])
def test_more_choices_than_can_be_listed(free):
    """2^15 and 2^18 choices: certified, and most of them ruled out together, by their tensors."""
    space, table = problem(free)
    found = optimal(space, table, OPTIMAL)
    assert (found.optimal, found.statistics.stopped_by) == (True, Ended.SEEN_ALL)
    assert found.coverage.total == combinations_of(space)
    few, figures = problem(3)  # bypassed levels are of no use
    levels = [place for place, level in enumerate(space.arch.levels) if found.best.keep[0, place].any()]
    assert max(levels) <= 3
    best = best_of_all(few, figures, "edp", Charges())
    assert found.lower_bound <= best * (1 + 1e-9)


@pytest.mark.parametrize("options", [{"front": "energy,delay"}, {"certify": True}])
def test_more_choices_than_fronts_and_certificates_list(options):
    """The mapping found stays, with the ideal bound and the reason."""
    space, table = problem(5)
    found = optimal(space, table, replace(OPTIMAL, effort=Effort(2048, 1), **options))
    assert found.statistics.stopped_by == Ended.TOO_MANY_CHOICES_LISTED
    assert found.best is not None
    assert not found.optimal
    assert 0 < found.lower_bound < evaluate(found.best, table).edp[0]


def test_as_many_choices_as_can_be_listed(monkeypatch):
    """The limit itself is not too many; it is about the levels of a tensor, and about all choices for certificates."""
    space, table = problem(1)
    monkeypatch.setattr(why_no_proof, "MOST_KEPT", space.size.bypass)
    assert optimal(space, table, replace(OPTIMAL, certify=True)).optimal
    monkeypatch.setattr(why_no_proof, "MOST_KEPT", space.size.bypass - 1)
    assert optimal(space, table, OPTIMAL).statistics.stopped_by == Ended.TOO_MANY_CHOICES
    monkeypatch.setattr(retention_order, "FEW", 0)
    assert optimal(space, table, OPTIMAL).optimal
    certified = optimal(space, table, replace(OPTIMAL, certify=True))
    assert certified.statistics.stopped_by == Ended.TOO_MANY_CHOICES_LISTED


def test_tells_and_looks_at_the_time_after_each_choice(monkeypatch):
    """Of 8 choices: how many are bounded so far; once time is up no further one is begun."""
    space, table = problem(1)
    best = space[space.size.total - 1]
    told, made = [], []
    monkeypatch.setattr(EffortUsed, "late", lambda self: len(made) >= 5)
    monkeypatch.setattr(
        Relaxation, "__post_init__", lambda self, real=Relaxation.__post_init__: (made.append(1), real(self))
    )
    found = lower_bound(
        space,
        table,
        SearchOptions(strategy="random", bound=100.0),
        best,
        progress=lambda recorder: told.append(recorder.proven),
    )
    texts = list(dict.fromkeys(told))
    first = int(texts[0][0])  # 0: between the pieces of the first choice
    assert texts == [f"{n} of 8 choices of what is kept bounded" for n in range(first, first + len(texts))]
    assert len(texts) >= 4
    assert len(made) == 5
    assert found.lower_bound > 0


def test_out_of_time_after_some_choices_in_turn(monkeypatch):
    """What their tensors cost at least bounds the others."""
    space, table = problem(3)
    bounded = []
    real = bounding.choice_of
    monkeypatch.setattr(bounding, "choice_of", lambda *a, **more: (bounded.append(1), real(*a, **more))[1])
    monkeypatch.setattr(EffortUsed, "late", lambda self: len(bounded) >= 2)
    early = lower_bound(space, table, SearchOptions(strategy="random", bound=100.0), space[space.size.total - 1])
    assert len(bounded) == 2
    assert early.coverage.total == combinations_of(space)
    assert early.coverage.open
    monkeypatch.undo()
    least = ideal(space.arch, space.workload, table)
    whole = optimal(space, table, OPTIMAL)
    assert whole.optimal
    assert least.cycles * least.energy_pj <= early.lower_bound <= whole.lower_bound * (1 + 1e-9)
    assert not early.optimal


def test_too_many_choices_that_may_be_best(monkeypatch):
    """Most of the effort is evolution's then; the bound by tensors stays, and the reason says what was too little."""
    monkeypatch.setattr(bounding, "SHARE", 0.0)
    monkeypatch.setattr(bounding, "STEPS_A_ROW", 1_000_000)
    monkeypatch.setattr(why_no_proof, "STEPS_A_ROW", 0)
    space, table = problem(4)
    with a_poor_beginning():
        part = InMemory()
        found = optimal(space, table, replace(OPTIMAL, effort=Effort(30 * 1024, 1_000_000_000)), part=part)
    assert found.statistics.stopped_by == Ended.TOO_SHORT
    assert found.statistics.evaluated >= 90
    assert 0 < found.lower_bound <= evaluate(found.best, table).edp[0]
    monkeypatch.undo()
    assert optimal(space, table, OPTIMAL, part=part).optimal  # it goes on with more


@pytest.mark.parametrize("used", [0, 999_999, 1_000_000, 1_500_000, 10**15])
def test_nothing_is_given_up_once_effort_is_used_up(used):
    """A step may end after the limit, which is the reason of the end then."""
    space, table = problem(4)
    proof = optimal_file.Optimal(Task.of(space, table, OPTIMAL), Observers())
    proof.leaves.chains.list_all()
    done(proof.bounding.order())
    assert not proof.bounding.choices.number_bounded
    assert proof.bounding.cannot_finish(used, 1_000_000) == (used == 999_999)


def test_choices_that_may_be_best_are_not_given_up_at_once():
    """The mapping known as the proof begins may be far from the best: then all choices may seem to be better."""
    space, table = problem(7)
    few = Mapspace(space.arch, matmul(2, 1, 1), "pfm")
    with a_poor_beginning():
        assert optimal(few, table, replace(OPTIMAL, time_limit=60.0)).optimal


def test_the_bound_of_the_whole_needs_few_choices(monkeypatch):
    """Where the mapping given meets the bound by tensors, no choice is bounded by itself."""
    space, table = problem(4)
    best = optimal(space, table, OPTIMAL).best
    bounded = []
    real = bounding.choice_of
    monkeypatch.setattr(bounding, "choice_of", lambda *a, **more: (bounded.append(1), real(*a, **more))[1])
    whole = lower_bound(space, table, SearchOptions(strategy="random", bound=0.0), best)
    assert len(bounded) <= 2
    assert whole.lower_bound <= evaluate(best, table).edp[0] * (1 + 1e-9)


@pytest.mark.parametrize("call", range(1, 12))
def test_ctrl_c_while_choices_are_listed(monkeypatch, call):
    """None is lost: the certificate names each, and the bound holds."""
    space, table = problem(1)
    with choices_in_turn():
        whole = optimal(space, table, replace(OPTIMAL, certify=True))
        calls = []

        def pop(heap):
            calls.append(1)
            if len(calls) == call:
                raise KeyboardInterrupt
            return heappop(heap)

        monkeypatch.setattr(retention_order, "heappop", pop)
        found = optimal(space, table, replace(OPTIMAL, certify=True))
    assert found.coverage.total == combinations_of(space)
    assert found.lower_bound <= whole.lower_bound * (1 + 1e-9)
    if found.certificate is not None:
        verify(found.certificate, space.arch, space.workload, table)


def test_certificates_of_fronts_that_time_ended(monkeypatch):
    """They show what columns prove, even where the ideal bounds are above."""
    outer = Storage("L0", "DRAM", fanout=(Axis("x", 2), Axis("y", 2)))
    arch = Architecture("wide", (outer, Storage("L1", "SRAM")), Compute("MAC", "intmac"))
    figures = tuple(LevelEnergy(level.name, 9.0, 9.0, 9.0, 0.0, 1.0, "given") for level in arch.levels)
    table = EnergyTable("wide", figures, ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given"))
    space, seen = Mapspace(arch, matmul(3, 3, 1), "ruby"), 0
    for looks in range(100, 1_000, 100):
        left = iter(range(looks))

        def late(self, left=left):
            if next(left, None) is not None:
                return False
            self.recorder.statistics.stop(Ended.TIME_LIMIT)
            return True

        with a_poor_beginning() as patch:
            patch.setattr(EffortUsed, "late", late)
            found = optimal(space, table, replace(OPTIMAL, front="energy,delay", certify=True))
        if found.certificate is not None:
            verify(found.certificate, space.arch, space.workload, table)
            seen += not found.optimal
    assert seen


def test_time_is_used_where_nothing_can_be_proven(monkeypatch):
    """With a time limit alone the evolution goes on until then; else it ends when new populations bring nothing."""
    ticks = count()
    monkeypatch.setattr(effort_used, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    monkeypatch.setattr(populations, "IDLE_POPULATIONS", 1)
    monkeypatch.setattr(population, "IDLE", 2)
    monkeypatch.setattr(why_no_proof, "MOST_KEPT", 1)
    space, table = problem(3)
    first = optimal(space, table, SearchOptions(strategy="optimal"))
    limit = 2 * first.statistics.seconds + 10
    limited = optimal(space, table, SearchOptions(strategy="optimal", time_limit=limit))
    assert limited.statistics.seconds >= limit
    assert limited.statistics.evaluated > first.statistics.evaluated
    assert {first.statistics.stopped_by[:10], limited.statistics.stopped_by[:10]} == {"no proof: "}


@pytest.mark.parametrize("free", [20, 21, 25])
def test_numbers_of_mappings_with_more_choices_than_64_bits(free):
    """3 choices a level: numbers beyond 2^60 come back as they were."""
    space, _ = problem(free)
    assert space.size.bypass == 2 ** (3 * free)
    numbers = [0, 1, space.size.bypass - 1, space.size.total // 3, space.size.total - 1]
    assert space.index(space.at(numbers)) == numbers
