"""Rewritten networks make what they made, under ONNX Runtime: random ones at random places, and of each shipped rule
a small one."""

from collections import Counter

import numpy as np
import onnx
import pytest
from ruby_map.mapper.rewrites import (
    Rule,
    Rules,
    TensorGraph,
    network_of,
    read_tensor_graph,
    rewrites,
    rewritten,
    rules,
    write_onnx,
)
from ruby_map.mapper.rewrites.graphs import Source, Tensor
from ruby_map.mapper.rewrites.text import term_of
from ruby_map.workloads import InputError
from ruby_map.workloads.onnx import import_onnx

from ..conftest import DEEP
from ..onnx_runs import run
from .rule_networks import differences, networks, outputs_of, placed, second_operands, shipped_rules, small_words

STEPS = 4
# of the largest word of an output: sums of some hundred products of 24-bit numbers in other orders, and words that were
# larger on the way, as where a product of three matrices is made in another order
CLOSE = 2e-5
CASES = shipped_rules()
SOME = CASES if DEEP else CASES[::5]


def step(graph, every, used, rng):
    """A random rewrite of a network, those of rules that were used less are likelier; None where there is none."""
    places = {}
    for own in rewrites(graph, every):
        places.setdefault(own.rule.name, []).append(own)
    if not places:
        return None
    likely = np.array([(1 + used[name]) ** -2.0 for name in places])
    own = places[list(places)[rng.choice(len(places), p=likely / likely.sum())]]
    return own[rng.integers(len(own))]


def walked(graph, steps, used, rng):
    """A network after random rewrites, with the names of their rules."""
    every, names = Rules(rules()), []
    for _ in range(steps):
        if (own := step(graph, every, used, rng)) is None:
            break
        graph, names = rewritten(graph, own), [*names, own.rule.name]
        used[own.rule.name] += 1
    return graph, names


@pytest.mark.parametrize("exact", [True, False])
def test_random_networks_make_the_same_after_random_rewrites(exact, onnx_networks, tmp_path):
    """To the last bit, where float32 holds all sums."""
    options, used = onnx_networks.RandomOptions(exact=exact), Counter()
    for seed in range(1000 if DEEP else 30):
        model = onnx_networks.random_graph(seed, options)
        words = onnx_networks.random_inputs(model, seed, options)
        onnx.save(model, tmp_path / "m.onnx")
        graph, names = walked(read_tensor_graph(tmp_path / "m.onnx"), STEPS, used, np.random.default_rng(seed))
        expected = dict(zip([one.name for one in model.graph.output], run(model, words), strict=True))
        made = outputs_of(graph, tmp_path / "m.onnx", words)
        assert list(differences(made, expected, 0 if exact else CLOSE)) == [], (seed, names)
    assert len(used) > (300 if DEEP else 60)


def test_the_network_of_a_rewritten_graph_is_the_one_of_its_file(onnx_networks, tmp_path):
    """Whose weights are computed and written."""
    used, compared = Counter(), 0
    for seed in range(200 if DEEP else 20):
        onnx.save(onnx_networks.random_graph(seed), tmp_path / "m.onnx")
        graph, _ = walked(read_tensor_graph(tmp_path / "m.onnx"), 2, used, np.random.default_rng(seed))
        write_onnx(graph, tmp_path / "m.onnx")
        try:
            network = import_onnx(tmp_path / "m.onnx")
        except InputError:  # nothing in it multiplies
            with pytest.raises(InputError, match="no convolution or matrix product"):
                network_of(graph, "m.onnx")
            continue
        assert network_of(graph, "m.onnx") == network
        compared += 1
    assert compared > 15


@pytest.mark.parametrize(
    ("name", "divisor", "more"),
    [
        ("resnet50", 16, {"image": 32}),
        ("googlenet", 16, {"image": 32}),
        ("squeezenet", 8, {"image": 32}),
        ("bert_encoder", 16, {"tokens": 16, "layers": 2}),
        ("nasnet_a_cell", 4, {}),
    ],
)
def test_known_networks_make_the_same_after_random_rewrites(name, divisor, more, onnx_networks, tmp_path):
    model = getattr(onnx_networks, name)(onnx_networks.Options(divisor=divisor), **more)
    words = onnx_networks.random_inputs(model, 0)
    onnx.save(model, tmp_path / "m.onnx")
    graph = read_tensor_graph(tmp_path / "m.onnx")
    graph, names = walked(graph, 20 if DEEP else 3, Counter(), np.random.default_rng(0))
    expected = dict(zip([one.name for one in model.graph.output], run(model, words), strict=True))
    assert list(differences(outputs_of(graph, tmp_path / "m.onnx", words), expected, CLOSE)) == [], names


def exact(graph):
    """Whether float32 holds all words, of whole numbers: there are no averages of windows."""
    return not any(own.op in ("pool_avg", "c_pool") for own in graph.terms)


def assert_makes_the_same(graph: TensorGraph, others, path):
    words = small_words(graph, 5)
    expected = outputs_of(graph, path, words)
    for other in others:
        close = 0 if exact(graph) and exact(other) else CLOSE
        assert list(differences(outputs_of(other, path, words), expected, close)) == []


@pytest.mark.parametrize(("rule", "inputs"), SOME, ids=lambda own: own.name if isinstance(own, Rule) else "")
def test_networks_in_which_a_rule_stands_make_the_same_after_it(rule, inputs, tmp_path):
    """Of inputs alone, and of one input and weights. Not used are rules of constants alone, which are computed anyway,
    and those that join along an axis that nothing says."""
    found = placed(rule, inputs)
    if found is None:
        constant = all(own in graph.constants for graph in networks(rule, inputs) for own in graph.outputs.values())
        assert constant or any(name.rstrip("_") == "axis" for name in rule.free)
        return
    assert_makes_the_same(*found, tmp_path / "m.onnx")
    with_weights = placed(rule, inputs, second_operands(rule))
    if with_weights is not None:
        assert_makes_the_same(*with_weights, tmp_path / "m.onnx")


def test_rules_are_not_used_on_tensors_of_no_words():
    """A part has words: what is joined of some and none is not split at that place."""
    join = term_of("concat(matmul(x, v), matmul(x, w), axis=1)")
    tensors = {name: Tensor("float32", sizes) for name, sizes in {"x": (2, 4), "v": (4, 0), "w": (4, 3)}.items()}
    graph = TensorGraph({"joined": join, "other": join.operands[1]}, Source(tensors, {}))
    assert not [own for own in rewrites(graph, Rules(rules())) if term_of("matmul(x, v)") in own.before]


def test_rules_are_not_used_where_outputs_are_joined_at_other_places():
    """Proofs are of outputs of one type."""
    turned = Rule("turned", (term_of("concat(x, y, axis=0)"),), (term_of("concat(y, x, axis=0)"),))
    for rows, places in ((2, 1), (3, 0)):
        source = Source({"x": Tensor("float32", (2, 4)), "y": Tensor("float32", (rows, 4))}, {})
        graph = TensorGraph({"joined": turned.source[0]}, source)
        assert len(list(rewrites(graph, Rules([turned])))) == places
