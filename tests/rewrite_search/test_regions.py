"""Regions of large networks: cut, found alike, put together again, and searched by themselves."""

from dataclasses import replace

import numpy as np
import pytest
from ruby_map.mapper.rewrite_search import TooManyError, regions, search_rewrites
from ruby_map.mapper.rewrite_search.networks import network_key, network_of_graph
from ruby_map.mapper.rewrite_search.pricer import Pricer, nameless
from ruby_map.mapper.rewrite_search.queue import RewriteOptions
from ruby_map.mapper.rewrite_search.region_search import Packed
from ruby_map.mapper.rewrite_search.regions import Cuts, classes_of, renaming
from ruby_map.mapper.rewrites import read_tensor_graph
from ruby_map.mapper.rewrites.graphs import computed

from ..rewrites.onnx_models import assert_written, feeds_of, node, run, save
from ..test_onnx_networks import built
from .test_search import RULES, pricer

onnx = pytest.importorskip("onnx", reason="onnx is not installed: pip install 'ruby-map[onnx]'")

NETWORKS = ("resnet50", "nasnet mobile", "bert, erf")
FEW = RewriteOptions(graphs=4, larger=2)


@pytest.fixture
def cut_small(monkeypatch):
    """Networks of more than eight operators are cut into regions of five and more."""
    monkeypatch.setattr(regions, "MOST", 8)
    monkeypatch.setattr(regions, "FEWEST", 5)


def blocks(path, sizes=(4, 4, 4), features=5):
    """Blocks of two products of one input, added, with a bias and a relu; and a product behind them."""
    nodes, weights, read = [], {}, "x"
    for at, size in enumerate(sizes):
        nodes += [
            node("MatMul", [read, f"w{at}"], f"p{at}", name=f"left {at}"),
            node("MatMul", [read, f"v{at}"], f"q{at}", name=f"right {at}"),
            node("Add", [f"p{at}", f"q{at}"], f"s{at}"),
            node("Add", [f"s{at}", f"b{at}"], f"t{at}"),
            node("Relu", [f"t{at}"], f"r{at}"),
        ]
        before = features if at == 0 else sizes[at - 1]
        weights |= {f"w{at}": (before, size), f"v{at}": (before, size), f"b{at}": (size,)}
        read = f"r{at}"
    nodes += [node("MatMul", [read, "last"], "y")]
    return save(path, nodes, {"x": (3, features)}, ["y"], {**weights, "last": (sizes[-1], 2)})


def test_regions_make_what_the_network_makes(cut_small, tmp_path) -> None:
    graph = read_tensor_graph(blocks(tmp_path / "a.onnx"))
    parts = Cuts(graph).regions
    assert len(parts) == 3
    feeds = feeds_of(graph)
    known = dict(feeds)
    for part in parts:
        assert part.graph.inputs.keys() <= known.keys()
        known |= computed(part.graph, known)
    for name, own in computed(graph, feeds).items():
        (made,) = [known[at] for part in parts for at, term in part.outputs.items() if term is graph.outputs[name]]
        np.testing.assert_allclose(made, own, rtol=1e-12)


@pytest.fixture
def known(onnx_networks, tmp_path):
    """Read a known network in a small size."""

    def read(name):
        onnx.save(built(onnx_networks, name, small=True), tmp_path / "known.onnx")
        return read_tensor_graph(tmp_path / "known.onnx")

    return read


@pytest.mark.parametrize("network", NETWORKS)
def test_regions_put_together_are_the_network(network, known) -> None:
    """Each computed operator is in one of them, and none is larger than can be helped."""
    graph = known(network)
    parts = Cuts(graph).regions
    assert len(parts) > 1
    cuts = Cuts(graph)
    assert cuts.put_together([own.graph for own in parts]).outputs == graph.outputs
    for at, own in enumerate(parts):
        beside = cuts.neighbours(at)
        assert beside.around(own.graph).outputs == beside.whole.outputs
    sizes = [sum(term not in own.graph.constants and term.op != "input" for term in own.graph.terms) for own in parts]
    assert sum(sizes) == sum(term not in graph.constants and term.op != "input" for term in graph.terms)
    assert max(sizes) <= regions.MOST
    given, made = set(graph.inputs), set(graph.inputs)
    for own in parts:
        assert own.graph.inputs.keys() <= made
        made |= own.graph.outputs.keys()
        assert not own.graph.outputs.keys() & given


@pytest.mark.parametrize("network", NETWORKS)
def test_regions_that_are_alike_become_each_other_by_names(network, known) -> None:
    parts = Cuts(known(network)).regions
    classes = classes_of(parts)
    assert sorted(number for own in classes for number, _ in own.members) == [*range(len(parts))]
    assert len(classes) < len(parts) or network != "resnet50"
    for own in classes:
        for number, rename in own.members:
            graph = parts[number].graph
            assert [*map(rename, parts[own.first].graph.outputs.values())] == [*graph.outputs.values()]
            if parts[own.first].graph.constants:
                one, other = map(network_of_graph, (parts[own.first].graph, graph))
                assert [nameless(layer) for layer, _ in one.layers] == [nameless(layer) for layer, _ in other.layers]


def test_regions_of_other_sizes_are_not_alike(cut_small, tmp_path) -> None:
    one, other = (Cuts(read_tensor_graph(blocks(tmp_path / f"{last}.onnx", (4, 4, last)))).regions for last in (4, 6))
    assert len(one) == len(other) == 3
    assert renaming(one[1], other[1]) is not None
    assert renaming(one[2], other[2]) is None
    assert renaming(one[1], one[0]) is None


def test_a_region_is_packed_without_its_large_weights(tmp_path) -> None:
    graph = read_tensor_graph(blocks(tmp_path / "a.onnx", (40, 40)))
    again = Packed.of(graph).graph
    assert again.outputs == graph.outputs
    assert {name: own.nbytes > 0 and any(own.strides) for name, own in again.weights.items() if own.size > 64} == {
        name: False for name, own in graph.weights.items() if own.size > 64
    }
    assert network_key(network_of_graph(again)) == network_key(network_of_graph(graph))


def test_a_network_is_rewritten_region_by_region(cut_small, tmp_path) -> None:
    """Equal blocks alike, with each node named; the result makes the same, and costs what is said."""
    path = blocks(tmp_path / "a.onnx", (4, 4, 4, 4))
    graph = read_tensor_graph(path)
    found = search_rewrites(graph, pricer(), RULES, RewriteOptions(graphs=12, larger=2))
    assert found.regions == 3
    assert found.after.value < found.before.value
    assert [own.nodes for own in found.applied] == [(("s0",),), (("s1",), ("s2",)), (("s3",),)]
    assert_written(found.graph, tmp_path / "b.onnx", run(path, feeds_of(graph)))
    again = pricer().rough_price(network_of_graph(read_tensor_graph(tmp_path / "b.onnx")))
    assert again.value == pytest.approx(found.after.value, rel=0.01)
    assert again.lower_bound <= found.after.value
    saved = sum(own.saved for own in found.applied)
    assert saved == pytest.approx(found.before.value - found.after.value, rel=1e-9)


@pytest.mark.parametrize("objective", ["energy", "delay"])
def test_regions_are_priced_by_the_objective(objective, cut_small, tmp_path) -> None:
    graph = read_tensor_graph(blocks(tmp_path / "a.onnx"))
    found = search_rewrites(graph, pricer(objective=objective), RULES, FEW)
    assert found.applied
    figure = {"energy": lambda own: own.energy_pj, "delay": lambda own: own.cycles}[objective]
    assert found.after.value == figure(found.after.costs) < found.before.value == figure(found.before.costs)
    assert found.after.lower_bound <= found.after.value


def test_a_rewrite_without_a_price_in_the_whole_network_is_left(cut_small, tmp_path) -> None:
    class TooLarge(Pricer):
        calls = 0

        def rough_price(self, network):
            self.calls += 1
            if self.calls == 2:
                raise TooManyError("too many")
            return super().rough_price(network)

    path = blocks(tmp_path / "a.onnx")
    graph, own = read_tensor_graph(path), pricer()
    limited = TooLarge(own.arch, own.energies, own.charges, own.mapspace, own.options, own.keepers)
    found = search_rewrites(graph, limited, RULES, FEW)
    assert found.seen.unpriced == {"too many": 1}
    assert len(found.applied) == len(search_rewrites(graph, pricer(), RULES, FEW).applied) - 1
    assert_written(found.graph, tmp_path / "b.onnx", run(path, feeds_of(graph)))


def test_the_number_of_processes_changes_no_answer(cut_small, tmp_path) -> None:
    graph = read_tensor_graph(blocks(tmp_path / "a.onnx"))
    answers = []
    for jobs in (1, 2):
        own = pricer()
        own.options = replace(own.options, jobs=jobs)
        found = search_rewrites(graph, own, RULES, FEW)
        answers.append((found.after.value, found.after.lower_bound, found.applied, found.seen, found.graph.outputs))
    assert answers[0] == answers[1]


def test_with_more_effort_both_networks_are_searched_further(cut_small, tmp_path) -> None:
    graph = read_tensor_graph(blocks(tmp_path / "a.onnx"))
    quick, more = (
        search_rewrites(graph, pricer(effort=effort), RULES, FEW) for effort in ("quick", "mappings=3000,steps=700000")
    )
    for one, other in ((quick.before, more.before), (quick.after, more.after)):
        assert other.value <= one.value * (1 + 1e-9)
        assert other.lower_bound >= one.lower_bound * (1 - 1e-9)


def test_a_rewrite_that_is_no_better_after_a_longer_search_is_left(cut_small, tmp_path) -> None:
    class Never(Pricer):
        def price(self, network, worth=np.inf):
            price = super().price(network)
            return replace(price, value=1.0, lower_bound=1.0)

    graph = read_tensor_graph(blocks(tmp_path / "a.onnx"))
    own = pricer(effort="mappings=3000,steps=700000")
    never = Never(own.arch, own.energies, own.charges, own.mapspace, own.options, own.keepers)
    found = search_rewrites(graph, never, RULES, FEW)
    assert (found.applied, found.graph.outputs, found.after) == ((), graph.outputs, found.before)


def test_ctrl_c_between_regions_leaves_what_is_better_so_far(cut_small, tmp_path) -> None:
    class Interrupted(Pricer):
        calls = 0

        def rough_price(self, network):
            self.calls += 1
            if self.calls > 1:
                raise KeyboardInterrupt
            return super().rough_price(network)

    path = blocks(tmp_path / "a.onnx")
    graph, own = read_tensor_graph(path), pricer()
    stopped = Interrupted(own.arch, own.energies, own.charges, own.mapspace, own.options, own.keepers)
    found = search_rewrites(graph, stopped, RULES, FEW)
    assert found.seen.interrupted
    assert_written(found.graph, tmp_path / "b.onnx", run(path, feeds_of(graph)))


def test_a_quick_price_is_one_of_a_plan_and_its_bound_holds(tmp_path) -> None:
    network = network_of_graph(read_tensor_graph(blocks(tmp_path / "a.onnx")))
    own = pricer()
    quick, known = own.rough_price(network), pricer().price(network)
    assert quick.value >= known.lower_bound
    assert quick.lower_bound <= known.value
    slope = own.slope(quick.costs)
    assert slope == pytest.approx(quick.costs.energy_pj / quick.costs.cycles, rel=0.02)
    at = own.price_at(slope, network)
    assert at.value == at.costs.energy_pj + slope * at.costs.cycles
    assert at.lower_bound <= known.costs.energy_pj + slope * known.costs.cycles
    assert own.price_at(slope, network, at.lower_bound) is None
    assert own.price_at(slope, network, np.nextafter(at.lower_bound, np.inf) * 2) is not None


def test_what_a_rewritten_model_makes_is_the_same_in_a_network_of_opaque_nodes(cut_small, tmp_path) -> None:
    nodes = [
        node("MatMul", ["x", "w"], "p"),
        node("MatMul", ["x", "v"], "q"),
        node("Add", ["p", "q"], "s"),
        node("Softmax", ["s"], "t", axis=1),
        node("Relu", ["t"], "u"),
        node("MatMul", ["u", "m"], "a"),
        node("MatMul", ["u", "n"], "b"),
        node("Add", ["a", "b"], "c"),
        node("Softmax", ["c"], "d", axis=1),
        node("Relu", ["d"], "y"),
    ]
    path = save(tmp_path / "a.onnx", nodes, {"x": (3, 4)}, ["y", "s"], dict.fromkeys("wvmn", (4, 4)))
    graph = read_tensor_graph(path)
    assert len(Cuts(graph).regions) > 1
    found = search_rewrites(graph, pricer(), RULES, FEW)
    assert found.applied
    assert_written(found.graph, tmp_path / "b.onnx", run(path, feeds_of(graph)))
