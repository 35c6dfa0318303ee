"""Small ONNX models: how tests make them, run them, and compare what two of them make."""

from collections import Counter

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from ruby_map.mapper.rewrites.graphs import NETWORK_OPERATORS
from ruby_map.mapper.rewrites.onnx import read_tensor_graph, write_onnx

# of the largest word of an output: sums of at most some hundred products of 24-bit numbers, in another order
CLOSE = 1e-5


def node(op, inputs, output="Y", **attributes):
    """A node, of inputs by letters or in a list."""
    outputs = [output] if isinstance(output, str) else output
    return helper.make_node(op, list(inputs), outputs, name=attributes.pop("name", ""), **attributes)


def words(sizes, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).uniform(-1, 1, sizes).astype(dtype)


def save(path, nodes, inputs, outputs, weights=(), opset=17, **more):
    """A model in a file. Inputs are sizes of floats, or value infos; outputs names, or value infos; weights arrays, or
    sizes of random words."""
    arrays = {
        name: words(one, number) if isinstance(one, tuple) else np.asarray(one)
        for number, (name, one) in enumerate(dict(weights).items(), 1)
    }
    graph = helper.make_graph(
        nodes,
        "g",
        [value(name, one) for name, one in inputs.items()],
        [one if not isinstance(one, str) else value(one, None) for one in outputs],
        [numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )
    versions = [helper.make_opsetid("", opset), *more.pop("opsets", ())]
    model = helper.make_model(graph, opset_imports=versions, ir_version=more.pop("ir_version", 8), **more)
    onnx.save(model, path)
    return path


def value(name, sizes, dtype=TensorProto.FLOAT):
    return sizes if isinstance(sizes, onnx.ValueInfoProto) else helper.make_tensor_value_info(name, dtype, sizes)


def run(path, feeds):
    """What a model makes under ONNX Runtime, without its rewrites of graphs."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return dict(zip([one.name for one in session.get_outputs()], session.run(None, feeds), strict=True))


def feeds_of(graph):
    return {name: words(one.sizes, 100, one.dtype) for name, one in graph.inputs.items()}


def assert_close(made, expected, close=CLOSE):
    """Outputs of the same names, sizes and words, within a part of the largest word."""
    assert made.keys() == expected.keys()
    for name, one in expected.items():
        assert made[name].shape == one.shape
        assert np.max(np.abs(made[name] - one), initial=0) <= close * np.max(np.abs(one), initial=1), name


def assert_written(graph, path, expected):
    """A graph that is written is a valid model that makes what is expected; returns it."""
    write_onnx(graph, path)
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    made = run(path, feeds_of(graph))
    assert {name: one.dtype for name, one in made.items()} == {name: one.dtype for name, one in expected.items()}
    assert_close(made, expected)
    return model


def assert_round_trip(path, dims=None):
    """A model that is read and written is valid, and makes the same; returns its graph, and the model written."""
    graph = read_tensor_graph(path, dims)
    expected = run(path, feeds_of(graph))
    model = assert_written(graph, path.with_suffix(".again.onnx"), expected)
    source = onnx.load(path)
    assert [one.name for one in model.graph.input] == list(graph.inputs)
    assert [one.name for one in model.graph.output] == [one.name for one in source.graph.output]
    assert list(model.opset_import) == list(source.opset_import)
    again = read_tensor_graph(path.with_suffix(".again.onnx"))
    assert operators(again) == operators(graph)
    return graph, model


def operators(graph):
    """How often operators of the table stand in a graph, and nodes that are opaque; no constants."""
    computed_ones = [own for own in graph.terms if own not in graph.constants]
    table = Counter(own.op for own in computed_ones if own.op in NETWORK_OPERATORS)
    return table + Counter(graph.source.nodes[own.name].op for own in computed_ones if own.op == "opaque")


def kinds(model):
    """How often operations of ONNX stand in a model."""
    return Counter(one.op_type for one in model.graph.node)
