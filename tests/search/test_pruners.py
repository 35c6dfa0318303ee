"""dMazeRunner's pruners against plain loops over mappings of small mapspaces; what a search says where none is left."""

import importlib
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper.exploration import explore
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model import validity
from ruby_map.mapper.search import Task
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.outcome import Ended
from ruby_map.mapper.search.variation import MappingSampler
from ruby_map.mapper.searchers import STRATEGIES
from ruby_map.mapper.searchers.pruned import Pruners, Reuse, enough_used, plain_dram, sliding
from ruby_map.workloads import load_workload, shaped

from ..conftest import DEEP
from ..searches import search
from ..small_problems import best_of_all, problems, uneven_problems, values_of

MOST = 200  # mappings looked at one by one


def benchmark():
    """The script that measures what pruners remove and lose."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
        return importlib.import_module("bench_pruners")


def some_of(space):
    return next(space.batches(size=MOST))


def reuses_one(batch, i):
    """Whether loops at level 0 reuse a tensor fully, by looking at them in turn, the innermost first."""
    workload, inner = batch.workload, []
    for d in reversed(batch.order[i, 0].tolist()):
        if batch.factors[i, 0, d] > 1:
            inner.append(workload.dims[d])
    spare = [sum(dim not in tensor.dims for dim in inner) for tensor in workload.tensors]
    full = [
        number and all(dim not in tensor.dims for dim in inner[:number])
        for number, tensor in zip(spare, workload.tensors, strict=True)
    ]
    return any(full) or not any(spare)


@settings(max_examples=20)
@given(problems())
def test_pruners_of_use_and_dram_leave_what_they_say(problem):
    batch = some_of(problem[0])
    arch, workload = batch.arch, batch.workload
    axes = [s for s, slot in enumerate(arch.slots) if slot.axis]
    units = prod(arch.slots[s].axis.size for s in axes)
    used, plain, slides = enough_used(batch, 0.5), plain_dram(batch), sliding(batch)
    assert set(slides) == {"R", "S"} & set(workload.dims)
    for i in range(len(batch)):
        assert used[i] == (2 * batch.factors[i][axes].prod() >= units)
        whole = all(batch.factors[i, 0, workload.dims.index(dim)] == 1 for dim in slides)
        assert plain[i] == (whole and reuses_one(batch, i))


@settings(max_examples=12 if DEEP else 8)
@given(problems())
def test_the_pruner_of_reuse_leaves_tiles_that_cannot_grow(problem):
    """It drops a mapping just where another has a smallest prime at the innermost loop, not at the nearest."""
    space = problem[0]
    batch = some_of(space)
    batch = batch.take(np.flatnonzero(validity(batch) == 0)[:25])
    assume(len(batch))
    temporal = [s for s, slot in enumerate(space.arch.slots) if slot.axis is None]
    grows = np.zeros(len(batch), bool)
    for i, d in product(range(len(batch)), range(len(space.workload.dims))):
        bounds, rules = batch.factors[i].copy(), space.rules.of_dim(d)
        own = [s for s in temporal if s == 0 or rules[s].hi > 1]
        looped = [s for s in own[:-1] if bounds[s, d] > 1]
        if looped:
            prime = next(p for p in range(2, 999) if bounds[looped[-1], d] % p == 0)
            bounds[looped[-1], d] //= prime
            bounds[own[-1], d] *= prime
            other = type(batch).of(batch.arch, batch.workload, bounds[None], batch.order[[i]], batch.keep[[i]])
            grows[i] |= is_of(space, other) and not validity(other)[0]
    np.testing.assert_array_equal(Reuse(MappingSampler(space)).full(batch), ~grows)


def is_of(space, batch):
    """Whether a mapping is one of the mapspace."""
    try:
        return 0 <= space.index(batch)[0] < space.size.total
    except (ValueError, KeyError):
        return False


@settings(max_examples=6 if DEEP else 3)
@given(problems(), uneven_problems())
def test_effects_count_what_is_removed_and_lost(problem, uneven):
    pruner_effects = benchmark().pruner_effects
    for space, table, objective, costs in (problem, uneven):
        task = Task.of(space, table, SearchOptions(objective=objective), costs)
        effects = pruner_effects(task, 0.5)
        least = best_of_all(space, table, objective, costs)
        if np.isinf(least):
            assert effects == []
            continue
        assert [effect.pruner for effect in effects] == ["utilization", "dram", "reuse", "all"]
        batch = next(space.batches(size=10**6))
        values = values_of(batch, table, objective, costs)
        left = Pruners(0.5, dram=False, reuse=False).survivors(MappingSampler(space), batch)
        expected = np.flatnonzero(np.isfinite(values) & enough_used(batch, 0.5))
        np.testing.assert_array_equal(left, expected)
        assert effects[0].removed == pytest.approx(1 - len(left) / np.isfinite(values).sum())
        assert effects[-1].removed >= max(effect.removed for effect in effects[:3])
        assert all(effect.loss >= 1 for effect in effects)


def test_pruners_lose_nothing_on_the_documented_mapspace():
    """The first row of the table in docs/searchers.md."""
    machine = load_arch("linear_5")
    space = Mapspace(machine, load_workload("matmul_100"), "pfm", distinct=True)
    effects = benchmark().pruner_effects(Task.of(space, energy_table(machine), SearchOptions()), 0.8)
    assert [f"{effect.removed:.2%}" for effect in effects] == ["39.62%", "0.00%", "84.42%", "90.78%"]
    assert all(effect.loss == pytest.approx(1) for effect in effects)


def test_switched_off_it_draws_what_random_draws():
    machine = load_arch("linear_5")
    space, table = Mapspace(machine, load_workload("matmul_100"), "ruby-s"), energy_table(machine)
    off = {"utilization": 0, "dram": False, "reuse": False}
    best = [
        search(space, table, SearchOptions(strategy=name, settings=own, valid=20_000, victory=10**9)).best
        for name, own in (("random", {}), ("pruned", off))
    ]
    np.testing.assert_array_equal(best[0].factors, best[1].factors)


def test_a_search_whose_draws_are_all_pruned_ends_and_says_so():
    """Q of 5 on six elements leaves at least one idle."""
    options = SearchOptions(strategy="pruned", settings={"utilization": 1})
    found = explore("toy_6pe_linear", shaped("rank1", D=5), "ruby-s", options)
    assert found.statistics.ended == (Ended.NOTHING_PROPOSED,)
    assert "left none of the mappings drawn: ask for less with --settings" in str(found)
    task = Task.of(Mapspace(load_arch("toy_6pe_linear"), shaped("rank1", D=5), "ruby-s"), found.table, options)
    assert len(STRATEGIES["pruned"].configured("utilization=1").first_batch(task))
