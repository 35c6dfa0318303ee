"""Networks whose regions were rewritten at random make what they made, under ONNX Runtime."""

from collections import Counter

import numpy as np
import onnx
import pytest
from ruby_map.mapper.rewrite_search import regions
from ruby_map.mapper.rewrite_search.regions import Cuts, classes_of
from ruby_map.mapper.rewrites import read_tensor_graph

from ..conftest import DEEP
from ..onnx_runs import run
from ..rewrites.rule_networks import differences, outputs_of
from ..rewrites.test_rewriting import CLOSE, walked


def rewritten_by_region(graph, rng, used):
    """A network with its regions rewritten at random, those that are alike in the same way, and how many classes had
    several regions."""
    cuts = Cuts(graph)
    graphs, several = [own.graph for own in cuts.regions], 0
    for own in classes_of(cuts.regions):
        after, names = walked(graphs[own.first], 2, used, rng)
        for number, rename in own.members if names else ():
            before = cuts.regions[number].graph
            outputs = dict(zip(before.outputs, map(rename, after.outputs.values()), strict=True))
            graphs[number] = before.with_outputs(outputs)
        several += bool(names) and len(own.members) > 1
    return cuts.put_together(graphs), len(cuts.regions), several


@pytest.mark.parametrize("exact", [True, False])
def test_random_networks(exact, onnx_networks, monkeypatch, tmp_path):
    """To the last bit, where float32 holds all sums."""
    monkeypatch.setattr(regions, "MOST", 5)
    monkeypatch.setattr(regions, "FEWEST", 2)
    options, used, cut = onnx_networks.RandomOptions(exact=exact), Counter(), 0
    for seed in range(300 if DEEP else 20):
        model = onnx_networks.random_graph(seed, options)
        words = onnx_networks.random_inputs(model, seed, options)
        onnx.save(model, tmp_path / "m.onnx")
        graph = read_tensor_graph(tmp_path / "m.onnx")
        graph, number, _ = rewritten_by_region(graph, np.random.default_rng(seed), used)
        cut += number > 1
        expected = dict(zip([one.name for one in model.graph.output], run(model, words), strict=True))
        made = outputs_of(graph, tmp_path / "m.onnx", words)
        assert list(differences(made, expected, 0 if exact else CLOSE)) == [], seed
    assert cut > (150 if DEEP else 10)
    assert len(used) > 20


@pytest.mark.parametrize(
    ("name", "divisor", "more"),
    [
        ("resnet50", 16, {"image": 32}),
        ("googlenet", 16, {"image": 32}),
        ("bert_encoder", 16, {"tokens": 16, "layers": 4}),
        ("nasnet_a_cifar", 16, {"repeats": 2, "image": 8}),
    ],
)
def test_known_networks(name, divisor, more, onnx_networks, tmp_path):
    model = getattr(onnx_networks, name)(onnx_networks.Options(divisor=divisor), **more)
    words = onnx_networks.random_inputs(model, 0)
    onnx.save(model, tmp_path / "m.onnx")
    graph = read_tensor_graph(tmp_path / "m.onnx")
    graph, number, several = rewritten_by_region(graph, np.random.default_rng(0), Counter())
    assert number > 5
    assert several or name == "googlenet"
    expected = dict(zip([one.name for one in model.graph.output], run(model, words), strict=True))
    assert list(differences(outputs_of(graph, tmp_path / "m.onnx", words), expected, CLOSE)) == []
