"""Mappings whose closed form is only a bound: searches and fronts rank them by exact counts, as executed."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, FactorRule, LoopConstraint, Storage
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy, as_written
from ruby_map.mapper.certificate.checker import verify
from ruby_map.mapper.mapping import frontier
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model import count, evaluate, least_counts, recount, simulate, validity
from ruby_map.mapper.problem import OBJECTIVES, Charges
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.recorder import RecordThreshold
from ruby_map.mapper.search.values import Valuation
from ruby_map.workloads import InputError, Tensor, Term, Workload

from ..conftest import DEEP
from ..searches import a_poor_beginning, optimal, search
from ..small_problems import PRESETS, cost_options, figures
from ..strategies import plain

MOST = 300 if DEEP else 80  # mappings of a mapspace, each of which is executed
AXES = ("energy", "delay")


def window(rng):
    """A window of two dims or of three, next to a plain dim."""
    dims = "ABC"[: rng.integers(2, 4)]
    terms = tuple(Term(dim, int(rng.integers(1, 3))) for dim in dims)
    sizes = tuple(int(rng.integers(2, 6) if dim in "AB" else rng.integers(1, 3)) for dim in dims)
    last = dims[-1] if rng.integers(2) else "A"
    tensors = (plain("Inputs", "AB"), Tensor("Weights", (terms,)), plain("Outputs", last, output=True))
    return Workload("window", tuple(dims), sizes, tensors)


def spread_machine(rng):
    """Two or three levels, most of them with an array, some of which words only pass; few temporal loops."""
    levels, kept = [], [set(), {"Weights"}, {"Inputs", "Outputs"}, {"Inputs", "Weights", "Outputs"}]
    for i in range(rng.integers(2, 4)):
        number = rng.choice([0, 1, 1, 2] if i else [1, 1, 2])
        fanout = tuple(Axis(f"a{i}{j}", int(rng.integers(2, 5)), "XY"[rng.integers(2)]) for j in range(number))
        some, keep = frozenset(kept[rng.integers(4)]), rng.integers(2) or not i
        dims = [(), (), ("A",), ("A", "B")][rng.integers(4)] if i else ("A", "B", "C")
        levels.append(Storage(
            f"L{i}", "SRAM", fanout=fanout, temporal=LoopConstraint(dims=dims),
            keep=some if keep else frozenset(), bypass=frozenset() if keep else some,
            capacity_bits=16 * int(rng.integers(4, 41)) if i else None,
            read_bandwidth=[None, None, 0.5, 1.0][rng.integers(4)],
            shared_bandwidth=[None, None, 1.0, 1.5][rng.integers(4)],
        ))  # fmt: skip
    return Architecture("spread", tuple(levels), Compute("MAC", "intmac"))


def spread_space(rng):
    """A mapspace whose every mapping can be executed, and some of which are flagged; tried until there is one."""
    while True:
        arch, workload = spread_machine(rng), window(rng)
        try:
            space = Mapspace(arch, workload, PRESETS[rng.integers(4)], distinct=True)
        except InputError:
            continue
        wires = Charges(hop_pj=1.0)
        if space.size.total <= MOST and any(
            len(one) and not evaluated(one, figures_of(arch), wires).exact.all() for one in space.batches()
        ):
            return space


@st.composite
def spread_problems(draw):
    """Such a mapspace, and what costs: wires more often than not."""
    space = spread_space(np.random.default_rng(draw(st.integers(0, 2**32))))
    return space, draw(figures(space.arch)), draw(cost_options(hop_pj=(0.0, 0.7, 20.0)))


def figures_of(arch):
    levels = tuple(LevelEnergy(level.name, 3.0, 1.0, 2.0, 0.0, 1.0, "given") for level in arch.levels)
    return EnergyTable(arch.name, levels, ComputeEnergy("MAC", 0.5, 0.0, 1.0, "given"))


def evaluated(batch, table, costs):
    return evaluate(batch.take(np.flatnonzero(validity(batch) == 0)), table, costs)


def executed(space, table, names, costs):
    """The values of every valid mapping, each executed element by element. # (mapping, objective)"""
    values = []
    for batch in space.batches():
        for i in np.flatnonzero(validity(batch) == 0).tolist():
            one = batch.take([i])
            found = evaluate(one, table, costs, simulate(one))
            values.append([float(OBJECTIVES[name].of(found)[0]) for name in names])
    return np.array(values).reshape(-1, len(names))


def exactly(batches, table, names, costs):
    """The values of some single mappings, executed. # (mapping, objective)"""
    found = [evaluate(one, table, costs, simulate(one)) for one in batches]
    return np.array([[float(OBJECTIVES[name].of(each)[0]) for name in names] for each in found]).reshape(-1, len(names))


def check_search(found, space, table, objective, costs, front):
    """The best of all executed mappings is found, and every point of their front."""
    values = executed(space, table, [objective, *AXES], costs)
    if not len(values):
        assert found.best is None
        return
    assert exactly([found.best], table, [objective], costs)[0, 0] == pytest.approx(values[:, 0].min(), rel=1e-9)
    if front:
        points = np.unique(values[:, 1:][frontier(values[:, 1:])].round(6), axis=0)
        mine = exactly(found.front, table, AXES, costs)
        mine = np.unique(mine[frontier(mine)].round(6), axis=0)
        np.testing.assert_allclose(mine, points, rtol=1e-6)


@settings(max_examples=1_000 if DEEP else 15)
@given(spread_problems(), st.sampled_from(["edp", "energy", "delay"]), st.booleans(), st.booleans())
def test_exhaustive_finds_the_best_of_every_mapping(problem, objective, front, prune):
    """By exact counts, wires and all, with and without pruning; no front loses a point."""
    space, table, costs = problem
    options = SearchOptions(
        strategy="exhaustive", objective=objective, front=",".join(AXES) if front else "", prune=prune
    )
    found = search(space, table, options, costs)
    check_search(found, space, table, objective, costs, front)


@settings(max_examples=1_000 if DEEP else 6)
@given(spread_problems(), st.sampled_from(["edp", "energy", "delay"]))
def test_a_proof_finds_the_best_of_every_mapping(problem, objective):
    """What is proven, and verified, is the least that executing every mapping gives."""
    space, table, costs = problem
    options = SearchOptions(strategy="optimal", objective=objective, certify=True)
    with a_poor_beginning():
        found = optimal(space, table, options, costs)
    check_search(found, space, table, objective, costs, front=False)
    if found.best is not None:
        least = executed(space, table, [objective], costs).min()
        assert found.lower_bound == pytest.approx(least, rel=1e-8)
        arch, own = as_written(space.arch, table)
        assert verify(found.certificate, arch, space.workload, own).optimal


@settings(max_examples=1_000 if DEEP else 10)
@given(spread_problems(), st.sampled_from(["evolve", "genetic", "random"]), st.integers(0, 9))
def test_what_a_search_records_is_counted_exactly(problem, strategy, seed):
    """The last value of the trace is that of the mapping that is found, executed."""
    space, table, costs = problem
    options = SearchOptions(strategy=strategy, objective="edp", samples=300, seed=seed)
    found = search(space, table, options, costs)
    if found.best is not None:
        value = exactly([found.best], table, ["edp"], costs)[0, 0]
        assert found.statistics.trace[-1][1] == pytest.approx(value, rel=1e-12)


@settings(max_examples=1_000 if DEEP else 20)
@given(spread_problems())
def test_no_mapping_is_below_the_least_of_its_counts(problem):
    """Lower and upper bounds of reads, of words at the origin and of crossings; equal where counts are exact."""
    space, _, _ = problem
    every, limited = slice(None), [bool(level.bandwidths) for level in space.arch.levels]
    for batch in space.batches():
        most = count(batch)
        least = least_counts(batch, most)
        crossed = least.crossings(), most.crossings()
        for i in range(len(batch)):
            truth = simulate(batch.take([i]))
            for name, mine in (("reads", every), ("origin_reads", limited)):
                low, high = (getattr(each, name)[i][mine] for each in (least, most))
                words = getattr(truth, name)[0][mine]
                assert (low <= words).all()
                assert (words <= high).all()
                assert not most.exact[i] or (low == high).all()
            words = truth.crossings().words[0]
            assert (crossed[0].words[i] <= words).all()
            assert (words <= crossed[1].words[i]).all()
            assert not crossed[1].exact[i] or (crossed[0].words[i] == words).all()


def two_arrays():
    """A window A + B + C, spread over the arrays of two levels; words may pass the inner one."""
    tensors = (
        plain("Inputs", "AB"),
        Tensor("Weights", ((Term("A"), Term("B"), Term("C")),)),
        plain("Outputs", "AC", True),
    )
    workload = Workload("w", ("A", "B", "C"), (5, 2, 2), tensors)
    outer = Storage("L0", "DRAM", temporal=LoopConstraint(dims=(), max_loops=0), fanout=(Axis("ax00", 3, "X"),))
    inner = Storage(
        "L1", "SRAM", capacity_bits=16004, read_bandwidth=0.3, keep=frozenset({"Weights", "Inputs"}),
        temporal=LoopConstraint(dims=("C", "A", "B")),
        fanout=(Axis("ax10", 2, "Y", constraint=LoopConstraint(remainders=True)), Axis("ax11", 2, "X")),
    )  # fmt: skip
    arch = Architecture("a", (outer, inner), Compute("MAC", "intmac"))
    levels = (LevelEnergy("L0", 13, 13, 200, 0, 1.0, "given"), LevelEnergy("L1", 0.5, 5, 1, 0, 1.0, "given"))
    return arch, workload, EnergyTable("a", levels, ComputeEnergy("MAC", 1, 0.1, 1.0, "given"))


def test_exhaustive_is_as_good_as_the_proof():
    """Ranked by their upper bounds alone the best mapping was 12.7 % from the optimum."""
    arch, workload, table = two_arrays()
    space, costs = Mapspace(arch, workload, "pfm", distinct=True), Charges(hop_pj=0.7)
    found = search(space, table, SearchOptions(strategy="exhaustive"), costs)
    assert exactly([found.best], table, ["edp"], costs)[0, 0] == pytest.approx(109411.8666667)


def test_a_front_has_the_point_that_an_upper_bound_hides():
    """Six cycles and 1,047 pJ cycles: by the upper bound 1,071, which is that of other mappings."""
    _, workload, _ = two_arrays()
    workload = replace(workload, sizes=(3, 4, 2))
    outer = Storage(
        "L0", "DRAM", width_bits=32, write_bandwidth=1.0,
        fanout=(Axis("ax00", 5, "X", constraint=LoopConstraint(min_utilization=0.5)),),
    )  # fmt: skip
    columns = LoopConstraint((FactorRule("C", "<=", 2),), dims=("B", "C", "A"))
    rows = LoopConstraint(dims=("C", "A"), min_utilization=1 / 3)
    inner = Storage(
        "L1", "SRAM", word_bits=8, width_bits=8, capacity_bits=128, read_bandwidth=0.7,
        keep=frozenset({"Inputs"}), bypass=frozenset({"Outputs"}),
        fanout=(Axis("ax10", 2, "X", constraint=columns), Axis("ax11", 5, "Y", constraint=rows)),
    )  # fmt: skip
    arch = Architecture("a", (outer, inner), Compute("MAC", "intmac"))
    levels = (LevelEnergy("L0", 1, 0, 1, 0, 1.0, "given"), LevelEnergy("L1", 13, 0.5, 5, 0, 1.0, "given"))
    table = EnergyTable("a", levels, ComputeEnergy("MAC", 0, 0.1, 1.0, "given"))
    options = SearchOptions(strategy="exhaustive", objective="delay", front="delay,edp")
    found = search(Mapspace(arch, workload, "ruby-s", distinct=True), table, options)
    assert exactly(found.front, table, ["delay", "edp"], Charges()).tolist() == [[6.0, 1047.0]]


def test_only_what_may_be_recorded_is_counted_anew(monkeypatch):
    """A mapping whose lower bound does not improve on what is known is never listed."""
    from ruby_map.mapper.search import values as module

    arch, workload, table = two_arrays()
    batch = next(iter(Mapspace(arch, workload, "pfm", distinct=True).batches()))
    batch = batch.take(np.flatnonzero(validity(batch) == 0))
    listed = []
    monkeypatch.setattr(module, "recount", lambda one, known: listed.append(one) or recount(one))
    valuation = Valuation(table, Charges(), (OBJECTIVES["edp"],), 1)
    flagged = int((~count(batch).exact).sum())
    least = valuation.values(batch, RecordThreshold()).min()
    assert 0 < len(listed) < flagged
    listed.clear()
    valuation.values(batch, RecordThreshold((float(least) / 4,)))  # which no mapping improves on
    assert not listed
