"""Rewritten networks make what they made, under ONNX Runtime: random ones at random places, and of each shipped rule
a small one."""

from collections import Counter

import numpy as np
import onnx
import pytest
from ruby_map.mapper.rewrites import Rule, Rules, TensorGraph, read_tensor_graph, rewrites, rewritten, rules

from ..conftest import DEEP
from ..onnx_runs import run
from .rule_networks import differences, networks, outputs_of, placed, second_operands, shipped_rules, small_words

STEPS = 4
# of the largest word of an output: sums of some hundred products of 24-bit numbers in other orders, and words that were
# larger on the way, as where a product of three matrices is made in another order
CLOSE = 2e-5
CASES = shipped_rules()
SOME = CASES if DEEP else CASES[::5]


def step(graph, every, rng):
    """A network after a rule that is random among those that have places, at one of these; None where none has any."""
    places = {}
    for own in rewrites(graph, every):
        places.setdefault(own.rule.name, []).append(own)
    if not places:
        return None
    own = places[list(places)[rng.integers(len(places))]]
    return own[rng.integers(len(own))]


@pytest.mark.parametrize("exact", [True, False])
def test_random_networks_make_the_same_after_random_rewrites(exact, onnx_networks, tmp_path):
    """To the last bit, where float32 holds all sums."""
    every, options, used = Rules(rules()), onnx_networks.RandomOptions(exact=exact), Counter()
    for seed in range(1000 if DEEP else 30):
        model = onnx_networks.random_graph(seed, options)
        words = onnx_networks.random_inputs(model, seed, options)
        onnx.save(model, tmp_path / "m.onnx")
        graph, rng, names = read_tensor_graph(tmp_path / "m.onnx"), np.random.default_rng(seed), []
        for _ in range(STEPS):
            if (own := step(graph, every, rng)) is None:
                break
            graph, names = rewritten(graph, own), [*names, own.rule.name]
        expected = dict(zip([one.name for one in model.graph.output], run(model, words), strict=True))
        made = outputs_of(graph, tmp_path / "m.onnx", words)
        assert list(differences(made, expected, 0 if exact else CLOSE)) == [], (seed, names)
        used.update(names)
    assert len(used) > (400 if DEEP else 40)


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
