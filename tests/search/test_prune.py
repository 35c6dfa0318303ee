"""Pruning loses nothing: searches that skip counts record what searches that count every valid mapping record."""

from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Compute, Storage, load_arch
from ruby_map.energy import energy_table, no_energies
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.model.cost import evaluate, validity
from ruby_map.mapper.model.nests.nest_analysis import NestAnalysis
from ruby_map.mapper.problem import OBJECTIVES, Charges
from ruby_map.mapper.runtime import checkpoint as checkpoint_file
from ruby_map.mapper.runtime.checkpoint import Checkpoint
from ruby_map.mapper.search import exhaustive, proposer, score
from ruby_map.mapper.search import pruning as prune
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.pruning import Pruning, joined
from ruby_map.mapper.search.recorder import RecordThreshold, Scores
from ruby_map.workloads import InputError, load_workload, shaped

from ..conftest import DEEP
from ..searches import search
from ..small_problems import cost_options, figures, small_machines
from ..strategies import convolutions, matmuls

MOST = 4_000  # mappings of a mapspace visited one by one
MANY = settings(max_examples=500 if DEEP else 15)
LAYER = ("eyeriss_like", "resnet50/conv4_x_3x3")


@st.composite
def problems(draw):
    """A mapspace small enough to visit, energies, and what else costs: leakage, wires, bandwidths."""
    workload = draw(st.one_of(matmuls(5), convolutions(4, two_windows=False)))
    arch = draw(small_machines())
    try:
        preset = draw(st.sampled_from(["pfm", "ruby-s", "ruby-t", "ruby"]))
        space = Mapspace(arch, workload, preset, distinct=draw(st.integers(0, 3)) == 0)
    except InputError:
        assume(False)
    assume(space.size.total <= MOST)
    costs = draw(cost_options())
    return space, draw(figures(arch)), costs


@st.composite
def aims(draw):
    """Objectives, and a front now and then."""
    names = st.permutations(sorted(OBJECTIVES))
    objective = draw(names)[: draw(st.integers(1, 3))]
    front = draw(names)[:2] if draw(st.booleans()) else ()
    return {"objective": ",".join(objective), "front": ",".join(front)}


@pytest.fixture(autouse=True)
def always_worth_its_columns(monkeypatch):
    """The bound for all orders, also where it costs more than it saves."""
    monkeypatch.setattr(prune, "PAYS", 0)


def told(outcome):
    """All that a search says, but the seconds."""
    batches = [*([outcome.best] if outcome.best else []), *outcome.front]
    mappings = [[one.factors.tolist(), one.order.tolist(), one.keep.tolist()] for one in batches]
    return asdict(outcome.statistics) | {"seconds": 0}, mappings


def both(space, table, options, costs=None):
    """What a search says with pruning, and without."""
    return [told(search(space, table, replace(options, prune=on), costs)) for on in (True, False)]


def searched(space, table, options, costs, chunk=61, first=7):
    """The same with chunks so small that a small mapspace has many."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (score, proposer, exhaustive):
            patch.setattr(module, "CHUNK", chunk)
        patch.setattr(score, "FIRST", first)
        return both(space, table, options, costs)


@MANY
@given(problems(), aims())
def test_visiting_every_mapping_nothing_is_lost(problem, aim):
    """Best, its place, trace, counts by reason and front are those of counting every valid mapping."""
    space, table, costs = problem
    pruned, whole = searched(space, table, SearchOptions(strategy="exhaustive", **aim), costs)
    assert pruned == whole


@MANY
@given(problems(), aims(), st.integers(0, 9))
def test_drawing_mappings_nothing_is_lost(problem, aim, seed):
    """The same of random draws, with every rule that counts improvements."""
    space, table, costs = problem
    options = SearchOptions(
        strategy="random", seed=seed, victory=150, patience=(0.2, 90), samples=500, give_up=200, **aim
    )
    pruned, whole = searched(space, table, options, costs)
    assert pruned == whole


@MANY
@given(problems())
def test_bounds_are_below_what_they_bound(problem):
    """Every bound on energy is below the energy of every mapping, the one for chains below all of their orders."""
    space, table, costs = problem
    pruning = Pruning(space, table, ("edp",), (), costs)
    for batch in space.batches():
        energy = evaluate(batch, table, costs).energy_pj * (1 + 1e-12)
        assert (pruning._ideal_pj <= energy).all()
        assert (pruning._ends(NestAnalysis(batch)) <= energy).all()
        assert (pruning._inner(NestAnalysis(batch)) <= energy).all()
        if pruning._pays(len(batch)):  # not where every dim has size 1
            assert (pruning._relaxed(batch) <= energy).all()


@pytest.fixture(scope="module")
def layer():
    """A layer of ResNet-50 on a machine like Eyeriss, with its energies."""
    arch = load_arch(LAYER[0])
    space = Mapspace(arch, load_workload(LAYER[1]), "ruby-s")
    space.prepare()
    return space, energy_table(arch)


RULES = {
    "victory": {"victory": 3000},
    "front": {"objective": "edp", "front": "edp,energy,delay", "samples": 60_000},
    "list": {"objective": "delay,energy", "samples": 60_000, "target": 1.0},
    "patience": {"objective": "energy", "front": "energy,delay", "patience": (0.05, 4000)},
}


@pytest.mark.parametrize("name", RULES)
def test_every_rule_ends_a_search_where_it_would_without_pruning(layer, name):
    """Victory, patience, target and samples count pruned mappings; best, trace and front are the same."""
    pruned, whole = both(*layer, SearchOptions(**{"strategy": "random", "victory": 10**9} | RULES[name]))
    assert pruned == whole
    assert whole[0]["trace"]


def test_workers_that_know_of_different_bests_give_one_answer(layer):
    """Told late, 2 and 7 workers prune less, and differently: the record is that of one process that never prunes."""
    options = SearchOptions(**{"strategy": "random", "victory": 10**9} | RULES["front"])
    answers = [told(search(*layer, replace(options, jobs=jobs))) for jobs in (2, 7)]
    assert answers == [told(search(*layer, replace(options, prune=False)))] * 2


def test_a_resumed_search_prunes_to_the_same_answer(layer, tmp_path, monkeypatch):
    """Interrupted anywhere, it goes on from what it knew, to the record of a search that neither stops nor prunes."""
    monkeypatch.setattr(checkpoint_file, "EVERY", 0.0)
    options = SearchOptions(strategy="random", samples=90_000, victory=10**9, front="energy,delay")

    def interrupt(recorder):
        if recorder.chunks == 6:
            raise KeyboardInterrupt

    with Checkpoint(tmp_path, {}) as file:
        assert search(*layer, options, None, interrupt, file.part(0)).statistics.interrupted
        resumed = search(*layer, options, part=file.part(0))
    assert told(resumed) == told(search(*layer, replace(options, prune=False)))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_most_mappings_need_no_counts(layer, objective):
    """Of 100,000 mappings at most one valid one in ten is counted, whatever the objective."""
    seen = []
    search(
        *layer,
        SearchOptions(strategy="random", samples=100_000, victory=10**9, objective=objective),
        progress=seen.append,
    )
    assert seen[-1].pruned > 0.9 * seen[-1].bounded > 0


def test_a_bound_too_high_is_noticed(layer, monkeypatch):
    """The comparison above can fail: a bound that is half again too high loses improvements."""
    monkeypatch.setattr(Pruning, "_between_pj", property(lambda self: 1.5 * self._ideal_pj))
    pruned, whole = both(*layer, SearchOptions(strategy="random", samples=50_000, victory=10**9, objective="energy"))
    assert pruned != whole


def test_a_bound_for_all_orders_too_high_is_noticed(monkeypatch):
    """Likewise of chains: a tenth too much loses improvements on a matrix product."""
    arch, work = load_arch("linear_5"), load_workload("matmul_100")
    space, table = Mapspace(arch, work, "pfm"), energy_table(arch)
    for module in (score, proposer, exhaustive):
        monkeypatch.setattr(module, "CHUNK", 64)
    options = SearchOptions(strategy="exhaustive", objective="energy", samples=10_000)
    whole = told(search(space, table, replace(options, prune=False)))
    assert told(search(space, table, options)) == whole
    relaxed = Pruning._relaxed
    monkeypatch.setattr(Pruning, "_relaxed", lambda self, batch: relaxed(self, batch) * 1.1)
    assert told(search(space, table, options)) != whole


def test_skipped_orders_are_counted_by_their_reasons():
    """Of chains ruled out at once every loop order still counts as evaluated, valid or not."""
    arch, work = load_arch("linear_5"), load_workload("matmul_100")
    seen = []
    options = SearchOptions(strategy="exhaustive")
    found = search(Mapspace(arch, work, "ruby-s"), energy_table(arch), options, progress=seen.append)
    statistics = found.statistics
    assert statistics.evaluated == Mapspace(arch, work, "ruby-s").size.total
    assert statistics.valid + sum(statistics.invalid.values()) == statistics.evaluated
    assert seen[-1].pruned > 0.5 * statistics.valid


def test_what_is_known_grows_by_what_a_chunk_found():
    """A later chunk must beat the best of those before it, and is told of points on the front that none covers."""
    values = np.array([[5.0, 1.0], [4.0, 9.0], [4.0, 8.0], [6.0, 1.0]])
    scores = Scores.of(0, np.zeros(4, np.int8), values, values)
    known = RecordThreshold().after(scores)
    assert known == RecordThreshold((4.0, 8.0), ((5.0, 1.0), (4.0, 9.0), (4.0, 8.0)))
    assert known.after(scores) == known


def test_batches_that_share_their_tables_are_joined(layer):
    """Mappings of two chunks in one batch are those of the two."""
    space, _ = layer
    one, two = (space.sample(np.random.default_rng(seed), 5) for seed in (0, 1))
    together = joined([one, two])
    assert together.factors.tolist() == [*one.factors.tolist(), *two.factors.tolist()]
    assert (validity(together) == np.concatenate([validity(one), validity(two)])).all()


def test_numbers_of_distinct_orders_have_their_own_validity():
    """Combinations of chains have different numbers of distinct orders: none takes the capacity of its neighbour."""
    level = Storage("buffer", "SRAM", capacity_bits=48, keep=frozenset(["Weights", "Inputs", "Outputs"]))
    arch = Architecture("small", (Storage("DRAM", "DRAM"), level), Compute("MAC", "intmac"))
    space = Mapspace(arch, shaped("conv2d", M=1, C=1, P=2, Q=1, R=2, S=1), "pfm", distinct=True)
    pruning = Pruning(space, no_energies(arch), ("delay",), (), Charges())
    looked = pruning.look_at_numbers(0, space.numbers, RecordThreshold())
    expected = validity(space.at(range(space.numbers)))
    assert looked.reasons.tolist() == expected.tolist()
    assert set(expected.tolist()) == {0, 1}
