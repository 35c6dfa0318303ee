"""Random graphs of `experiments/onnx_networks/`: valid, of all there is to rewrite, and exact where they say so."""

import importlib
from collections import Counter
from typing import Any

import numpy as np
import pytest

from .onnx_runs import declared, run

onnx = pytest.importorskip("onnx", reason="onnx is not installed: pip install 'ruby-map[onnx]'")


@pytest.mark.parametrize("exact", [True, False])
def test_random_graphs_run(exact, onnx_networks):
    """Valid for onnx, and onnxruntime makes finite outputs of the sizes they say, with its own rewrites and without:
    equal words where graphs are exact, else to 1e-5 of the largest.
    """
    options = onnx_networks.RandomOptions(exact=exact)
    for seed in range(150):
        model = onnx_networks.random_graph(seed, options)
        onnx.checker.check_model(model, full_check=True)
        words = onnx_networks.random_inputs(model, seed, options)
        plain, rewritten = (run(model, words, plain=plain) for plain in (True, False))
        for value, one, other in zip(model.graph.output, plain, rewritten, strict=True):
            assert one.shape == declared(value)
            assert np.isfinite(one).all()
            assert np.abs(one - other).max() <= (0 if exact else 1e-5 * max(1, np.abs(one).max())), seed


def test_exact_graphs_are_what_onnx_computes(onnx_networks):
    """The reference of onnx, which adds up in other orders, has the same words to the last bit."""
    evaluator = importlib.import_module("onnx.reference").ReferenceEvaluator
    models = [(seed, onnx_networks.random_graph(seed)) for seed in range(1000, 1060)]
    read_well = [(seed, model) for seed, model in models if not uneven_zeros(model)]
    assert len(read_well) > 45
    for seed, model in read_well:
        words = onnx_networks.random_inputs(model, seed)
        for one, other in zip(run(model, words), evaluator(model).run(None, words), strict=True):
            np.testing.assert_array_equal(one, other)


def uneven_zeros(model: Any) -> bool:
    """Whether a largest word is of a window with other zeros on one side: the reference takes sides for axes there."""
    pools = [node for node in model.graph.node if node.op_type == "MaxPool"]
    return any(len({*own.ints}) > 1 for node in pools for own in node.attribute if own.name == "pads")


@pytest.mark.parametrize(("exact", "most"), [(True, 2**24), (False, 2**10)])
def test_words_of_long_graphs_stay_small(exact, most, onnx_networks):
    """Of 150 nodes, too: whole numbers that float32 holds, and other words that lose no more than a few bits."""
    options = onnx_networks.RandomOptions(exact=exact, nodes=(150, 150))
    for seed in range(30):
        model = onnx_networks.random_graph(seed, options)
        assert len(model.graph.node) == 150
        for output in run(model, onnx_networks.random_inputs(model, seed, options)):
            assert np.abs(output).max() <= most


def test_random_graphs_have_all_there_is_to_rewrite(onnx_networks):
    """Every kind of node, 5 to 25 nodes, branches that share an input, several inputs and outputs."""
    models = [onnx_networks.random_graph(seed) for seed in range(200)]
    assert {node.op_type for model in models for node in model.graph.node} >= KINDS
    numbers = [len(model.graph.node) for model in models]
    assert (min(numbers), max(numbers)) == (5, 25)
    assert {len(model.graph.input) for model in models} == {1, 2, 3}
    assert sum(len(model.graph.output) > 1 for model in models) > 100
    assert sum(max(Counter(read_by_products(model)).values(), default=0) > 1 for model in models) > 50


def test_random_convolutions_are_of_all_kinds(onnx_networks):
    """Windows, strides, groups, and zeros that keep the sizes, none, or on one side alone."""
    nodes = [
        node for seed in range(100) for node in onnx_networks.random_graph(seed).graph.node if node.op_type == "Conv"
    ]
    value = onnx.helper.get_attribute_value
    attributes = [{own.name: value(own) for own in node.attribute} for node in nodes]
    assert {tuple(own["kernel_shape"]) for own in attributes} == {(1, 1), (3, 3), (1, 3), (3, 1)}
    assert {tuple(own["strides"]) for own in attributes} == {(1, 1), (2, 2), (1, 2), (2, 1)}
    assert {own["group"] for own in attributes} > {1, 2, 3}
    assert {tuple(own["pads"]) for own in attributes} > {(0, 0, 0, 0), (1, 1, 1, 1), (0, 0, 1, 1)}


KINDS = {
    *("Add", "AveragePool", "BatchNormalization", "Concat", "Conv", "Gemm", "MatMul", "MaxPool", "Mul", "Relu"),
    *("Split", "Transpose"),
}


def read_by_products(model: Any) -> list[str]:
    """What convolutions and products of matrices read first."""
    return [node.input[0] for node in model.graph.node if node.op_type in ("Conv", "MatMul", "Gemm")]


def test_equal_seeds_give_equal_graphs_and_inputs(onnx_networks):
    one, same, other = (onnx_networks.random_graph(seed) for seed in (3, 3, 4))
    assert one.SerializeToString() == same.SerializeToString() != other.SerializeToString()
    first, again = (onnx_networks.random_inputs(one, 3) for _ in range(2))
    assert all(np.array_equal(first[name], again[name]) for name in first)
