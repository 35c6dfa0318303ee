"""Searchers that learn: what they propose, what they learn from, and the models they learn."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from ruby_map.arch import load_arch, placed
from ruby_map.energy import energy_table
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model import evaluate, validity
from ruby_map.mapper.search import Observers, Task
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.outcome import Ended
from ruby_map.mapper.search.proposer import Scored
from ruby_map.mapper.search.variation import Individuals
from ruby_map.mapper.searchers import STRATEGIES
from ruby_map.mapper.searchers.learners import Bayes, Gbt, Surrogate, packages
from ruby_map.mapper.searchers.learners.bayes import Posterior, batch_by_lies, improvement, posterior
from ruby_map.mapper.searchers.learners.candidates import drawn, sampler_of
from ruby_map.mapper.searchers.learners.embedding import embedded, order_scores
from ruby_map.mapper.searchers.learners.gbt import diverse, learnt, pair_gradient, pair_signs
from ruby_map.mapper.searchers.learners.history import log_targets, ranks_of
from ruby_map.mapper.searchers.learners.nests import NO_LOOP, keys_of, loops_in_order
from ruby_map.mapper.searchers.learners.neural_net import NeuralNet, trained
from ruby_map.mapper.searchers.learners.relations import THRESHOLDS, Relations
from ruby_map.mapper.searchers.learners.samples import Columns, samples, similar
from ruby_map.mapper.searchers.learners.surrogate import _sorted, descend
from ruby_map.mapper.searchers.option_faults import option_faults
from ruby_map.mapper.searchers.start import search
from ruby_map.workloads import load_workload, shaped

from ..conftest import DEEP
from ..small_problems import constrained_problems, problems, uneven_problems, values_of

NONE = np.empty(0, np.uint64)
LEARNERS = {
    "gbt": Gbt(batch=12, steps=3, trees=5, chains=8),
    "gbt of configurations": Gbt(batch=12, steps=3, trees=5, chains=8, features="config"),
    "surrogate": Surrogate(batch=12, pretrain=0, epochs=20, refine=10, starts=12, steps=6),
    "bayes": Bayes(batch=12, candidates=24),
    "bayes with categories": Bayes(batch=12, candidates=24, orders="categories"),
}
each_variant = pytest.mark.parametrize(
    "learner",
    [
        pytest.param(row, id=name, marks=pytest.mark.skipif(bool(row.missing()), reason=str(row.missing())))
        for name, row in LEARNERS.items()
    ],
)
each_learner = pytest.mark.parametrize(
    "learner",
    [
        pytest.param(row, id=name, marks=pytest.mark.skipif(bool(row.missing()), reason=str(row.missing())))
        for name, row in LEARNERS.items()
        if name in STRATEGIES
    ],
)
needs_xgboost = pytest.mark.skipif(bool(Gbt().missing()), reason="needs xgboost")
needs_sklearn = pytest.mark.skipif(bool(Bayes().missing()), reason="needs scikit-learn")


@pytest.fixture
def in_full():
    """Gives a learner its defaults again, but for the size of batches."""

    def restored(learner):
        kept = {name: getattr(learner, name) for name in ("features", "orders", "pretrain") if hasattr(learner, name)}
        return replace(type(learner)(), batch=40, **kept)

    return restored


def layer(arch="linear_5", name="matmul_100", mapspace="ruby-s"):
    machine = load_arch(arch)
    return Mapspace(machine, load_workload(name), mapspace), energy_table(machine)


def some_of(space, n=100, seed=0):
    """Valid mappings drawn at random."""
    return drawn(sampler_of(space), np.random.default_rng(seed), n, NONE)


def generations(learner, space, values, n):
    """The batches and memories of `n` generations; `values` scores a batch. Memories come from JSON, as from disk."""
    memory, found = learner.begin(space, 7), []
    for chunk in range(n):
        memory = json.loads(json.dumps(memory))
        batch = learner.propose(space, 7, memory, chunk)
        found.append((batch, memory))
        memory = learner.learn(space, memory, [Scored(chunk, batch, values(batch)[:, None])])
    return found


@each_variant
@settings(max_examples=5 if DEEP else 3, deadline=None)
@given(st.one_of(problems(), constrained_problems(), uneven_problems()))
def test_a_learner_proposes_valid_mappings_and_none_twice(learner, problem):
    """In every mapspace; where it finds no new one it draws mappings, so that stop rules end the search."""
    space, table, objective, costs = problem
    seen = NONE
    for batch, memory in generations(learner, space, lambda batch: values_of(batch, table, objective, costs), 3):
        assert len(batch)
        assert all(0 <= number < space.size.total for number in space.index(batch))
        if memory["batch"] is None:
            assert len(batch) in (learner.batch, 8192)
            continue
        assert not validity(batch).any()
        keys = keys_of(space, Individuals(batch.factors, batch.order, batch.keep))
        assert len(np.unique(keys)) == len(keys) <= learner.batch
        assert not np.isin(keys, seen).any()
        seen = np.union1d(seen, keys)


@each_variant
def test_a_learner_avoids_what_the_cost_model_refuses(learner, in_full):
    """A cost model may refuse mappings that fit; here all that have large loops outside."""
    space, table = layer()
    limit = np.quantile(some_of(space, 200).bounds[:, 0].prod(axis=1), 0.3)

    def values(batch):
        return np.where(batch.factors[:, 0].prod(axis=1) > limit, np.inf, evaluate(batch, table).edp)

    refused = [np.isinf(values(batch)).mean() for batch, _ in generations(in_full(learner), space, values, 4)]
    assert refused[-1] < 0.5 * refused[0]


@each_learner
def test_a_learner_survives_a_cost_model_that_refuses_everything(learner):
    """It draws, and has nothing to learn from."""
    space, _ = layer()
    for batch, memory in generations(learner, space, lambda batch: np.full(len(batch), np.inf), 3):
        assert len(batch) == learner.batch
        assert memory["own"] is None


@each_learner
def test_a_learner_finds_better_mappings_than_draws(learner, in_full):
    """At as many mappings, on average over seeds."""
    space, table = layer("eyeriss_like", "conv_3x3x64")

    def values(batch):
        return evaluate(batch, table).edp

    found = min(values(batch).min() for batch, _ in generations(in_full(learner), space, values, 3))
    assert found < np.mean([values(some_of(space, 120, seed).batch(space)).min() for seed in range(5)])


@each_learner
def test_a_learner_takes_huge_dims(learner):
    """Chains that cannot be listed, counts beyond 2**53."""
    space = Mapspace(load_arch("linear_5"), shaped("matmul", M=10**9 + 7, N=2**10, K=3**10), "ruby")
    (first, _), (second, _) = generations(learner, space, lambda batch: np.arange(1.0, len(batch) + 1), 2)
    assert not validity(first).any()
    assert not validity(second).any()


@pytest.mark.parametrize("name", ["gbt", "surrogate", "bayes"])
def test_a_small_mapspace_is_seen_and_then_the_rules_end_the_search(name):
    """By repeated mappings, or by give-up where nothing is valid."""
    if LEARNERS[name].missing():
        pytest.skip("not installed")
    space, table = layer("toy_6pe_linear", "rank1_100", "pfm")
    options = SearchOptions(
        strategy=name, objective="delay,energy", victory=300, front="energy,delay", settings="batch=40"
    )
    found = search(Task.of(space, table, options), Observers())
    everything = search(Task.of(space, table, replace(options, strategy="exhaustive", settings="")), Observers())
    assert found.statistics.ended == (Ended.VICTORY,)
    assert found.statistics.trace[-1][1] == everything.statistics.trace[-1][1]
    assert len(found.front) == len(everything.front)
    machine, names = load_arch("toy_6pe_linear"), frozenset(tensor.name for tensor in space.workload.tensors)
    cramped = replace(machine, levels=(machine.levels[0], replace(machine.levels[1], capacity_bits=1, keep=names)))
    space = Mapspace(cramped, load_workload("rank1_100"), "pfm")
    ended = search(Task.of(space, table, replace(options, give_up=20_000)), Observers())
    assert ended.statistics.ended == (Ended.NOTHING_VALID,)


def test_a_package_that_is_not_installed_is_named(monkeypatch):
    """With the extra that brings it."""
    monkeypatch.setattr(packages, "find_spec", lambda name: None)
    for name, package, extra in (("gbt", "xgboost", "trees"), ("surrogate", "scikit-learn", "learn"),
                                 ("bayes", "scikit-learn", "learn")):  # fmt: skip
        (fault,) = option_faults(SearchOptions(strategy=name))
        expected = f"needs {package}, which is not installed: pip install 'ruby-map[{extra}]' brings it"
        assert (fault.source, fault.message) == ("search", expected)


# What is learnt from

_values = arrays.arrays(np.float64, st.tuples(st.integers(1, 20), st.integers(1, 2)),
                        elements=st.sampled_from([0.0, 1.0, 2.0, 1e12, np.inf]))  # fmt: skip


@given(_values)
def test_ranks_are_those_of_the_rows(values):
    """Lexicographically, equal rows alike, refusals last."""
    rows = [tuple(row) for row in values.tolist()]
    assert ranks_of(values).tolist() == [sorted(set(rows)).index(row) for row in rows]


@given(_values)
def test_targets_grow_with_costs_and_refusals_are_worst(values):
    targets, costs = log_targets(values[:, 0]), values[:, 0]
    assert np.isfinite(targets).all()
    for i, j in pairwise(np.argsort(costs, kind="stable")):
        assert targets[i] < targets[j] or costs[i] == costs[j] or np.isinf(costs).all()


# Embeddings and features


@settings(max_examples=12)
@given(problems())
def test_features_are_those_of_the_definition(problem):
    """Loop by loop: the maximum over loops whose other number is below a threshold, or at a level or inside."""
    space = problem[0]
    some, workload, slots = some_of(space, 5), space.workload, space.arch.slots
    assume(len(some))
    for row, own in zip(Relations(space).of(some), (some.take(slice(i, i + 1)) for i in range(len(some))), strict=True):
        extent, loops = dict.fromkeys(workload.dims, 1.0), []
        for s in reversed(range(len(slots))):
            dims = range(len(workload.dims)) if slots[s].spatial else own.order[0, slots[s].level].tolist()
            for d in reversed(dims):
                name, bound = workload.dims[d], int(own.bounds[0, s, d])
                extent[name] = min(extent[name] * bound, workload.sizes[d])
                words = np.log2([
                    np.prod([sum(t.coef * (extent[t.dim] - 1) for t in rank) + 1 for rank in tensor.ranks])
                    for tensor in workload.tensors
                ])  # fmt: skip
                inside = np.log2(list(extent.values())).sum()
                if bound > 1:
                    loops.append((slots[s].level, inside, words, inside - words))
        zero, expected = np.zeros(len(workload.tensors)), []
        for beta in np.log2(THRESHOLDS):
            expected.append(np.max([zero, *(words for _, inside, words, _ in loops if inside < beta)], axis=0))
            reuse = [np.where(words < beta, saved, 0.0) for _, _, words, saved in loops]
            expected.append(np.max([zero, *reuse], axis=0))
        for level in range(len(space.arch.levels)):
            for part in (2, 3):
                expected.append(np.max([zero, *(loop[part] for loop in loops if loop[0] >= level)], axis=0))
        expected = np.concatenate(expected)
        np.testing.assert_allclose(row[: len(expected)], expected, atol=1e-9)


@settings(max_examples=12)
@given(problems())
def test_scores_say_the_loop_orders(problem):
    """Sorting by them gives the loops in order again; keys tell nests apart, and only those."""
    space = problem[0]
    some = some_of(space, 50)
    assume(len(some))
    again = replace(some, order=_sorted(space, order_scores(space, some), some.order))
    np.testing.assert_array_equal(loops_in_order(space, again), loops_in_order(space, some))
    np.testing.assert_array_equal(keys_of(space, again), keys_of(space, some))
    nests = {
        (row.tobytes(), loops.tobytes(), keep.tobytes())
        for row, loops, keep in zip(some.bounds, loops_in_order(space, some), some.keep, strict=True)
    }
    assert len(np.unique(keys_of(space, some))) == len(nests)


def test_orders_as_categories_are_at_equal_distances():
    space, _ = layer()
    some = some_of(space, 30)
    loops = loops_in_order(space, some)
    assert (loops != NO_LOOP).any()
    columns = embedded(space, some, "categories")
    start, end = some.bounds[0].size, columns.shape[1] - some.keep[0].size
    distances = ((columns[:, None, start:end] - columns[None, :, start:end]) ** 2).sum(axis=2)
    differ = (loops[:, None] != loops[None, :]).any(axis=3).sum(axis=2)  # levels
    np.testing.assert_allclose(distances, differ)


# Models


def pair_loss(predicted, order):
    """Compute equation 2, as a mean over pairs of different cost: log(1 + exp(-sign(c_i - c_j) (f_i - f_j)))."""
    gaps = -order * (predicted[:, None] - predicted[None, :])
    return float((np.logaddexp(0.0, gaps) * (order != 0)).sum() / max(1, (order != 0).sum()))


@settings(max_examples=30)
@given(st.integers(2, 12), st.integers(0, 99))
def test_the_gradient_of_the_rank_loss_is_its_derivative(n, seed):
    """Up to the scale by pairs, which are all different here, for layers apart."""
    rng = np.random.default_rng(seed)
    order = pair_signs(rng.permutation(2 * n), np.repeat([0, 1], n))
    assert (order[:n, n:] == 0).all()
    predicted, step = rng.normal(size=2 * n), 1e-5
    gradient, second = pair_gradient(predicted, order)
    for i in range(2 * n):
        moved = [predicted + sign * step * (np.arange(2 * n) == i) for sign in (-1, 1)]
        low, high = (pair_loss(each, order) for each in moved)
        # a mean over 2n(n-1) pairs, each in both directions
        assert (high - low) / (2 * step) == pytest.approx(gradient[i] / n, abs=1e-6)
        before, after = (pair_gradient(each, order)[0][i] for each in moved)
        assert (after - before) / (2 * step) == pytest.approx(second[i], abs=1e-5)


@needs_xgboost
def test_a_ranking_of_other_layers_ranks_a_new_one():
    """Alone better than chance; with a few mappings of the new layer better than those alone (equation 4)."""
    arch = load_arch("eyeriss_like")
    features, ranks, layers = [], [], []
    for number, (m, c, p) in enumerate(((64, 64, 28), (128, 32, 14), (32, 128, 28), (96, 96, 14))):
        space = Mapspace(arch, shaped("conv2d", M=m, C=c, P=p, Q=p, R=3, S=3), "ruby-s")
        some = some_of(space, 200)
        features.append(Relations(space).of(some))
        ranks.append(ranks_of(evaluate(some.batch(space), energy_table(arch)).edp[:, None]))
        layers.append(np.full(len(some), number))
    old = [np.concatenate(part[:-1]) for part in (features, ranks, layers)]
    prior, few, rest = learnt(*old), slice(0, 20), slice(20, None)
    signs = pair_signs(ranks[-1][rest])
    both = learnt(features[-1][few], ranks[-1][few], prior=prior)
    alone = learnt(features[-1][few], ranks[-1][few])
    right = [
        ((np.sign(f[:, None] - f[None, :]) == signs) & (signs != 0)).sum() / (signs != 0).sum()
        for f in (model.of(features[-1][rest]) for model in (prior, both, alone))
    ]
    assert right[0] > 0.75
    assert right[1] > right[2]


@needs_sklearn
def test_the_gradient_of_a_network_is_its_derivative():
    """It learns, goes on learning where it was, and is the same from its plain values."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(200, 5))
    targets = 3 * points[:, 0] - np.abs(points[:, 1]) + 100
    first = trained(points, targets, 2, 0, (16, 16))
    network = trained(points, targets, 60, 0, first)
    errors = [((each.of(points) - targets) ** 2).mean() for each in (first, network)]
    assert errors[1] < 0.1 * errors[0]
    again = trained(points, targets, 1, 0, network)
    assert ((again.of(points) - targets) ** 2).mean() < 2 * errors[1] + 0.01
    network = NeuralNet.of_plain(json.loads(json.dumps(network.plain())))
    gradient, step = network.gradient(points), 1e-6
    for i in range(5):
        up = network.of(points + step * (np.arange(5) == i))
        np.testing.assert_allclose((up - network.of(points)) / step, gradient[:, i], atol=1e-4)


@pytest.mark.parametrize("placement", ["even", "uneven"])
def test_samples_are_of_the_layer_and_of_others_with_sizes_near_its_own(placement):
    """In equal shares, with log2 of the first objective by the exact model."""
    arch = placed(load_arch("eyeriss_like_free"), placement)
    space, table = Mapspace(arch, load_workload("conv_3x3x64"), "ruby-s"), energy_table(arch)
    task = Task.of(space, table, SearchOptions(objective="energy,delay"))
    inputs, targets = samples(task, np.random.default_rng(3), 60, 2)
    sizes = inputs[:, : len(space.workload.sizes)]
    layers, number = np.unique(sizes, axis=0, return_counts=True)
    assert number.tolist() == [20, 20, 20]
    own = Columns(space).sizes
    assert (layers == own).all(axis=1).sum() == 1
    assert (abs(layers - own) <= 1.01).all()
    rng = np.random.default_rng(3)
    assert len(similar(space, rng, 2)) == 2
    alone = drawn(sampler_of(space), rng, 20, NONE)
    mine = (sizes == own).all(axis=1)
    np.testing.assert_array_equal(inputs[mine], Columns(space).inputs(alone))
    expected = np.log2(evaluate(alone.batch(space), task.table).energy_pj)
    np.testing.assert_allclose(targets[mine], expected, rtol=1e-12)


@needs_sklearn
@settings(max_examples=10, deadline=None)
@given(st.one_of(problems(), uneven_problems()), st.integers(0, 99))
def test_descents_stay_in_the_mapspace(problem, seed):
    """What they try is valid, and on the whole predicted to be better than where they began."""
    space, rng = problem[0], np.random.default_rng(seed)
    starts = some_of(space, 20, seed)
    assume(len(starts) > 3)
    inputs = Columns(space).inputs(starts)
    network = trained(inputs, inputs @ rng.normal(size=inputs.shape[1]), 30, 0, (8, 8))
    found = descend(sampler_of(space), network, starts, rng, 8, 1.0)
    assert not validity(found.tried.batch(space)).any()
    assert len(found.in_turn()) == len(found.tried)
    np.testing.assert_allclose(found.predicted, network.of(Columns(space).inputs(found.tried)))
    for number in range(len(starts)):
        own = found.predicted[found.descents == number]
        assert own.min() <= own[0]


@given(st.integers(2, 8), st.integers(1, 5), st.integers(0, 99))
def test_a_batch_by_lies_is_that_of_conditioning_on_them(n, chosen, seed):
    """From scratch, on all lies at once."""
    pytest.importorskip("scipy")
    rng = np.random.default_rng(seed)
    root, noise = rng.normal(size=(n, n)), 0.1
    latent, mean = root @ root.T, rng.normal(size=n)
    best, lies = float(mean.min()) - 0.1, list[int]()
    for _ in range(min(n, chosen)):
        gain = latent[:, lies] @ np.linalg.inv(latent[np.ix_(lies, lies)] + noise * np.eye(len(lies)))
        now = mean + gain @ (best - mean[lies])
        variance = (latent - gain @ latent[lies]).diagonal()
        expected = improvement(now, variance, best)
        expected[lies] = -np.inf
        lies.append(int(expected.argmax()))
    assert batch_by_lies(Posterior(mean, latent + noise * np.eye(n), noise, best), chosen).tolist() == lies


@needs_sklearn
def test_a_process_believes_what_it_has_seen():
    """Near known points their targets, far from them their mean and more doubt."""
    rng = np.random.default_rng(0)
    known = rng.random((60, 3))
    targets = np.sin(4 * known[:, 0]) + known[:, 1]
    belief = posterior(known, targets, np.concatenate([known, [[40.0, 40.0, 40.0]]]), 0)
    scaled = (targets - targets.mean()) / targets.std()
    np.testing.assert_allclose(belief.mean[:-1], scaled, atol=0.1)
    doubt = belief.covariance.diagonal()
    assert abs(belief.mean[-1]) < 0.5
    assert doubt[-1] > 5 * doubt[:-1].max()
    assert belief.best == scaled.min()


@settings(max_examples=12)
@given(st.integers(1, 30), st.integers(0, 99))
def test_a_diverse_batch_weighs_energies_against_components(n, seed):
    """Without a value of components the lowest energies; with a large one more different chains, orders and choices."""
    space, _ = layer()
    some = some_of(space, 40, seed)
    energies = np.random.default_rng(seed).random(len(some))
    plain = diverse(space, some, energies, n, 0.0)
    assert plain.tolist() == np.argsort(energies)[:n].tolist()
    mixed = diverse(space, some, energies, n, 100.0)
    assert len(np.unique(mixed)) == len(plain)

    def components(places):
        own = some.take(places)
        chains = sum(len(np.unique(own.bounds[:, :, d], axis=0)) for d in range(own.bounds.shape[2]))
        return chains + sum(len(np.unique(loops, axis=0)) for loops in loops_in_order(space, own).swapaxes(0, 1))

    assert components(mixed) >= components(plain)


@settings(max_examples=12)
@given(problems(), st.integers(0, 99))
def test_repair_tells_what_each_mapping_was_made_of(problem, seed):
    """Of a neighbour: the same orders and kept tensors; what was valid is itself."""
    sampler, rng = sampler_of(problem[0]), np.random.default_rng(seed)
    some = some_of(sampler.space, 50, seed)
    assume(len(some))
    moved = sampler.variation.neighbours(some, rng)
    assert ((moved.bounds != some.bounds).any(axis=1).sum(axis=1) <= 1).all()
    fit, of = sampler.repair.fitted_each(moved, rng, 8)
    np.testing.assert_array_equal(fit.order, moved.order[of])
    np.testing.assert_array_equal(fit.keep, moved.keep[of])
    assert len(np.unique(of)) == len(of)
    fit, of = sampler.repair.fitted_each(some, rng, 0)
    np.testing.assert_array_equal(fit.bounds, some.bounds[of])
    assert len(of) == len(some)
