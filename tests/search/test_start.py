"""Mappings that a search begins with: what it can use of them, and that its answer is never worse."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper.mapping import MappingBatch
from ruby_map.mapper.mapspace import Mapspace, inside
from ruby_map.mapper.model import validity
from ruby_map.mapper.search import Observers, Task
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.searchers import STRATEGIES, search
from ruby_map.workloads import InputError, load_workload, shaped

from ..conftest import DEEP
from ..small_problems import best_of_all, problems, uneven_problems, values_of

each_strategy = pytest.mark.parametrize("name", STRATEGIES)


def told(outcome):
    """All that a search says but its time."""
    batches = [(b.factors.tolist(), b.order.tolist(), b.keep.tolist()) for b in (outcome.best, *outcome.front) if b]
    return batches, replace(outcome.statistics, seconds=0.0), outcome.lower_bound, outcome.optimal


def every(space):
    return space.at(range(space.size.total))


def effect(batch):
    """What each mapping does: bounds, loops over 1 in their order, kept tensors."""
    loops = [
        [[d for d in order if bounds[d] > 1] for order, bounds in zip(orders, temporal, strict=True)]
        for orders, temporal in zip(batch.order.tolist(), _temporal(batch), strict=True)
    ]
    return list(zip(batch.factors.tolist(), loops, batch.keep.tolist(), strict=True))


def _temporal(batch):
    return batch.factors[:, [i for i, slot in enumerate(batch.arch.slots) if not slot.spatial]].tolist()


@settings(max_examples=15 if DEEP else 8)
@given(st.one_of(problems(), uneven_problems()), st.sampled_from(["pfm", "ruby-s", "ruby-t", "ruby"]), st.data())
def test_a_mapspace_has_those_mappings_of_another_that_it_lists(problem, preset, data):
    """Whatever the remainders, and wherever loops of bound 1 stand."""
    space = problem[0]
    try:
        other = Mapspace(space.arch, space.workload, preset, distinct=data.draw(st.booleans()))
    except InputError:
        assume(False)
    assume(other.size.total <= 2_000)
    batch = every(space).take(np.arange(space.size.total)[:100])
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    found = inside(other, moved_units(batch, rng))
    listed = {repr(each) for each in effect(every(other))}
    assert effect(found) == [each for each in effect(batch) if repr(each) in listed]
    assert all(0 <= number < other.size.total for number in other.index(found))


def moved_units(batch, rng):
    """The same mappings with their loops of bound 1 elsewhere."""
    order = batch.order.copy()
    for level, slot in enumerate(i for i, slot in enumerate(batch.arch.slots) if not slot.spatial):
        for i, loops in enumerate(order[:, level].tolist()):
            over = iter([d for d in loops if batch.factors[i, slot, d] > 1])
            mixed = rng.permutation(loops).tolist()
            order[i, level] = [next(over) if batch.factors[i, slot, d] > 1 else d for d in mixed]
    return MappingBatch.of(batch.arch, batch.workload, batch.factors, order, batch.keep)


@each_strategy
@settings(max_examples=10 if DEEP else 2)
@given(problems(), st.integers(0, 99))
def test_no_answer_is_worse_than_what_the_search_began_with(name, problem, seed):
    """With the best of all among what is given, that is the answer; mappings that are invalid do not matter."""
    space, table, objective, costs = problem
    least = best_of_all(space, table, objective, costs)
    assume(np.isfinite(least))
    batch = every(space)
    best = int(values_of(batch, table, objective, costs).argmin())
    some = np.random.default_rng(seed).integers(0, space.size.total, 20).tolist()
    start = batch.take([*some, best])
    stop = {} if STRATEGIES[name].proves else {"samples": 1}
    found = search(Task.of(space, table, SearchOptions(name, objective, **stop), costs, start), Observers())
    assert validity(found.best)[0] == 0
    assert values_of(found.best, table, objective, costs)[0] == pytest.approx(least, rel=1e-9)
    assert found.optimal == STRATEGIES[name].proves


def layer(mapspace):
    arch = load_arch("linear_5")
    return Mapspace(arch, load_workload("matmul_100"), mapspace), energy_table(arch)


@pytest.mark.parametrize("mapspace", ["pfm", "ruby"])
def test_an_evolution_records_what_it_began_with_and_says_the_same_for_any_number_of_processes(mapspace):
    """It is the first record, and a value that the first population has to beat."""
    space, table = layer(mapspace)
    options = SearchOptions("evolve", samples=3_000, front="energy,delay")
    some, inner = space.sample(np.random.default_rng(1), 5_000), layer("pfm")[0]
    some = some.take(np.flatnonzero(validity(some) == 0))
    best = next(
        one for one in map(some.take, np.arange(len(some))[:, None]) if (mapspace == "pfm") == len(inside(inner, one))
    )
    task = Task.of(space, table, options, start=best)
    outcomes = [search(replace(task, options=replace(options, jobs=jobs)), Observers()) for jobs in (1, 2)]
    (value,) = values_of(best, table, "edp", task.charges)
    assert outcomes[0].statistics.trace[0] == (1, value)
    assert told(outcomes[0]) == told(outcomes[1])


def test_an_order_that_a_constraint_excludes_is_not_in_the_mapspace():
    """Loops over 1 stay in their order; where those of bound 1 stand does not matter."""
    free = load_arch("linear_5")
    first = replace(free.levels[0], temporal=replace(free.levels[0].temporal, outermost=("N",)))
    bound = replace(free, levels=(first, *free.levels[1:]))
    batch = every(Mapspace(free, shaped("matmul", M=2, N=2, K=1), "pfm"))
    found = inside(Mapspace(bound, batch.workload, "pfm"), batch)
    loops = [loops[0] for _, loops, _ in effect(batch)]
    n = batch.workload.dims.index("N")
    assert effect(found) == [each for each, own in zip(effect(batch), loops, strict=True) if n not in own[1:]]
    assert 0 < len(found) < len(batch)


def test_a_mapping_that_the_mapspace_lacks_is_left_out():
    """What ruby has is no answer of pfm."""
    space, table = layer("ruby")
    options = SearchOptions("evolve", samples=20_000)
    best = search(Task.of(space, table, options), Observers()).best
    inner, _ = layer("pfm")
    assert not len(inside(inner, best))
    alone, begun = (search(Task.of(inner, table, options, start=start), Observers()) for start in (None, best))
    assert told(alone) == told(begun)


def test_an_interrupted_search_still_answers_what_it_began_with():
    """Ctrl-C before the first chunk."""
    space, table = layer("pfm")
    best = search(Task.of(space, table, SearchOptions("evolve", samples=5_000)), Observers()).best
    calls = itertools.count()

    def interrupt(recorder):
        next(calls)
        raise KeyboardInterrupt

    task = Task.of(space, table, SearchOptions("random", samples=1), start=best)
    found = search(task, Observers(interrupt))
    assert next(calls) == 1
    assert found.statistics.interrupted
    assert values_of(found.best, table, "edp", task.charges) <= values_of(best, table, "edp", task.charges)


@pytest.mark.parametrize("strategy", ["auto", "optimal"])
def test_a_proof_that_begins_with_a_poor_mapping_finds_what_it_finds_from_nothing(strategy):
    """Evolution bred from it finds the best later, and the proof takes more steps. It is an incumbent, and no more."""
    space, table = layer("ruby-t")
    some = space.sample(np.random.default_rng(2), 5_000)
    some = some.take(np.flatnonzero(validity(some) == 0))
    task = Task.of(space, table, SearchOptions(strategy))
    values = values_of(some, table, "edp", task.charges)
    poor = some.take([int(values.argmax())])
    alone, begun = (search(replace(task, start=start), Observers()) for start in (None, poor))
    assert begun.statistics.evaluated == alone.statistics.evaluated
    assert begun.statistics.trace[1:] == [own for own in alone.statistics.trace if own[1] < values.max()]
    assert begun.optimal
