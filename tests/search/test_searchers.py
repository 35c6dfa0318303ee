"""The searchers anneal, genetic and sketch: their steps, one by one, on small mapspaces."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.problem import Charges
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.outcome import Ended
from ruby_map.mapper.search.proposer import Scored
from ruby_map.mapper.search.variation import Individuals, log_change, packed, ranked, ranked_apart, sampler_of, unpacked
from ruby_map.mapper.searchers import STRATEGIES
from ruby_map.mapper.searchers.anneal import Anneal
from ruby_map.mapper.searchers.genetic import Genetic
from ruby_map.mapper.searchers.option_faults import ignored_options, option_faults
from ruby_map.mapper.searchers.sketch import Sketch, Sketches
from ruby_map.workloads import InputError, load_workload, shaped

from ..conftest import DEEP
from ..searches import search
from ..small_problems import best_of_all, constrained_problems, problems, uneven_problems, values_of

LEARNING = {"anneal": Anneal(chains=40), "genetic": Genetic(population=40), "sketch": Sketch(sketches=6, samples=40)}
each_searcher = pytest.mark.parametrize("name", LEARNING)
RNG = np.random.default_rng


def generations(proposer, problem, seed, number):
    """The memory before, the batch and the values of some generations; each memory goes through JSON."""
    space, table, objective, costs = problem
    memory = proposer.begin(space, seed)
    for chunk in range(number):
        memory = json.loads(json.dumps(memory))
        batch = proposer.propose(space, seed, memory, chunk).arranged()
        values = values_of(batch, table, objective, costs)[:, None]
        yield memory, batch, values
        memory = proposer.learn(space, memory, [Scored(chunk, batch, values)])
    yield memory, None, None


def layer(arch="eyeriss_like", name="resnet50/conv4_x_1x1a", mapspace="ruby-s"):
    machine = load_arch(arch)
    return Mapspace(machine, load_workload(name), mapspace), energy_table(machine)


@each_searcher
@settings(max_examples=9)
@given(st.one_of(problems(), constrained_problems(), uneven_problems()), st.integers(0, 99))
def test_every_proposed_mapping_is_one_of_the_mapspace(name, problem, seed):
    """In every generation; the same memory proposes the same."""
    space, proposer = problem[0], LEARNING[name]
    for chunk, (memory, batch, _) in enumerate(generations(proposer, problem, seed, 3)):
        if batch is None:
            break
        assert len(batch)
        assert all(0 <= number < space.size.total for number in space.index(batch))
        again = proposer.propose(space, seed, memory, chunk).arranged()
        assert space.index(again) == space.index(batch)


@given(arrays.arrays(st.sampled_from([np.int64, np.int8, np.float64]), arrays.array_shapes(min_side=0, max_dims=3)))
def test_arrays_as_text_are_read_as_they_were(values):
    np.testing.assert_array_equal(unpacked(json.loads(json.dumps(packed(values)))), values)


PAIRS = st.tuples(*[st.tuples(*[st.sampled_from([0.0, 1.0, 1.5, 2.0])] * 2)] * 2)  # of rows of two objectives


@given(st.lists(PAIRS, min_size=1))
def test_values_are_ranked_by_objectives_in_turn(pairs):
    before, after = (np.array(column) for column in zip(*pairs, strict=True))
    assert before[ranked(before)].tolist() == sorted(before.tolist())
    assert before[ranked_apart(before)].tolist() == sorted(map(list, {pair[0] for pair in pairs}))
    expected = [(new > old) - (new < old) for old, new in pairs]
    assert np.sign(log_change(before, after)).tolist() == expected
    assert (log_change(before, np.full_like(before, np.inf)) == np.inf).all()
    assert (log_change(np.full_like(before, np.inf), after) == -np.inf).all()
    assert (log_change(np.full_like(before, np.inf), np.full_like(after, np.inf)) == 0).all()


# anneal


@settings(max_examples=15)
@given(problems(), st.integers(0, 99))
def test_cold_chains_never_climb(problem, seed):
    """At temperature 0 each state is the best that its chain has proposed."""
    best = np.full(40, np.inf)
    for memory, _, values in generations(Anneal(chains=40, hot=0, cold=0), problem, seed, 5):
        if memory["values"] is not None:
            np.testing.assert_array_equal(unpacked(memory["values"])[:, 0], best)
        best = best if values is None else np.minimum(best, values[:, 0])


def test_chains_climb_as_metropolis_says():
    """A rise of ln(objective) by d is accepted with probability exp(-d / T)."""
    anneal, n = Anneal(hot=0.5, cold=0.5), 40_000
    for rise in (0.1, 0.5, 1.5):
        before, after = np.ones((n, 1)), np.full((n, 1), np.exp(rise))
        share = anneal._accepts({"seed": 3, "steps": 7}, before, after).mean()
        assert share == pytest.approx(np.exp(-rise / 0.5), abs=0.01)
    assert not anneal._accepts({"seed": 3, "steps": 7}, np.ones((9, 1)), np.full((9, 1), np.inf)).any()


def test_the_temperature_falls_and_rises_again():
    anneal = Anneal(hot=0.4, cold=0.1, period=3)
    assert [anneal.temperature(step) for step in range(4)] == pytest.approx([0.4, 0.2, 0.1, 0.4])
    with pytest.raises(InputError, match="cold must be at most hot"):
        anneal.configured("hot=0.1,cold=0.2")


# genetic


@settings(max_examples=15)
@given(problems(), st.integers(0, 99))
def test_elites_live_on(problem, seed):
    """A population has the best values so far, one mapping of each, until a new one begins."""
    space, table, objective, costs = problem
    least = np.inf
    for memory, _, values in generations(Genetic(population=40, elites=0.1, idle=99), problem, seed, 5):
        if memory["population"] is not None:
            own = unpacked(memory["values"])[:, 0]
            assert own[0] == least
            assert (np.diff(own) > 0).all()
            batch = sampler_of(space).batch(Individuals.of_packed(memory["population"]))
            np.testing.assert_array_equal(values_of(batch, table, objective, costs), own)
        least = least if values is None else min(least, values.min())


def test_a_population_that_no_longer_improves_gives_way():
    """A mapspace of few mappings brings nothing new after the first generations."""
    machine = load_arch("linear_5")
    space = Mapspace(machine, shaped("matmul", M=2, N=1, K=1), "pfm")
    problem = (space, energy_table(machine), "edp", Charges())
    memories = [memory for memory, _, _ in generations(Genetic(population=40, idle=2), problem, 0, 12)]
    assert sum(memory["population"] is None for memory in memories) >= 3


@settings(max_examples=40)
@given(problems(), st.integers(0, 99))
def test_operators_change_what_they_say(problem, seed):
    """Loops keep their products as factors move; ageing empties an axis, growth begins with an idle one."""
    sampler, rng = sampler_of(problem[0]), RNG(seed)
    some, who = sampler.drawn(rng, 60), np.arange(60)
    axes = np.array([slot.spatial for slot in sampler.space.arch.slots])
    sizes = np.array(sampler.space.workload.sizes)
    for name in ("move_factor", "draw_tile", "move_parallel", "grow", "age"):
        bounds = some.bounds.copy()
        getattr(sampler.moves, name)(bounds, who, rng)
        changed = bounds != some.bounds
        if name in ("move_factor", "draw_tile"):
            assert not changed[:, axes].any()
        if name != "draw_tile" and (some.bounds.prod(axis=1) == sizes).all():  # else a bound may be clipped
            np.testing.assert_array_equal(bounds.prod(axis=1), some.bounds.prod(axis=1))
        if name == "grow":
            assert (some.bounds[:, axes].prod(axis=2)[changed[:, axes].any(axis=2)] == 1).all()
        if name == "age":
            assert (bounds[:, axes].prod(axis=2)[changed[:, axes].any(axis=2)] == 1).all()
        if name not in ("age", "draw_tile"):
            assert (changed.sum(axis=(1, 2)) <= 2).all()


# sketch


@settings(max_examples=25)
@given(problems(), st.integers(0, 99))
def test_annotations_keep_to_their_sketch(problem, seed):
    """Drawn or evolved: orders and kept tensors are those of the sketch, and no axis has other dims."""
    sampler, rng = sampler_of(problem[0]), RNG(seed)
    sketches, of = Sketches.drawn(sampler, rng, 5), np.arange(50) % 5
    drawn = sketches.annotated(of, rng)
    for some in (drawn, sketches.evolved(of, drawn, np.arange(50), np.arange(50) // 5 * 5 + of, rng)):
        np.testing.assert_array_equal(some.order, sketches.examples.order[of])
        np.testing.assert_array_equal(some.keep, sketches.examples.keep[of])
        assert sketches.spreads[of][some.bounds > 1].all()


def test_the_better_half_of_the_sketches_stays():
    """Each round, until one is left, which is the sketch of the best mapping; then a bracket begins near it."""
    space, table = layer()
    problem, sketch = (space, table, "edp", Charges()), Sketch(sketches=8, samples=256, idle=2)
    sizes, least = [], np.inf
    for memory, _, values in generations(sketch, problem, 1, 12):
        left = Individuals.of_packed(memory["sketches"])
        sizes.append(len(left))
        if memory["members"] is not None:
            members, of = Individuals.of_packed(memory["members"]), unpacked(memory["of"])
            assert memory["best"] == least
            assert (np.bincount(of) <= sketch.members).all()
            np.testing.assert_array_equal(members.order, left.order[of])
        least = least if values is None else min(least, values.min())
        if sizes[1:] and len(left) == 8:
            assert memory["winners"] is not None
            break
    assert sizes[:4] == [8, 4, 2, 1]
    assert sizes[-1] == 8


# whole searches


@each_searcher
@settings(max_examples=6 if DEEP else 3)
@given(problems(most=100), st.integers(0, 9))
def test_a_searcher_finds_the_best_of_a_small_mapspace(name, problem, seed):
    """With so many mappings it draws nearly all; of sketches only small brackets, and few near others, draw many."""
    space, table, objective, costs = problem
    own = {"sketches": 64, "samples": 64, "near": 0.2} if name == "sketch" else {}
    options = SearchOptions(strategy=name, objective=objective, seed=seed, samples=10_000, give_up=3_000, settings=own)
    found, least = search(space, table, options, costs), best_of_all(*problem)
    if found.best is None:
        assert np.isinf(least)
    else:
        assert values_of(found.best, table, objective, costs)[0] == pytest.approx(least, rel=1e-9)


@each_searcher
def test_a_searcher_beats_random_draws(name):
    """With as many mappings, in ruby, where few draws are good."""
    space, table = layer(mapspace="ruby")
    best = {}
    for strategy in ("random", name):
        options = SearchOptions(strategy=strategy, samples=24_000, victory=10**9, seed=2)
        best[strategy] = values_of(search(space, table, options).best, table, "edp", Charges())[0]
    assert best[name] < 0.9 * best["random"]


@each_searcher
@pytest.mark.parametrize("sizes", [{"M": 4096, "N": 4096, "K": 4096}, {"M": 10**6 + 3, "N": 30, "K": 5040}])
def test_a_searcher_knows_no_list_of_chains(name, sizes):
    """Of large dims, with free choices of what is kept, and several objectives."""
    machine = load_arch("eyeriss_like")
    space = Mapspace(machine, shaped("matmul", **sizes), "ruby")
    assert not space.listed
    options = SearchOptions(strategy=name, objective="delay,energy", front="energy,delay", samples=2_000)
    found = search(space, energy_table(machine), options)
    assert 0 <= space.index(found.best)[0] < space.size.total
    assert len(found.front)


@each_searcher
def test_a_searcher_ends_by_itself_and_says_what_it_ignores(name):
    machine = load_arch("toy_6pe_linear")
    space = Mapspace(machine, load_workload("rank1_100"), "pfm")
    found = search(space, energy_table(machine), SearchOptions(strategy=name))
    assert found.statistics.ended == (Ended.VICTORY,)
    (fault,) = ignored_options(SearchOptions(strategy=name, victory=5), ["victory"])
    assert "leave this out, or use patience" in fault.message
    assert option_faults(SearchOptions(strategy=name, settings="nonsense=1"))
    assert not STRATEGIES[name].shares


def test_individuals_are_replaced_where_they_are_named():
    sampler = sampler_of(layer()[0])
    some, others = sampler.drawn(RNG(0), 6), sampler.drawn(RNG(1), 2)
    before = replace(some, bounds=some.bounds.copy())
    new = some.replaced(np.array([4, 1]), others)
    np.testing.assert_array_equal(new.bounds[[4, 1]], others.bounds)
    np.testing.assert_array_equal(new.bounds[[0, 2, 3, 5]], before.bounds[[0, 2, 3, 5]])
    np.testing.assert_array_equal(some.bounds, before.bounds)
