"""Tensors are told by the nodes of the model that they belong to."""

from ruby_map.mapper.rewrite_search.names import node_names
from ruby_map.mapper.rewrites import read_tensor_graph

from .onnx_models import node, save


def names_of(path, nodes, inputs, weights):
    graph = read_tensor_graph(save(path / "m.onnx", nodes, inputs, ["Y"], weights))
    names = node_names(graph)
    assert all(own in names for own in graph.terms if own.operands)
    return [(own.op, names.get(own)) for own in graph.terms if own.op in ("matmul", "conv", "bias", "relu")]


def test_a_node_of_several_terms_names_all_of_them(tmp_path):
    """A product of a tensor of three dims is one between reshapes; a bias belongs to its Conv."""
    nodes = [node("MatMul", "XA", "P", name="query"), node("Relu", "P", name="act")]
    assert names_of(tmp_path, nodes, {"X": (2, 3, 4)}, {"A": (4, 5)}) == [("matmul", "query"), ("relu", "act")]
    conv = [node("Conv", "XKB", name="conv")]
    made = names_of(tmp_path, conv, {"X": (1, 3, 4, 4)}, {"K": (2, 3, 1, 1), "B": (2,)})
    assert made == [("conv", "conv"), ("bias", "conv")]


def test_the_tensor_stands_for_a_node_without_a_name(tmp_path):
    nodes = [node("MatMul", "XA", "P"), node("Relu", "P")]
    made = names_of(tmp_path, nodes, {"X": (3, 4)}, {"A": (4, 5)})
    assert made == [("matmul", "P"), ("relu", "Y")]
