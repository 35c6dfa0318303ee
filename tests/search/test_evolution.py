"""The evolution: its children belong to the mapspace, its populations find the best, its answer is that of its seed."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper.mapspace import Mapspace, sub_mapspace
from ruby_map.mapper.model import validity
from ruby_map.mapper.search import Observers, Task
from ruby_map.mapper.search.evolution.population import SIZES, Population
from ruby_map.mapper.search.evolution.population_spaces import PopulationSpaces
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.outcome import Ended
from ruby_map.mapper.search.variation import MappingSampler
from ruby_map.mapper.searchers import ignored_options
from ruby_map.mapper.searchers.start import search
from ruby_map.workloads import load_workload

from ..conftest import DEEP
from ..small_problems import best_of_all, problems, values_of


def evolve(space, table, costs=None, **options):
    """The outcome of an evolution."""
    return search(
        Task.of(space, table, SearchOptions(strategy="evolve", **options), *([costs] if costs else [])), Observers()
    )


def layer(arch, name, mapspace):
    machine = load_arch(arch)
    return Mapspace(machine, load_workload(name), mapspace), energy_table(machine)


@settings(max_examples=40)
@given(problems(), st.integers(0, 99))
def test_children_are_valid_mappings_of_the_mapspace(problem, seed):
    """Whatever variation does to bounds, orders and kept tensors, repair returns mappings, or drops them."""
    sampler, rng = MappingSampler(problem[0]), np.random.default_rng(seed)
    some = sampler.repair.fitted(sampler.drawn(rng, 200), rng, 64)
    for _ in range(3):
        assume(len(some))
        some = sampler.repair.fitted(sampler.variation.children(some, rng, 200), rng, 4)
        batch = sampler.repair.batch(some)
        assert not validity(batch).any()
        np.testing.assert_array_equal(batch.factors, some.bounds)
        assert all(0 <= number < sampler.space.size.total for number in sampler.space.index(batch))


@given(problems(), st.integers(0, 99))
def test_repair_leaves_mappings_that_are_valid_as_they_are(problem, seed):
    """So it loses none of the mapspace."""
    sampler, rng = MappingSampler(problem[0]), np.random.default_rng(seed)
    some = sampler.drawn(rng, 200)
    some = some.take(np.flatnonzero(validity(sampler.repair.batch(some)) == 0))
    fit = sampler.repair.fitted(some, rng, 0)
    np.testing.assert_array_equal(fit.bounds, some.bounds)


@given(st.integers(2, 10**7), st.integers(2, 600), st.integers(0, 99))
def test_variation_knows_the_primes_of_a_bound(large, small, seed):
    """Each is drawn as often as it divides."""
    variation = MappingSampler(layer("linear_5", "matmul_100", "pfm")[0]).variation
    for number in (large, small, 1):
        primes = variation._primes_of(number)
        assert np.prod(primes, dtype=object) == number
        assert all(prime % factor for prime in primes for factor in range(2, min(prime, 50)))
    assert set(variation.drawn_primes(np.array([12] * 200), np.random.default_rng(seed)).tolist()) == {2, 3}


@settings(max_examples=8 if DEEP else 3)
@given(problems(), st.integers(0, 9))
def test_an_evolution_finds_the_best_of_a_small_mapspace(problem, seed):
    """Of thousands of mappings it sees nearly all; it ends by itself, also where no mapping is valid."""
    space, table, objective, costs = problem
    found, least = evolve(space, table, costs, objective=objective, seed=seed, give_up=5_000), best_of_all(*problem)
    if found.best is None:
        assert np.isinf(least)
        assert found.statistics.ended == (Ended.NOTHING_VALID,)
    else:
        assert values_of(found.best, table, objective, costs)[0] == pytest.approx(least, rel=1e-9)
        assert found.statistics.ended == (Ended.SETTLED,)


@pytest.mark.parametrize(("mapspace", "best"), [("ruby-s", 2.90535e14), ("ruby", 2.8943e14)])
def test_an_evolution_finds_what_is_proven_best_or_the_best_known(mapspace, best):
    """The best of ruby-s is certified; of ruby no better one is known."""
    found = evolve(*layer("simba_like", "resnet50/conv4_x_3x3", mapspace), samples=150_000 if DEEP else 45_000)
    assert found.statistics.trace[-1][1] <= best * 1.002


def test_a_population_of_ruby_is_never_worse_than_the_one_of_ruby_s_it_comes_from():
    """It starts with its survivors, all of which are mappings of ruby."""
    space, table = layer("eyeriss_like", "resnet50/conv4_x_3x3", "ruby")
    population = Population(PopulationSpaces(Task.of(space, table, SearchOptions(strategy="evolve"))), 0)
    while population.stage == 0:
        population.generation(0)
    before = population.values.copy()
    assert len(before) == SIZES.survivors
    for _ in range(3):
        population.generation(0)
        assert (population.values <= before).all()


@pytest.mark.parametrize(
    ("mapspace", "inside"), [("ruby", "ruby-s"), ("ruby-t", "pfm"), ("ruby-s", None), ("pfm", None)]
)
def test_the_mapspace_inside_a_mapspace(mapspace, inside):
    """All its mappings are mappings of the larger one."""
    space, _ = layer("linear_5", "matmul_100", mapspace)
    found = sub_mapspace(space)
    if inside is None:
        assert found is None
    else:
        assert found.remainders == layer("linear_5", "matmul_100", inside)[0].remainders
        space.index(found.sample(np.random.default_rng(0), 1_000))


@pytest.mark.parametrize("front", ["", "energy,delay"])
def test_pruning_changes_no_answer(front):
    """Children ruled out by a bound would not have survived."""
    space, table = layer("eyeriss_like", "resnet50/conv4_x_1x1a", "ruby-s")
    runs = [evolve(space, table, samples=20_000, front=front, prune=prune) for prune in (True, False)]
    assert runs[0].statistics.trace == runs[1].statistics.trace
    assert [batch.factors.tolist() for batch in runs[0].front] == [batch.factors.tolist() for batch in runs[1].front]


def test_a_front_comes_near_the_proven_one():
    """Populations in turn minimise the objective and each axis."""
    space, table = layer("linear_16", "matmul_100", "ruby-s")
    task = Task.of(space, table, SearchOptions(strategy="optimal", front="energy,delay"))
    proven = search(task, Observers())
    found = search(replace(task, options=replace(task.options, strategy="evolve")), Observers())
    assert proven.proof.corners == ()
    assert len(found.front) == len(proven.front)


def test_victory_is_not_a_rule_of_an_evolution():
    """It ends by itself; the fault says so."""
    (fault,) = ignored_options(SearchOptions(strategy="evolve", victory=10), {"victory"})
    assert "populations" in fault.message
