"""Long lists of chains are ruled out by a bound with few columns first: same optimum, same certificates."""

from contextlib import contextmanager
from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage, load_arch
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy, energy_table
from ruby_map.mapper.bounds import Factors, Geometric, Relaxation, ascent, charge_bounds, dim_groups
from ruby_map.mapper.bounds.charge_bounds import Rewritten
from ruby_map.mapper.bounds.charges import MovementCost
from ruby_map.mapper.certificate.checker import Refused, verify
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.problem.effort import Effort
from ruby_map.mapper.proof import bounding, chain_groups, choice_bounds, long_lists, why_no_proof
from ruby_map.mapper.proof import coarse_bound as sketch
from ruby_map.mapper.proof import optimal as optimal_proof
from ruby_map.mapper.proof.chain_groups import ChainGroups
from ruby_map.mapper.proof.initial_evolution import Evolver
from ruby_map.mapper.runtime import InternalError
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.outcome.ended import Ended
from ruby_map.mapper.search.strategy import Task
from ruby_map.workloads import shaped

from ..conftest import DEEP
from ..searches import a_poor_beginning, few_are_many, optimal
from ..small_problems import best_of_all, check_best_of_all, constrained_problems, problems, values_of

CERTIFIED = SearchOptions(strategy="optimal", certify=True)


@contextmanager
def all_lists_long(block=50, sample=3):
    """Proofs that sketch every list, in small blocks, by weights from a small sample; no list is held."""
    with a_poor_beginning() as patch:
        patch.setattr(choice_bounds, "LONG", 0)
        patch.setattr(chain_groups, "MOST_CHAINS", 0)
        patch.setattr(long_lists, "BLOCK", block)
        patch.setattr(sketch, "BLOCK", block)
        patch.setattr(sketch, "SAMPLE", sample)
        yield patch


def check(space, table, objective, costs):
    """The least value of all mappings, found and certified."""
    with all_lists_long():
        found = optimal(space, table, replace(CERTIFIED, objective=objective), costs)
    with few_are_many():
        check_best_of_all(found, space, table, objective, costs, certified=True)


@settings(max_examples=3_000 if DEEP else 7)
@given(problems())
def test_equals_the_best_of_every_mapping(problem):
    """On small machines with free choices of what is kept; every certificate is verified."""
    check(*problem)


@settings(max_examples=3_000 if DEEP else 7)
@given(constrained_problems())
def test_equals_the_best_of_every_mapping_under_constraints(problem):
    """With every kind of constraint."""
    check(*problem)


@settings(max_examples=500 if DEEP else 6)
@given(problems(), st.integers(1, 3))
def test_where_too_many_are_left_the_bound_holds(problem, most):
    """Nothing branches then, and what is claimed holds."""
    space, table, objective, costs = problem
    least = best_of_all(space, table, objective, costs)
    with all_lists_long() as patch:
        patch.setattr(sketch, "MOST_CHAINS", most)
        found = optimal(space, table, replace(CERTIFIED, objective=objective), costs)
    if found.best is None:
        return
    value = values_of(found.best, table, objective, costs)[0]
    assert found.lower_bound <= least * (1 + 1e-9) <= value * (1 + 2e-9)
    assert not found.optimal or value == pytest.approx(least, rel=1e-8)
    with few_are_many():
        verify(found.certificate, space.arch, space.workload, table)


@settings(max_examples=300 if DEEP else 15)
@given(problems())
def test_a_sketch_is_below_the_bound(problem):
    """For single chains and for the whole; in blocks of any size the columns are the same."""
    space, table, _, costs = problem
    chains = ChainGroups(space)
    chains.list_all()
    keep = next(iter(space.every_keep()))
    full = Relaxation(chains.groups, table, keep, costs)
    few = Relaxation(chains.groups, table, keep, costs, coarse=True)
    rng = np.random.default_rng(0)
    rows = [rng.integers(0, len(group), 20) for group in chains.groups]
    lower, bound = (
        each.bound(lambda g, column, each=each: each.columns[g][column][rows[g]], 20) for each in (few, full)
    )
    assert (lower.energy_pj <= bound.energy_pj * (1 + 1e-12)).all()
    assert (lower.cycles <= bound.cycles).all()
    assert (lower.possible == bound.possible).all()


def test_blocks_change_no_column(monkeypatch):
    """A column is what it is for all combinations at once."""
    arch = load_arch("eyeriss_like")
    space = Mapspace(arch, shaped("conv2d", M=6, C=4, P=7, Q=5, R=3, S=3), "ruby")
    whole, blocks = ChainGroups(space), ChainGroups(space)
    keep = next(iter(space.every_keep()))
    whole.list_all()
    blocks.list_all()
    table = energy_table(arch)
    full = Relaxation(whole.groups, table, keep)
    monkeypatch.setattr(dim_groups, "BLOCK", 7)
    parts = Relaxation(blocks.groups, table, keep)
    assert any(len(group.blocks) > 1 for group in blocks.groups)
    everything = [np.arange(len(group)) for group in whole.groups]
    assert [len(columns) for columns in full.columns] == [len(columns) for columns in parts.columns]
    for mine, theirs in zip(full.columns, parts.columns, strict=True):
        for column, other in zip(mine, theirs, strict=True):
            assert (column == other).all()
    assert Geometric(full, (1, 1)).factors(everything).least == Geometric(parts, (1, 1)).factors(everything).least


@pytest.mark.parametrize("factor", [1.1, 3.0])
def test_a_sketch_that_is_too_high_is_noticed(monkeypatch, factor):
    """It rules the optimum out, which the proof or the certificate's checker sees."""
    arch = load_arch("eyeriss_like")
    space, table = Mapspace(arch, shaped("matmul", M=24, N=18, K=20), "ruby-s"), energy_table(arch)
    right = optimal(space, table, CERTIFIED)
    real = charge_bounds._words
    monkeypatch.setattr(charge_bounds, "_coarse", _too_high(charge_bounds._coarse, factor))
    assert real is charge_bounds._words
    try:
        with all_lists_long(block=100):
            wrong = optimal(space, table, CERTIFIED)
    except InternalError:
        return
    if wrong.lower_bound > right.lower_bound * (1 + 1e-9):
        return
    with few_are_many(), pytest.raises(Refused):
        verify(wrong.certificate, space.arch, space.workload, table)


def _too_high(real, factor):
    def sketch(charge, products):
        return replace(real(replace(charge, pj=charge.pj * factor), products))

    return sketch


def test_more_chains_than_can_be_listed(monkeypatch):
    """Then only the ideal bounds are known, and the reason says so."""
    arch = load_arch("eyeriss_like")
    space, table = Mapspace(arch, shaped("matmul", M=24, N=18, K=20), "ruby-s"), energy_table(arch)
    monkeypatch.setattr(why_no_proof, "MOST_COARSE", 10)
    found = optimal(space, table, replace(CERTIFIED, effort=Effort(4096)))
    assert found.statistics.stopped_by == Ended.TOO_MANY_COARSE
    assert not found.optimal


@pytest.mark.parametrize(
    ("options", "reason"),
    [(CERTIFIED, Ended.TOO_MANY_NAMED), (replace(CERTIFIED, certify=False, effort=Effort(steps=1)), Ended.TOO_SHORT)],
)
def test_more_chains_than_a_certificate_or_the_time_allows(monkeypatch, options, reason):
    """No proof begins, and the reason says why; without a certificate, with enough time, the same is proven."""
    arch = load_arch("linear_5")
    space, table = Mapspace(arch, shaped("matmul", M=12, N=9, K=10), "ruby"), energy_table(arch)
    monkeypatch.setattr(why_no_proof, "MOST_NAMED", 10)
    assert why_no_proof.why_no_proof(Task.of(space, table, options), ChainGroups(space)) == reason
    assert optimal(space, table, replace(options, certify=False, effort="")).optimal


def reduced_in_one_of_two_places():
    """Partial sums in a level or in an array: as few words are written, by different choices of what is kept."""
    level = Storage("L1", "SRAM", fanout=(Axis("x", 2),), bypass=frozenset({"Inputs", "Weights"}), capacity_bits=24)
    outer = Storage("L0", "SRAM", keep=frozenset({"Inputs", "Weights", "Outputs"}))
    arch = Architecture("small", (outer, level), Compute("MAC", "intmac"))
    written = (LevelEnergy("L0", 0.0, 1.0, 1.0, 0.0, 1.0, "given"), LevelEnergy("L1", 0.0, 0.0, 0.0, 0.0, 1.0, "given"))
    table = EnergyTable("small", written, ComputeEnergy("MAC", 0.0, 0.0, 1.0, "given"))
    return Mapspace(arch, shaped("matmul", M=1, N=2, K=2), "pfm"), table


def test_a_best_mapping_that_changes_between_choices(monkeypatch):
    """The sketch of a choice leaves the chains of the best mapping then; that an equal one takes its place before the
    sketch of the next choice, whose chains are worse in both, is no error."""
    space, table = reduced_in_one_of_two_places()
    every = [batch.take([i]) for batch in space.batches() for i in range(len(batch))]
    energy, delay = (
        np.array([values_of(each, table, name, None)[0] for each in every]) for name in ("energy", "delay")
    )
    kept = np.array([batch.keep[0].sum() for batch in every])
    least, most = ((energy == energy.min()) & (kept == number) for number in (kept.min(), kept.max()))
    slow = every[np.flatnonzero(most & (delay == 4))[0]]
    # two partial sums at once, which do not fit where they are kept
    fast = next(every[i] for i in np.flatnonzero(least & (delay == 2)) if every[i].factors[0, 1].prod() > 1)
    chosen, bounded = [slow, fast], []
    real = bounding.choice_of

    def choice_of(*arguments, **more):
        bounded.append((yield from real(*arguments, **more)))
        return bounded[-1]

    def step(self):
        self.generations += 1
        if chosen and len(bounded) == 2 - len(chosen):
            self.leaves.offer(chosen.pop(0))

    monkeypatch.setattr(ascent, "START", 1e-20)  # weights as sharp as these bounds can be
    monkeypatch.setattr(ascent, "RATE", 0.0)
    monkeypatch.setattr(bounding, "choice_of", choice_of)
    with all_lists_long() as patch:
        patch.setattr(Evolver, "step", step)
        patch.setattr(Evolver, "settled", False)
        once = cycle([True, False])
        patch.setattr(optimal_proof, "evolves", lambda mappings, steps: next(once))
        patch.setattr(Evolver, "quiet", property(lambda self: self.generations > 0))
        found = optimal(space, table, replace(CERTIFIED, objective="energy,delay"))
    assert not chosen
    assert [choice.least > energy.min() * 1.5 for choice in bounded[:2]] == [True, True]
    assert found.optimal
    assert [stage.value for stage in found.stages] == [energy.min(), 2.0]
    assert verify(found.certificate, space.arch, space.workload, table).optimal


def test_what_weighs_nothing_changes_no_constant():
    """Not even where it costs nothing for other rows: its logarithm is infinite then."""
    tensor = shaped("matmul", M=2, N=2, K=2).tensors[-1]
    term = Rewritten("Z", MovementCost(tensor, 1, None, 1.0, 1.0), (0,), (1,), 2.0)
    assert Factors(1.0, (), {"Z": 0.0}, constant=3.0, rewritten=(term,)).constant_with([1.0]) == 3.0
    assert Factors(1.0, (), {"Z": 0.5}, constant=3.0, rewritten=(term,)).constant_with([1.0]) == -np.inf
