"""Graphs of terms as ONNX models: every operator as a node that computes it, several in one, names kept."""

from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import helper
from ruby_map.mapper.rewrites.graphs import (
    CONCAT,
    OPAQUE,
    OUTPUT,
    PART,
    WEIGHT,
    Opaque,
    Port,
    Source,
    Tensor,
    TensorGraph,
    computed,
    joined,
    made,
    part,
)
from ruby_map.mapper.rewrites.onnx import read_tensor_graph, write_onnx
from ruby_map.mapper.rewrites.terms import given, term
from ruby_map.workloads import InputError

from .onnx_models import assert_close, assert_round_trip, assert_written, feeds_of, kinds, node, run, save, value, words

ONE, SAME, VALID = (1, 1), "same", "valid"
INPUTS = {"x": (2, 4, 6, 5), "y": (2, 4, 6, 5), "m": (3, 4), "v": (4,), "s": (), "b": (2,)}
WEIGHTS = {"k": (4, 4, 3, 3), "p": (4, 4, 1, 1), "g": (6, 2, 3, 3), "w": (4, 5), "u": (4, 5), "c": (5,), "d": (4,)}
SOURCE = Source(
    {name: Tensor("float32", sizes) for name, sizes in INPUTS.items()},
    {name: words(sizes, number) for number, (name, sizes) in enumerate(WEIGHTS.items())},
)
X, Y, M, V, S, B = map(given, INPUTS)
K, P, G, W, U, C, D = (term(WEIGHT, (name,)) for name in WEIGHTS)


def op(name, *operands, params=()):
    return made(SOURCE, name, params, operands)


def conv(own, weights, pad=SAME, act="none", kind="conv", stride=ONE):
    return op(kind, own, weights, params=(stride, pad, act))


def along(name, own, vector, axis=1):
    return op(name, own, vector, params=(axis,))


LARGE = op("enlarge", P, params=((3, 3),))
# what is written, and the nodes that it is
GRAPHS = {
    "conv with bias": ([along("bias", conv(X, K), D)], "Conv"),
    "conv with bias that is given": ([along("bias", conv(X, K), V)], "Conv"),
    "conv that others read": ([along("bias", conv(X, K), D), conv(X, K)], "Conv Add"),
    "conv with relu": ([conv(X, K, VALID, "relu")], "Conv Relu"),
    "bias after a relu": ([along("bias", conv(X, K, act="relu"), D)], "Conv Relu Add"),
    "groups": ([conv(X, G, kind="gconv", stride=(2, 1))], "Conv"),
    "kernels that are joined": ([conv(X, op(CONCAT, K, LARGE, params=(0,)))], "Conv"),
    "kernels that are added": ([conv(X, op("ewadd", LARGE, op("i_conv", params=(4, (3, 3)))))], "Conv"),
    "average as a convolution": ([conv(X, op("c_pool", params=(4, (3, 3))), kind="gconv")], "Conv"),
    "nothing as a convolution": ([conv(X, op("i_conv", params=(4, (3, 3))))], "Conv"),
    "a kernel of no weights": ([conv(X, op("enlarge", op("ones", params=((1, 4, 1, 1),)), params=((3, 3),)))], "Conv"),
    "pools": ([op("pool_max", X, params=((3, 3), (2, 2), SAME)), op("pool_avg", X, params=((3, 1), ONE, SAME)),
               op("pool_avg", X, params=((2, 2), ONE, VALID))], "MaxPool AveragePool AveragePool"),
    "enlarge": ([op("enlarge", op("pool_avg", X, params=((6, 5), ONE, VALID)), params=((3, 5),))], "AveragePool Pad"),
    "product": ([op("matmul", M, op("ewadd", W, U))], "MatMul"),
    "product with bias": ([along("bias", op("matmul", M, W), C)], "Gemm"),
    "turned product with bias": ([along("bias", op("matmul", op("transpose", W), op("transpose", M)),
                                        op("ones", params=((3,),)))], "Gemm"),
    "bias of rows": ([along("bias", op("matmul", M, W), op("ones", params=((3,),)), 0)], "MatMul Add"),
    "no product": ([op("matmul", M, op("i_matmul", params=(4,)))], "MatMul"),
    "factors": ([along("scale", X, D), along("scale", X, V), along("bias", M, V), along("scale", X, B, 0),
                 op("smul", X, S)], "Mul Reshape Mul Add Reshape Mul Mul"),
    "word by word": ([op("relu", op("ewadd", op("ewmul", X, Y), X)), op("transpose", M)], "Mul Add Relu Transpose"),
    "ones": ([op("ewmul", M, op("ones", params=((3, 4),)))], "Mul"),
    "parts of all": ([part(SOURCE, X, 1, 3, 4), op("relu", part(SOURCE, X, 1, 0, 1)), part(SOURCE, X, 1, 1, 3)],
                     "Split Relu"),
    "parts with a gap": ([part(SOURCE, X, 1, 3, 4), part(SOURCE, X, 1, 0, 2)], "Slice Slice"),
    "parts that overlap": ([part(SOURCE, X, 1, 0, 3), part(SOURCE, X, 1, 2, 4)], "Slice Slice"),
    "parts along two axes": ([part(SOURCE, X, 1, 0, 3), part(SOURCE, X, 2, 3, 6)], "Slice Slice"),
    "joined": ([joined(SOURCE, 1, joined(SOURCE, 1, X, Y), joined(SOURCE, 1, Y, X))], "Concat"),
    "joined and read": ([joined(SOURCE, 1, joined(SOURCE, 1, X, Y), X), joined(SOURCE, 1, X, Y)], "Concat Concat"),
    "joined along two axes": ([joined(SOURCE, 0, joined(SOURCE, 1, X, Y), joined(SOURCE, 1, Y, X))],
                              "Concat Concat Concat"),
    "a constant": ([op("ewadd", W, U), W, M], "Identity Identity Identity"),
    "twice": ([op("relu", X), op("relu", X)], "Relu Identity"),
}  # fmt: skip


@pytest.mark.parametrize("name", GRAPHS)
def test_terms_are_written_as_nodes_that_compute_them(name, tmp_path):
    """Under ONNX Runtime as by the table."""
    terms, expected = GRAPHS[name]
    graph = TensorGraph({f"out{number}": own for number, own in enumerate(terms)}, SOURCE)
    values = computed(graph, feeds_of(graph))
    model = assert_written(graph, tmp_path / "m.onnx", {one: array.astype(np.float32) for one, array in values.items()})
    assert sorted(kinds(model).elements()) == sorted(expected.split())
    again = read_tensor_graph(tmp_path / "m.onnx")
    if name != "enlarge":  # a Pad of what is computed stays one
        assert_close(computed(again, feeds_of(again)), values)


@pytest.mark.parametrize("opset", [7, 9, 10, 11, 12, 13, 18, 21])
def test_nodes_are_written_for_the_opset_of_the_source(opset, tmp_path):
    """Split, Slice and Pad have read their places since later ones."""
    outputs = {
        "first": part(SOURCE, X, 1, 0, 1),
        "second": part(SOURCE, X, 1, 1, 4),
        "third": part(SOURCE, Y, 2, 1, 3),
        "fourth": op("enlarge", op("pool_avg", X, params=((6, 5), ONE, VALID)), params=((3, 5),)),
        "fifth": op("pool_avg", X, params=((3, 3), ONE, SAME)),
        "sixth": along("scale", X, V),
    }
    inputs = [value(name, sizes) for name, sizes in INPUTS.items()]
    results = [value(name, SOURCE.sizes(own)) for name, own in outputs.items()]
    versions = [helper.make_opsetid("", opset)]
    header = helper.make_model(helper.make_graph([], "g", inputs, results), opset_imports=versions, ir_version=4)
    graph = TensorGraph(outputs, replace(SOURCE, header=header.SerializeToString()))
    values = computed(graph, feeds_of(graph))
    model = assert_written(graph, tmp_path / "m.onnx", {one: array.astype(np.float32) for one, array in values.items()})
    assert kinds(model) == {"Split": 1, "Slice": 1, "AveragePool": 2, "Pad": 1, "Reshape": 1, "Mul": 1}
    assert list(model.opset_import) == versions


def test_names_of_the_source_are_kept_where_terms_are(tmp_path):
    nodes = [
        node("Conv", ["image", "kernel", "shift"], "hidden", name="first"),
        node("Relu", ["hidden"], "active", name="second"),
        node("Softmax", ["active"], "share", name="third"),
        node("Split", ["share"], ["left", "right"], axis=1, name="fourth"),
        node("Add", ["left", "right"], "sum", name="fifth"),
    ]
    path = save(tmp_path / "m.onnx", nodes, {"image": (1, 4, 5, 5)}, ["sum"], {"kernel": (4, 4, 1, 1), "shift": (4,)})
    graph, model = assert_round_trip(path)
    named = {one.name: (list(one.input), list(one.output)) for one in model.graph.node}
    assert list(named) == ["first", "second", "third", "fourth", "fifth"]
    assert named["first"] == (["image", "kernel", "shift"], ["hidden"])
    assert ({*named["fifth"][0]}, named["fifth"][1]) == ({"left", "right"}, ["sum"])

    (own,) = graph.outputs.values()
    other = graph.with_outputs({"sum": term("relu", (), (own,))})
    write_onnx(other, tmp_path / "other.onnx")
    added, last = onnx.load(tmp_path / "other.onnx").graph.node[-2:]
    assert (added.name, {*added.input}, list(added.output)) == ("fifth", {"left", "right"}, ["sum_2"])
    assert (last.op_type, list(last.input), list(last.output)) == ("Relu", ["sum_2"], ["sum"])


def test_derived_names_are_free(tmp_path):
    """The source has names such as ours."""
    nodes = [node("Relu", ["relu_1"], "relu_2"), node("Relu", ["relu_2"], "places_1")]
    path = save(tmp_path / "m.onnx", nodes, {"relu_1": (4, 4)}, ["places_1"])
    graph = read_tensor_graph(path)
    (own,) = graph.outputs.values()
    new = term("relu", (), (part(graph.source, term("transpose", (), (own,)), 0, 1, 3),))
    both = joined(graph.source, 0, new, term("relu", (), (new,)))
    other = graph.with_outputs({"places_1": both})
    values = computed(other, feeds_of(other))
    assert_written(other, tmp_path / "out.onnx", {name: one.astype(np.float32) for name, one in values.items()})


def test_an_output_of_several_that_nobody_reads_has_a_name(tmp_path):
    nodes = [node("TopK", "XK", ["V", "I"]), node("Relu", "V")]
    graph, model = assert_round_trip(save(tmp_path / "m.onnx", nodes, {"X": (3, 4)}, ["Y"], {"K": np.array([2])}))
    (top,) = [one for one in model.graph.node if one.op_type == "TopK"]
    assert all(top.output)
    assert len(top.output) == 2


def test_constants_take_the_dtype_of_what_reads_them(tmp_path):
    inputs = {"x": Tensor("float32", (3, 4)), "y": Tensor("float64", (3, 4))}
    same = term("i_matmul", (4,))
    outputs = {f"out of {name}": term("matmul", (), (given(name), same)) for name in inputs}
    graph = TensorGraph(outputs, Source(inputs, {}))
    expected = {f"out of {name}": words((3, 4), 100, one.dtype) for name, one in inputs.items()}
    model = assert_written(graph, tmp_path / "m.onnx", expected)
    assert sorted(one.data_type for one in model.graph.initializer) == [onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE]


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    graph = TensorGraph({"out": op("relu", X)}, SOURCE)
    with pytest.raises(InputError, match="cannot be written"):
        write_onnx(graph, tmp_path / "none" / "m.onnx")
    wrong = TensorGraph({"out": op("ewadd", X, M)}, SOURCE)
    with pytest.raises(ValueError, match="no known type"):
        write_onnx(wrong, tmp_path / "m.onnx")
    assert list(tmp_path.iterdir()) == []


def test_weights_that_a_file_cannot_hold_are_refused(tmp_path, monkeypatch):
    from ruby_map.mapper.rewrites.onnx import write

    monkeypatch.setattr(write, "MAX_BYTES", 50)
    graph = TensorGraph({"out": op("matmul", M, W)}, SOURCE)
    with pytest.raises(InputError, match="its weights are .* bytes; an ONNX file has at most 50"):
        write_onnx(graph, tmp_path / "m.onnx")
    assert list(tmp_path.iterdir()) == []


def test_words_that_are_all_one_stay_unwritten(tmp_path):
    """A ConstantOfShape of many words is one again."""
    nodes = [node("ConstantOfShape", "S", "C"), node("Add", "XC")]
    path = save(tmp_path / "m.onnx", nodes, {"X": (300, 400)}, ["Y"], {"S": np.array([300, 400])})
    _, model = assert_round_trip(path)
    assert kinds(model) == {"ConstantOfShape": 1, "Add": 1}
    assert path.with_suffix(".again.onnx").stat().st_size < 1000


def test_an_opaque_node_reads_constants_of_the_table_in_its_dtype(tmp_path):
    content = onnx.NodeProto(op_type="Softmax").SerializeToString()
    tensor = Tensor("float32", (2, 3))
    node_of_file = Opaque("Softmax", content, (Port(tensor),), (Port(tensor),))
    source = Source({"x": tensor}, {}, {"soft": node_of_file})
    opaque = term(OPAQUE, ("soft",), (term("ones", ((2, 3),)),))
    graph = TensorGraph({"out": term("ewadd", (), (given("x"), term(OUTPUT, (0,), (opaque,))))}, source)
    expected = {"out": words((2, 3), 100) + np.float32(1 / 3)}
    assert_written(graph, tmp_path / "m.onnx", expected)
    assert run(tmp_path / "m.onnx", feeds_of(graph))["out"].dtype == np.float32


def test_split_terms_of_rules_are_not_written(tmp_path):
    """Networks have parts by their places."""
    with pytest.raises(ValueError, match="no known type"):
        write_onnx(TensorGraph({"out": term("split0", (1,), (X,))}, SOURCE), tmp_path / "m.onnx")
    assert PART not in {own.op for own in TensorGraph({"out": X}, SOURCE).terms}
