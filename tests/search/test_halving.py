"""Halving as the only engine of proofs: against every mapping of small mapspaces, stopped anywhere, and with NumPy."""

import random
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper.bounds.kernels.program import SWITCH
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.problem import OBJECTIVES, Charges, Effort
from ruby_map.mapper.proof import half_sets, halving, joins, keep_choice, policy
from ruby_map.mapper.proof.branch_and_bound import Branching
from ruby_map.mapper.proof.incumbents import BestIncumbent
from ruby_map.mapper.proof.leaves import LeafEvaluator
from ruby_map.mapper.proof.rounds import Rounds
from ruby_map.mapper.search import Recorder, Stop, Task
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.workloads import shaped

from ..conftest import DEEP
from ..searches import a_poor_beginning, optimal
from ..small_problems import check_best_of_all, constrained_problems, problems, slowed

OPTIMAL = SearchOptions(strategy="optimal")


def all_in_a_half(halves):
    """The same division of a set, looked at: each row of the group that is divided is in one half, others in both."""

    def checked(self, own, *given):
        parts = halves(self, own, *given)
        for g, rows in enumerate(own.rows):
            found = [part.rows[g] for part in parts]
            divided = np.array_equal(np.sort(np.concatenate(found)), np.sort(rows))
            assert divided or all(np.array_equal(one, rows) for one in found)
        return parts

    return checked


@contextmanager
def halving_alone(together=32, few=2_000, admissible=joins.ADMISSIBLE, seed=None):
    """Proofs that halve what they have at once, and open no nodes; small numbers make many halves and joins.

    With a seed sets are divided in ways drawn at random, by rows or by innermost loops.
    """
    with a_poor_beginning() as patch:
        patch.setattr(policy, "ALONE", 0)
        patch.setattr(Branching, "dive", lambda *_: None)
        patch.setattr(keep_choice.KeepChoice, "halves_next", property(lambda self: self.halving is not None))
        patch.setattr(Rounds, "least", -np.inf)
        if together < halving.TOGETHER:
            patch.setattr(halving, "MOST_FIGURES", 2_000 * together)
        patch.setattr(halving, "TOGETHER", together)
        patch.setattr(halving, "FEW", few)
        patch.setattr(half_sets.Divisions, "_halves", all_in_a_half(half_sets.Divisions._halves))
        whole = half_sets.Divisions.whole.fget
        patch.setattr(half_sets.Divisions, "whole", property(lambda own: replace(whole(own), joinable=admissible)))
        if seed is not None:
            drawn = random.Random(seed)
            patch.setattr(half_sets.Gains, "worth_trying", lambda _, ways: drawn.sample(ways, min(len(ways), 1)))
        yield patch


SIZES = st.sampled_from([(32, 2_000), (2, 20), (1, 2, 1), (3, 1, 1)])


@settings(max_examples=1_000 if DEEP else 25)
@given(st.one_of(problems(), constrained_problems()), SIZES, st.sampled_from([None, 0, 1]))
def test_it_finds_the_best_of_every_mapping(problem, sizes, seed):
    """Whatever the sizes of the sets that are joined, and the ways in which they are divided."""
    space, table, objective, costs = problem
    with halving_alone(*sizes, seed=seed):
        found = optimal(space, table, replace(OPTIMAL, objective=objective), costs)
    check_best_of_all(found, space, table, objective, costs)


@settings(max_examples=500 if DEEP else 10)
@given(problems(), st.data(), SIZES, st.sampled_from([None, 0, 1]))
def test_it_finds_the_best_under_bandwidths(problem, data, sizes, seed):
    """Where any level may be slow."""
    space, table, objective, costs = problem
    space = Mapspace(slowed(data.draw, space.arch), space.workload, space.remainders, distinct=True)
    with halving_alone(*sizes, seed=seed):
        found = optimal(space, table, replace(OPTIMAL, objective=objective), costs)
    check_best_of_all(found, space, table, objective, costs)


HARD = {"M": 8, "C": 6, "P": 5, "Q": 4 if DEEP else 1, "R": 3, "S": 3}


def hard(**sizes):
    """A layer that is halved a dozen times or more, and its machine."""
    arch = load_arch("simba_like")
    return Mapspace(arch, shaped("conv2d", **HARD | sizes), "ruby-t"), energy_table(arch)


@pytest.fixture(scope="module")
def undisturbed():
    """The whole proof of the hard layer, by the seed of its divisions."""

    @cache
    def proof(seed):
        with halving_alone(4, 50, seed=seed):
            return optimal(*hard(), OPTIMAL)

    return proof


@pytest.mark.parametrize("seed", [None, 0])
def test_stopped_anywhere_it_says_what_is_proven(seed, undisturbed):
    """After some steps no bound is above the optimum, and all combinations are accounted for."""
    space, table = hard()
    whole = undisturbed(seed)
    assert whole.optimal
    with halving_alone(4, 50, seed=seed):
        steps = whole.statistics.steps
        for share in (0.5, 0.95):
            effort = Effort(mappings=1, steps=int(share * steps))
            early = optimal(space, table, replace(OPTIMAL, effort=effort))
            assert early.lower_bound <= whole.lower_bound * (1 + 1e-9)
            assert early.coverage.total == whole.coverage.total


@pytest.fixture(scope="module")
def divided_by_loops():
    """A product whose sets are divided in ways drawn at random, its machine, and the steps of its proof."""
    arch = load_arch("simba_like")
    sizes = {"M": 12, "N": 10, "K": 6} if DEEP else {"M": 9, "N": 8, "K": 5}
    space, table = Mapspace(arch, shaped("matmul", **sizes), "ruby"), energy_table(arch)
    with halving_alone(2, 20, 1, seed=0):
        return space, table, optimal(space, table, OPTIMAL).statistics.steps


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9] if DEEP else [0.5, 0.9])
def test_no_open_combination_is_said_to_be_closed(share, divided_by_loops):
    """Where sets are divided by innermost loops, one may be open in several; evaluated it is counted once."""
    space, table, steps = divided_by_loops
    seen = []
    real, evaluate = halving.Halving.step, LeafEvaluator.evaluate

    def step(self, leaves):
        real(self, leaves)
        is_open = np.zeros([len(own) for own in self.rows], bool)
        for _, _, own in self.state.heap:
            is_open[np.ix_(*own.rows)] = True
        seen.append((self.coverage, int(is_open.sum()), is_open.size))

    distinct = set()

    def evaluated(self, rows, *given):
        distinct.update(map(bytes, rows))
        return evaluate(self, rows, *given)

    with halving_alone(2, 20, 1, seed=0) as patch:
        patch.setattr(halving.Halving, "step", step)
        patch.setattr(LeafEvaluator, "evaluate", evaluated)
        early = optimal(space, table, replace(OPTIMAL, effort=Effort(mappings=1, steps=int(share * steps))))
    assert seen
    for coverage, number, every in seen:
        assert number <= coverage.open <= coverage.total == every
    assert early.coverage.evaluated + early.coverage.invalid <= len(distinct)


def test_a_join_lists_every_combination_that_may_be_below_a_limit():
    """As if the best mapping were worse by a third, so that there are many.

    What it does not list although its own bound is below has no mapping below: bounds of what it is joined from say so.
    """
    space, table = hard()
    listing, evaluating = halving.joined, halving.Halving._joined
    at, tried = [], []

    def of_set(self, *given):
        at[:] = [self]
        return evaluating(self, *given)

    def joined(rows, loops, ascended, limit, tables, check):
        limit += np.log(1.3)
        found = listing(rows, loops, ascended, limit, tables, check)
        number = prod(map(len, rows))
        if found is not None and number <= 300_000:
            place = np.unravel_index(np.arange(number), [len(own) for own in rows])
            every = np.stack([own[i] for own, i in zip(rows, place, strict=True)], axis=1)
            below = tables.bounds(every) < np.exp(limit)
            of_row = [np.searchsorted(own, found[:, g]) for g, own in enumerate(rows)]
            listed = np.ravel_multi_index(of_row, [len(own) for own in rows])
            assert len(set(listed.tolist())) == len(listed)
            assert below[listed].all()
            below[listed] = False
            missing = every[below]
            tried.append((len(listed), len(missing)))
            if len(missing):
                assert least(missing) >= np.exp(limit)
            if len(tried) == 5:
                raise KeyboardInterrupt  # enough
        return found

    def least(places):
        chosen = np.stack([own[places[:, g]] for g, own in enumerate(at[0].rows)], axis=1)
        task = Task.of(space, table, OPTIMAL, Charges())
        leaves = LeafEvaluator(task, BestIncumbent((OBJECTIVES["edp"],)), Recorder(Stop(None)), lambda: False)
        leaves.chains.list_all()
        return leaves.evaluate(chosen, np.zeros(len(chosen)), at[0].geometric.relaxed).min()

    with halving_alone(4, 200) as patch:
        patch.setattr(halving.Halving, "_joined", of_set)
        patch.setattr(halving, "joined", joined)
        optimal(space, table, OPTIMAL)
    assert len(tried) == 5
    assert sum(listed for listed, _ in tried) > 10 * sum(missing for _, missing in tried)


def test_ctrl_c_loses_no_set(undisturbed):
    """In the middle of a step the sets that were taken are open again."""
    space, table = hard()
    with halving_alone(4, 50) as patch:
        whole, real = undisturbed(None), halving.Halving._divided
        for at in (1, 2, 5):
            calls = iter(range(at))

            def halved(self, *given, calls=calls):
                found = real(self, *given)
                if next(calls, None) is None:
                    raise KeyboardInterrupt
                return found

            patch.setattr(halving.Halving, "_divided", halved)
            early = optimal(space, table, OPTIMAL)
            assert early.statistics.interrupted
            assert not early.optimal
            assert early.lower_bound <= whole.lower_bound
            assert early.coverage.total == whole.coverage.total


def test_numpy_proves_the_same(monkeypatch):
    """With the same steps and the same mappings."""
    space, table = hard() if DEEP else hard(M=6, C=4, S=1)
    outcomes = []
    for switch in ("", "plain"):
        monkeypatch.setenv(SWITCH, switch)
        with halving_alone() if DEEP else halving_alone(4, 50, seed=0):
            outcomes.append(optimal(space, table, OPTIMAL))
    one, other = outcomes
    assert one.optimal
    assert (one.lower_bound, one.coverage) == (other.lower_bound, other.coverage)
    assert (one.statistics.steps, one.statistics.trace) == (other.statistics.steps, other.statistics.trace)


@given(st.lists(st.integers(0, 50)), st.integers(0, 60))
def test_lots_have_everything_once_and_no_more_than_they_may(sizes, most):
    """One that is larger is a lot of its own; none could have the first of the next, too."""
    every = list(enumerate(sizes))
    cut = halving.lots(every, lambda one: one[1], most)
    assert [one for lot in cut for one in lot] == every
    totals = [sum(size for _, size in lot) for lot in cut]
    assert all(total <= most or len(lot) == 1 for total, lot in zip(totals, cut, strict=True))
    assert all(total + following[0][1] > most for total, following in zip(totals, cut[1:], strict=False))
