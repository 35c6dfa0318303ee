"""The EDP of a network: the bound and the choice against every combination of mappings of all layers."""

import shutil
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.arch.dram import Dram
from ruby_map.energy import energy_table
from ruby_map.mapper import NetworkResult, SearchOptions, explore, result_json
from ruby_map.mapper.bounds.sums import LayerBounds, LeastSum, best_choice, edp_bound
from ruby_map.mapper.exploration import energy_delay_sums as least_sums
from ruby_map.mapper.exploration import network
from ruby_map.mapper.exploration.layers import Layers
from ruby_map.mapper.exploration.network import chosen_for_network
from ruby_map.mapper.exploration.spread import search_layers
from ruby_map.mapper.exploration.time_slices import Study
from ruby_map.mapper.mapping import frontier
from ruby_map.mapper.problem import Problem
from ruby_map.mapper.runtime import InternalError
from ruby_map.mapper.runtime.checkpoint import Checkpoint
from ruby_map.workloads import InputError, Network

from ..conftest import DEEP
from ..small_problems import (
    CHOICES,
    FEW,
    PRESETS,
    constrained_machines,
    cost_options,
    figures,
    small_machines,
    values_of,
)
from ..strategies import convolutions, matmuls

POINTS = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), min_size=1, max_size=6)
LAYERS = st.lists(st.tuples(POINTS, st.integers(1, 4)), min_size=1, max_size=4)
WIRES = [0.0] * 7 + [2.0]  # pJ: they are not in the bounds, so few proofs with them are complete
PROVING = SearchOptions(strategy="optimal")


def least_edp(layers):
    """The least EDP over all combinations of points (cycles, energy) of (points, count)."""
    counts = [count for _, count in layers]
    return min(
        sum(n * cycles for n, (cycles, _) in zip(counts, choice, strict=True))
        * sum(n * energy for n, (_, energy) in zip(counts, choice, strict=True))
        for choice in product(*(points for points, _ in layers))
    )


def needs(points, count, slopes, slack=1.0):
    """What is proven of a layer with these points alone, by least sums at some slopes."""
    sums = tuple(
        LeastSum(s, slack * min(energy + s * cycles for cycles, energy in points)) for s in sorted(set(slopes))
    )
    edp = min(energy * cycles for cycles, energy in points)
    cycles, energy_pj = np.min(points, axis=0).tolist()
    return LayerBounds(count, energy_pj / 2, cycles / 2, edp, sums)


def turns(layers):
    """All slopes at which two points of a layer have the same sum."""
    pairs = [pair for points, _ in layers for pair in product(points, repeat=2)]
    return [(f - e) / (c - d) for (c, e), (d, f) in pairs if c > d and e < f]


@given(LAYERS)
def test_the_choice_is_the_best_of_all_combinations(layers):
    """A sweep over slopes finds what the product of all layers' points has."""
    points = [[(float(c), float(e)) for c, e in own] for own, _ in layers]
    chosen = best_choice([count for _, count in layers], points)
    assert least_edp([([own[i]], n) for own, i, (_, n) in zip(points, chosen, layers, strict=True)]) == least_edp(
        layers
    )


@given(LAYERS, st.lists(st.floats(1e-3, 1e3), max_size=4))
def test_no_choice_is_below_the_bound(layers, slopes):
    """With least sums at any slopes, or at none."""
    bound = edp_bound([needs(points, count, slopes) for points, count in layers])
    assert bound.edp <= least_edp(layers) * (1 + 1e-9)


@given(LAYERS)
def test_the_bound_is_reached_with_least_sums_at_all_turns(layers):
    """Then the least sums of each layer are known for every slope between them; far out the ideal bounds hold."""
    ends = turns(layers)
    slopes = [*ends, 1e-5, 1e5]
    bound = edp_bound([needs(points, count, slopes) for points, count in layers])
    assert bound.edp == pytest.approx(least_edp(layers), rel=1e-3 if not ends else 1e-4)


@given(LAYERS)
def test_corners_of_fronts_are_bounds_too(layers):
    """A proven front has the least sums of all slopes."""
    whole = [replace(needs(points, count, ()), corners=tuple(points)) for points, count in layers]
    assert edp_bound(whole).edp <= least_edp(layers) * (1 + 1e-9)


def test_energies_of_zero_leave_the_bound_by_layers():
    """There are no slopes to look at, and no fault."""
    assert edp_bound([LayerBounds(2, 0.0, 5, 0.0), LayerBounds(1, 0.0, 3, 0.0)]) == (0.0, None)
    leaking = [LayerBounds(2, 0.0, 5, 25.0, (LeastSum(1.0, 10.0),)), LayerBounds(1, 0.0, 3, 9.0, (LeastSum(2.0, 9.0),))]
    assert edp_bound(leaking) == (pytest.approx(169.0), None)


def test_slopes_that_are_nearly_equal_cost_no_accuracy():
    """A line between them has rounding errors: with it this network kept a gap of 6e-9."""
    one = (LeastSum(241.16, 4316.94), LeastSum(376.8125, 5537.8125), LeastSum(868.0000278754974, 9958.500250879477))
    other = (LeastSum(241.16, 1109.16), LeastSum(376.8125, 1244.8125))
    both = [LayerBounds(1, 2092.5, 3, 19318.5, one), LayerBounds(1, 867.5, 1, 868.0, other)]
    assert edp_bound(both).edp == pytest.approx(30145.0, rel=1e-12)


# Networks, proven


@st.composite
def networks(draw):
    """A study of two or three layers, each small enough to visit every mapping, on one machine."""
    arch = draw(st.one_of(small_machines(), constrained_machines()))
    if draw(st.integers(0, 3)) == 0:  # which is charged by the cycle, as leakage is, but not with it
        dram = Dram(burst_bits=32, refresh_pj_per_cycle=draw(st.sampled_from([0.25, 5.0])))
        arch = replace(arch, levels=(replace(arch.levels[0], dram=dram), *arch.levels[1:]))
    layers = draw(st.lists(st.one_of(matmuls(5), convolutions(4, two_windows=False)), min_size=2, max_size=3))
    layers = tuple(replace(layer, name=f"layer{i}") for i, layer in enumerate(layers))
    options = replace(PROVING, seed=draw(st.integers(0, 9)), strategy=draw(st.sampled_from(["optimal", "auto"])))
    preset = draw(st.sampled_from(PRESETS))
    table = draw(figures(arch))
    network = Network("drawn", tuple((layer, 1) for layer in layers))
    study = Study(network, tuple(Problem(arch, layer, table) for layer in layers), preset, True, options)
    try:
        spaces = [study.space(number) for number in range(len(layers))]
    except InputError:
        assume(False)
    assume(all(space.size.total <= FEW and space.size.bypass <= CHOICES for space in spaces))
    charges = draw(cost_options(WIRES))
    return replace(study, problems=tuple(replace(problem, charges=charges) for problem in study.problems))


def every_point(study, number):
    """The (cycles, energy) of all mappings of a layer that no other dominates."""
    points, problem = [np.empty((0, 2))], study.problems[number]
    for batch in study.space(number).batches():
        both = [values_of(batch, problem.energies, name, problem.charges) for name in ("delay", "energy")]
        points.append(np.stack(both, axis=1))
    all_points = np.concatenate(points)
    all_points = np.unique(all_points[np.isfinite(all_points).all(axis=1)], axis=0)
    return [tuple(point) for point in all_points[frontier(all_points)].tolist()] if len(all_points) else []


def own_optima(points):
    """Of each layer the point with the least EDP."""
    return [[min(own, key=lambda point: point[0] * point[1])] for own in points]


def counts_that_matter(points):
    """The counts, of a few, with which the layers' own optima are farthest from the network's."""
    some = product((1, 3, 20, 300), repeat=len(points))
    return max(some, key=lambda n: least_edp(list(zip(own_optima(points), n, strict=True)))
               / max(least_edp(list(zip(points, n, strict=True))), 1e-300))  # fmt: skip


def proven(study, counts):
    """The network's result, and that of its layers alone."""
    layers = Layers(study, None, None)
    search_layers(layers, layers.runs)
    alone = layers.results()
    together = chosen_for_network(layers, alone, counts)
    return [
        NetworkResult("net", tuple((results[i], counts[i]) for i in range(len(counts))))
        for results in (together, alone)
    ]


# few networks that are drawn have few mappings
@settings(max_examples=1_000 if DEEP else 5, suppress_health_check=list(HealthCheck))
@given(networks())
def test_the_network_is_the_best_of_all_combinations(study):
    """Its EDP is the least over the product of all mappings of all layers, and it is proven so."""
    points = [every_point(study, number) for number in range(len(study.layers))]
    assume(0 < np.prod([len(own) for own in points]) <= 1_000)
    counts = counts_that_matter(points)
    found, alone = proven(study, counts)
    truth, wires = least_edp(list(zip(points, counts, strict=True))), study.problems[0].charges.has_interconnect
    assert found.edp == pytest.approx(truth, rel=1e-8) or wires
    assert found.edp >= truth * (1 - 1e-9)
    assert found.lower_bound <= truth * (1 + 1e-9)
    assert found.optimal or truth == 0 or wires
    given_up = sum(layer.alone is not None for layer, _ in found.layers)
    assert (given_up > 0) == (found.edp < alone.edp * (1 - 1e-9))
    event(f"{given_up} layers give up EDP of their own")
    for (layer, _), (own, _) in zip(found.layers, alone.layers, strict=True):
        assert layer.own_gap <= 1e-9 or wires
        assert layer.alone is None or layer.alone == own.edp < layer.edp
        assert layer.optimal == (layer.alone is None and layer.own_gap <= 1e-9)


NET = """
name: net
layers:
  - {name: one, shape: conv2d, sizes: {M: 8, C: 4, P: 13, Q: 13, R: 3, S: 3}}
  - {name: two, shape: matmul, sizes: {M: 64, N: 100, K: 36}, count: 3}
  - {name: three, shape: conv2d, sizes: {M: 16, C: 7, P: 5, Q: 5, R: 1, S: 1}}
"""


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    path = tmp_path_factory.mktemp("net") / "net.yaml"
    path.write_text(NET)
    return str(path)


@pytest.fixture(scope="module")
def whole(net):
    """The network proven: its last layer gives up EDP of its own."""
    return explore("eyeriss_like", net, options=PROVING)


@pytest.fixture(scope="module")
def layers_proven(net, tmp_path_factory):
    """The folder of a run that Ctrl-C ended when its layers were proven, before the first proof for the network."""
    folder = tmp_path_factory.mktemp("layers")

    def interrupted(*_):
        raise KeyboardInterrupt

    with Checkpoint(folder, {}) as file, pytest.MonkeyPatch.context() as patch:
        patch.setattr(least_sums, "least_sum", interrupted)
        assert explore("eyeriss_like", net, options=PROVING, checkpoint=file).statistics.interrupted
    return folder


@pytest.fixture
def proven_run(layers_proven, tmp_path):
    """A copy of that folder, to go on from: proofs of the layers take seconds each."""
    return shutil.copytree(layers_proven, tmp_path / "run")


def plain(result):
    """The object of --json without seconds."""
    found = result_json(result)
    for one in (found, *found["layers"]):
        del one["search"]["seconds"]
    return found


def test_a_layer_gives_up_edp_of_its_own_and_the_report_says_so(whole):
    """Its mapping is not called optimal; the network's is, and better than that of the layers' own optima."""
    last = whole.layers[-1][0]
    alone = explore("eyeriss_like", last.workload, options=PROVING)
    assert last.alone == alone.edp < last.edp
    assert (last.optimal, last.own_gap) == (False, 0.0)
    assert (whole.optimal, whole.gap) == (True, pytest.approx(0, abs=1e-9))
    others = [(result, count) for result, count in whole.layers[:-1]]
    assert whole.edp < NetworkResult("net", (*others, (alone, 1))).edp
    assert "best for the network, not by their own EDP: three" in str(whole)
    assert f"alone, a mapping with an EDP of {alone.edp:.5g} is better" in str(last)
    assert result_json(whole)["layers"][-1]["alone"] == alone.edp


@pytest.mark.parametrize("moment", [0, 1, 2])
def test_an_interrupted_choice_goes_on_where_it_stopped(net, whole, proven_run, monkeypatch, moment):
    """Ctrl-C during the proofs for the network: an answer whose gap holds, then the same as undisturbed."""
    calls, real = [], least_sums.least_sum

    def some(*arguments):
        calls.append(arguments[1])
        if len(calls) == moment + 1:
            raise KeyboardInterrupt
        return real(*arguments)

    with Checkpoint(proven_run, {}, resume=True) as file, monkeypatch.context() as patch:
        patch.setattr(least_sums, "least_sum", some)
        first = explore("eyeriss_like", net, options=PROVING, checkpoint=file)
    assert first.statistics.interrupted
    assert first.lower_bound <= whole.edp <= first.edp
    with Checkpoint(proven_run, {}, resume=True) as file:
        again = explore("eyeriss_like", net, options=PROVING, checkpoint=file)
    assert (again.edp, again.optimal) == (whole.edp, True)
    with Checkpoint(proven_run, {}, resume=True) as file, monkeypatch.context() as patch:
        patch.setattr(least_sums, "least_sum", None)  # nothing is left to prove
        assert plain(explore("eyeriss_like", net, options=PROVING, checkpoint=file)) == plain(again)


def test_a_bound_that_is_too_high_is_an_internal_error(net, proven_run, monkeypatch):
    """A mapping below what was proven of all is no result."""
    real = least_sums.least_sum

    def too_high(*arguments):
        found = real(*arguments)
        return replace(found, evidence=replace(found.evidence, lower_bound=1.05 * found.lower_bound))

    monkeypatch.setattr(least_sums, "least_sum", too_high)
    with Checkpoint(proven_run, {}, resume=True) as file, pytest.raises(InternalError, match="below its bound"):
        explore("eyeriss_like", net, options=PROVING, checkpoint=file)


def test_other_objectives_and_certificates_keep_the_layers_own_best(net, monkeypatch):
    """For energy and delay these are the network's; a certificate proves each layer for itself."""
    monkeypatch.setattr(least_sums, "least_sum", None)
    for options in (replace(PROVING, objective="delay"), replace(PROVING, certify=True)):
        found = explore("eyeriss_like", net, options=options)
        assert all(layer.optimal and layer.alone is None for layer, _ in found.layers)


def test_without_time_the_layers_own_best_are_the_answer(net, monkeypatch):
    """The bound is then that by the layers' EDP and their ideal bounds."""
    monkeypatch.setattr(least_sums.LayerSums, "seconds", 1e9)
    found = explore("eyeriss_like", net, options=replace(PROVING, time_limit=60.0))
    assert all(layer.optimal for layer, _ in found.layers)
    assert 0 < found.gap < 0.05
    assert "EDP possible of the network is at most" in str(found)


@pytest.mark.parametrize("step", ["known_of", "best_choice", "edp_bound"])
def test_ctrl_c_between_proofs_leaves_the_best_so_far(net, whole, proven_run, monkeypatch, step):
    """Whatever the choice of mappings is busy with."""
    calls, real = [], getattr(network, step)

    def interrupted(*arguments):
        calls.append(step)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(network, step, interrupted)
    with Checkpoint(proven_run, {}, resume=True) as file:
        found = explore("eyeriss_like", net, options=PROVING, checkpoint=file)
    assert found.statistics.interrupted
    assert found.lower_bound <= whole.edp * (1 + 1e-9) <= found.edp * (1 + 2e-9)


def test_a_network_that_costs_no_energy_is_printed(net):
    """Its layers have no shares of nothing."""
    arch = load_arch("eyeriss_like")
    table = energy_table(arch)
    levels = tuple(replace(level, read_pj=0.0, write_pj=0.0, update_pj=0.0) for level in table.levels)
    free = replace(table, levels=levels, compute=replace(table.compute, compute_pj=0.0))
    found = explore(arch, net, options=replace(PROVING, objective="delay"), table=free)
    assert found.energy_pj == 0
    assert "0.0%" in str(found)
