"""Nodes of ONNX as operators of the table: those that are exactly that compute the same, others stay as they are."""

from collections import Counter

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper, load, numpy_helper
from ruby_map.mapper.rewrites.graphs import computed
from ruby_map.mapper.rewrites.onnx import read_tensor_graph, write_onnx

from .onnx_models import assert_close, assert_round_trip, feeds_of, kinds, node, operators, run, save, value

IMAGE = {"X": (2, 4, 7, 6)}
MATRIX = {"X": (3, 4)}
SAME = {"pads": [1, 1, 1, 1], "kernel_shape": [3, 3]}
SQUARES = {"kernel_shape": [2, 2], "strides": [2, 2]}
# name: nodes, inputs, weights, opset, operators that are made
EXACT = {
    "conv valid": ([node("Conv", "XWB")], IMAGE, {"W": (5, 4, 3, 2), "B": (5,)}, 17, "conv bias"),
    "conv same": ([node("Conv", "XW", pads=[1, 0, 1, 0])], IMAGE, {"W": (5, 4, 3, 1)}, 17, "conv"),
    "conv stride": ([node("Conv", "XW", strides=[2, 1], **SAME)], IMAGE, {"W": (5, 4, 3, 3)}, 17, "conv"),
    "conv SAME_UPPER": ([node("Conv", "XW", auto_pad="SAME_UPPER")], IMAGE, {"W": (5, 4, 3, 3)}, 17, "conv"),
    "conv VALID": ([node("Conv", "XW", auto_pad="VALID")], IMAGE, {"W": (5, 4, 3, 3)}, 17, "conv"),
    "conv groups": ([node("Conv", "XW", group=2)], IMAGE, {"W": (6, 2, 3, 3)}, 17, "gconv"),
    "conv depthwise": ([node("Conv", "XWB", group=4, **SAME)], IMAGE, {"W": (4, 1, 3, 3), "B": (4,)}, 17, "gconv bias"),
    "conv of a kernel that is given": ([node("Conv", "XW")], IMAGE | {"W": (5, 4, 1, 1)}, {}, 17, "conv"),
    "matmul": ([node("MatMul", "XW")], MATRIX, {"W": (4, 5)}, 17, "matmul"),
    "gemm": ([node("Gemm", "XWB")], MATRIX, {"W": (4, 5), "B": (5,)}, 17, "matmul bias"),
    "gemm row": ([node("Gemm", "XWB")], MATRIX, {"W": (4, 5), "B": (1, 5)}, 17, "matmul bias"),
    "gemm column": ([node("Gemm", "XWB")], MATRIX, {"W": (4, 5), "B": (3, 1)}, 17, "matmul bias"),
    "gemm sum": ([node("Gemm", "XWB")], MATRIX | {"B": (3, 5)}, {"W": (4, 5)}, 17, "matmul ewadd"),
    "gemm turned": ([node("Gemm", "XWB", transA=1, transB=1)], {"X": (4, 3), "W": (5, 4)}, {"B": (5,)}, 17,
                    "transpose transpose matmul bias"),
    "gemm factors": ([node("Gemm", "XWB", alpha=0.5, beta=-2.0, transB=1)], MATRIX, {"W": (5, 4), "B": (1, 5)}, 17,
                     "matmul bias"),
    "gemm factor of the first": ([node("Gemm", "WX", alpha=0.5)], {"X": (4, 3)}, {"W": (5, 4)}, 17, "matmul"),
    "add": ([node("Add", "XW")], IMAGE | {"W": (2, 4, 7, 6)}, {}, 17, "ewadd"),
    "add channels": ([node("Add", "WX")], IMAGE, {"W": (4, 1, 1)}, 17, "bias"),
    "add batches": ([node("Add", "XW")], IMAGE, {"W": (2, 1, 1, 1)}, 17, "bias"),
    "add of a vector that is given": ([node("Add", "XW")], MATRIX | {"W": (4,)}, {}, 17, "bias"),
    "mul": ([node("Mul", "XX")], IMAGE, {}, 17, "ewmul"),
    "mul channels": ([node("Mul", "XW")], IMAGE, {"W": (1, 4, 1, 1)}, 17, "scale"),
    "mul last": ([node("Mul", "XW")], {"X": (2, 3, 4)}, {"W": (4,)}, 17, "scale"),
    "mul scalar": ([node("Mul", "XW")], MATRIX, {"W": np.float32(1.5)}, 17, "smul"),
    "mul one word": ([node("Mul", "WX")], MATRIX, {"W": (1, 1)}, 17, "smul"),
    "mul of a scalar that is given": ([node("Mul", "XW")], MATRIX | {"W": ()}, {}, 17, "smul"),
    "sum": ([node("Sum", "XWX")], MATRIX | {"W": (3, 4)}, {}, 17, "ewadd ewadd"),
    "relu": ([node("Relu", "X")], IMAGE, {}, 17, "relu"),
    "transpose": ([node("Transpose", "X", perm=[1, 0])], MATRIX, {}, 17, "transpose"),
    "transpose by default": ([node("Transpose", "X")], MATRIX, {}, 17, "transpose"),
    "concat": ([node("Concat", "XWX", axis=-3)], IMAGE | {"W": (2, 3, 7, 6)}, {}, 17, "concat concat"),
    "batch norm": ([node("BatchNormalization", "XABCD", epsilon=0.01)], IMAGE,
                   {"A": (4,), "B": (4,), "C": (4,), "D": np.full(4, 0.3, np.float32)}, 17, "scale bias"),
    "average": ([node("AveragePool", "X", **SQUARES)], IMAGE, {}, 17, "pool_avg"),
    "average padded": ([node("AveragePool", "X", count_include_pad=1, **SAME)], IMAGE, {}, 17, "pool_avg"),
    "max": ([node("MaxPool", "X", strides=[1, 2], **SAME)], IMAGE, {}, 17, "pool_max"),
    "slice": ([node("Slice", "XABC")], IMAGE, {"A": np.array([-3]), "B": np.array([2**40]), "C": np.array([-1])}, 13,
              "part"),
    "slice of two axes": ([node("Slice", "XAB")], IMAGE, {"A": np.array([0, 1]), "B": np.array([1, -1])}, 13,
                          "part part"),
    "slice, old": ([node("Slice", "X", starts=[1], ends=[3], axes=[1])], IMAGE, {}, 9, "part"),
    "slice of all": ([node("Slice", "XAB"), node("Relu", "Y", "Z")], MATRIX, {"A": np.array([0]), "B": np.array([9])},
                     13, "relu"),
    "split": ([node("Split", "XA", ["P", "Q"], axis=1)], IMAGE, {"A": np.array([1, 3])}, 13, "part part"),
    "split, old": ([node("Split", "X", ["P", "Q"], axis=-3, split=[1, 3])], IMAGE, {}, 11, "part part"),
    "split equal": ([node("Split", "X", ["P", "Q"])], IMAGE, {}, 13, "part part"),
    "split uneven": ([node("Split", "X", ["P", "Q", "R"], axis=2, num_outputs=3)], IMAGE, {}, 18, "part part part"),
    "identity": ([node("Identity", "X", "I"), node("Relu", "I")], MATRIX, {}, 17, "relu"),
    "dropout": ([node("Dropout", "X", ["I", "mask"]), node("Relu", "I")], MATRIX, {}, 17, "relu"),
    "constants": ([node("Constant", "", "C", value_floats=[1.0, 2.0, 3.0, 4.0]), node("Mul", "XC")], MATRIX, {}, 17,
                  "scale"),
    "constant of a shape": ([node("ConstantOfShape", "S", "C"), node("Unsqueeze", "CA", "D"), node("Add", "XD")],
                            IMAGE, {"S": np.array([4]), "A": np.array([1, 2])}, 17, "bias"),
    "float64": ([node("MatMul", "XW", "M"), node("Add", "MB")], {"X": value("X", (3, 4), TensorProto.DOUBLE)},
                {"W": np.ones((4, 2)), "B": np.arange(2.0)}, 17, "matmul bias"),
}  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_a_node_becomes_operators_that_compute_the_same(name, tmp_path):
    """By the table, and written again, under ONNX Runtime."""
    nodes, inputs, weights, opset, expected = EXACT[name]
    made = {one for part in nodes for one in part.output} - {one for part in nodes for one in part.input} - {"mask"}
    dtype = TensorProto.DOUBLE if name == "float64" else TensorProto.FLOAT
    outputs = [value(one, None, dtype) for one in sorted(made)]
    graph, _ = assert_round_trip(save(tmp_path / "m.onnx", nodes, inputs, outputs, weights, opset))
    assert operators(graph) == Counter(expected.split())
    assert_close(computed(graph, feeds_of(graph)), run(tmp_path / "m.onnx", feeds_of(graph)))


# of the same form, of nodes that the table does not compute: they stay
OTHER = {
    "conv of one dim": ([node("Conv", "XW")], {"X": (1, 4, 9)}, {"W": (5, 4, 3)}, 17, "Conv"),
    "conv dilated": ([node("Conv", "XW", dilations=[2, 1])], IMAGE, {"W": (5, 4, 3, 3)}, 17, "Conv"),
    "conv on one side": ([node("Conv", "XW", pads=[1, 1, 0, 0])], IMAGE, {"W": (5, 4, 3, 3)}, 17, "Conv"),
    "conv far": ([node("Conv", "XW", pads=[2, 2, 2, 2])], IMAGE, {"W": (5, 4, 3, 3)}, 17, "Conv"),
    "conv same and valid": ([node("Conv", "XW", pads=[1, 0, 1, 0])], IMAGE, {"W": (5, 4, 3, 3)}, 17, "Conv"),
    "conv even": ([node("Conv", "XW", auto_pad="SAME_LOWER")], IMAGE, {"W": (5, 4, 2, 2)}, 17, "Conv"),
    "conv SAME_UPPER on one side": ([node("Conv", "XW", auto_pad="SAME_UPPER", strides=[2, 2])], IMAGE,
                                    {"W": (5, 4, 3, 3)}, 17, "Conv"),
    "matmul of batches": ([node("MatMul", "XW")], {"X": (2, 3, 4), "W": (2, 4, 3)}, {}, 17, "MatMul"),
    "matmul of a vector": ([node("MatMul", "XW")], MATRIX, {"W": (4,)}, 17, "MatMul"),
    "gemm factor": ([node("Gemm", "XW", alpha=0.5)], MATRIX | {"W": (4, 5)}, {}, 17, "Gemm"),
    "gemm scalar": ([node("Gemm", "XWB")], MATRIX, {"W": (4, 5), "B": np.float32(2)}, 17, "Gemm"),
    "add scalar": ([node("Add", "XW")], MATRIX, {"W": np.float32(2)}, 17, "Add"),
    "add of two axes": ([node("Add", "XW")], IMAGE, {"W": (4, 7, 1)}, 17, "Add"),
    "add of both": ([node("Add", "XW")], {"X": (3, 1), "W": (1, 4)}, {}, 17, "Add"),
    "relu of a scalar": ([node("Relu", "X")], {"X": ()}, {}, 17, "Relu"),
    "transpose of four dims": ([node("Transpose", "X", perm=[0, 2, 1, 3])], IMAGE, {}, 17, "Transpose"),
    "transpose of nothing": ([node("Transpose", "X", perm=[0, 1])], MATRIX, {}, 17, "Transpose"),
    "average without zeros": ([node("AveragePool", "X", **SAME)], IMAGE, {}, 17, "AveragePool"),
    "average rounded up": ([node("AveragePool", "X", ceil_mode=1, **SQUARES)], IMAGE, {}, 17, "AveragePool"),
    "max dilated": ([node("MaxPool", "X", kernel_shape=[2, 2], dilations=[2, 2])], IMAGE, {}, 17, "MaxPool"),
    "slice by steps": ([node("Slice", "XABCD")], IMAGE,
                       {"A": np.array([0]), "B": np.array([4]), "C": np.array([1]), "D": np.array([2])}, 17, "Slice"),
    "slice that is computed": ([node("Shape", "W", "A"), node("Slice", "XBA")], {"X": (4,), "W": (3,)},
                               {"B": np.array([0])}, 17, "Shape Slice"),
    "batch norm that is given": ([node("BatchNormalization", "XABCD")], IMAGE | {"A": (4,)},
                                 {"B": (4,), "C": (4,), "D": np.ones(4, np.float32)}, 17, "BatchNormalization"),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER)
def test_what_is_not_exactly_an_operator_stays_a_node(name, tmp_path):
    nodes, inputs, weights, opset, expected = OTHER[name]
    graph, model = assert_round_trip(save(tmp_path / "m.onnx", nodes, inputs, ["Y"], weights, opset))
    assert operators(graph) == Counter(expected.split())
    assert kinds(model) == operators(graph)


def test_nodes_of_integers_and_of_other_domains_stay(tmp_path):
    """And what reads that of which the file does not say the sizes."""
    integers = {name: value(name, (3,), TensorProto.INT64) for name in "XW"}
    nodes = [node("Add", "XW", "S"), node("Concat", "SX", "C", axis=0), node("Cast", "C", "F", to=TensorProto.FLOAT)]
    nodes += [node("Gelu", "F", "G", domain="com.microsoft"), node("Relu", "G")]
    path = save(
        tmp_path / "m.onnx", nodes, integers, [value("Y", (6,))], opsets=[helper.make_opsetid("com.microsoft", 1)]
    )
    graph = read_tensor_graph(path)
    assert operators(graph) == {"Add": 1, "Concat": 1, "Cast": 1, "com.microsoft.Gelu": 1, "Relu": 1}


def test_products_of_one_tensor_share_its_matrix(tmp_path):
    """And are written as they were, as is a product of a product."""
    nodes = [node("MatMul", "XA", "P"), node("MatMul", "XB", "Q"), node("Add", "PQ", "S"), node("MatMul", "PA", "R")]
    path = save(tmp_path / "m.onnx", nodes, {"X": (2, 3, 4)}, ["S", "R"], {"A": (4, 4), "B": (4, 4)})
    graph, model = assert_round_trip(path)
    products = {one for one in graph.terms if one.op == "matmul"}
    (last,) = [one for one in products if one.operands[0] in products]
    first, second = products - {last}
    assert last.operands[0] in (first, second)
    assert first.operands[0] is second.operands[0]
    assert kinds(model)["MatMul"] == 3


def test_what_is_computed_twice_is_one_term_unless_it_is_random(tmp_path):
    nodes = [node(op, "X", f"{op}{number}") for op in ("Relu", "Softmax", "RandomNormalLike") for number in (1, 2)]
    nodes += [node("Softmax", "X", "Softmax3", axis=0)]
    nodes += [node("Sum", [one.output[0] for one in nodes])]
    graph = read_tensor_graph(save(tmp_path / "m.onnx", nodes, MATRIX, ["Y"]))
    assert operators(graph) == {"relu": 1, "Softmax": 2, "RandomNormalLike": 2, "ewadd": 6}


def test_a_channel_factor_that_is_computed_is_a_scale(tmp_path):
    """As of squeeze and excitation, of one image: it is written as it was."""
    nodes = [node("GlobalAveragePool", "X", "P"), node("Sigmoid", "P", "G"), node("Mul", "XG")]
    graph, model = assert_round_trip(save(tmp_path / "m.onnx", nodes, {"X": (1, 4, 5, 5)}, ["Y"]))
    assert operators(graph) == {"GlobalAveragePool": 1, "Sigmoid": 1, "Reshape": 1, "scale": 1}
    assert kinds(model) == {"GlobalAveragePool": 1, "Sigmoid": 1, "Mul": 1}


def test_what_nobody_reads_is_left_out(tmp_path):
    nodes = [node("Conv", "XW", "C"), node("Relu", "X")]
    graph, model = assert_round_trip(save(tmp_path / "m.onnx", nodes, IMAGE, ["Y"], {"W": (4, 4, 1, 1)}))
    assert graph.weights == {}
    assert kinds(model) == {"Relu": 1}
    assert len(model.graph.initializer) == 0


def test_dynamic_dims_are_given_sizes(tmp_path):
    path = save(tmp_path / "m.onnx", [node("MatMul", "XW")], {"X": ("batch", 4)}, ["Y"], {"W": (4, 2)})
    graph, _ = assert_round_trip(path, {"batch": 3})
    assert graph.types[graph.outputs["Y"]] == (3, 2)


def test_weights_that_an_input_may_replace_are_inputs(tmp_path):
    """From IR version 4 on; before it all weights are inputs by the rules, and none here."""
    inputs, weights = MATRIX | {"W": (4, 2)}, {"W": (4, 2)}
    path = save(tmp_path / "m.onnx", [node("MatMul", "XW")], inputs, ["Y"], weights, ir_version=4)
    graph, model = assert_round_trip(path)
    assert list(graph.inputs) == ["X", "W"]
    assert [one.name for one in model.graph.initializer] == ["W"]
    data = {"X": feeds_of(graph)["X"]}
    assert_close(run(path, data), run(path.with_suffix(".again.onnx"), data))

    path = save(tmp_path / "old.onnx", [node("MatMul", "XW")], inputs, ["Y"], weights, 8, ir_version=3)
    graph, model = assert_round_trip(path)
    assert list(graph.inputs) == ["X"]
    assert model.ir_version == 4


def test_sequences_and_absent_operands_stay_between_nodes(tmp_path):
    """A Clip without its least word, and tensors of a sequence."""
    nodes = [node("Clip", ["X", "", "W"], "C"), node("SplitToSequence", "C", "S", axis=0, keepdims=1)]
    nodes += [node("SequenceAt", "SI", "A"), node("Relu", "A")]
    weights = {"W": np.float32(0.5), "I": np.array(1)}
    path = save(tmp_path / "m.onnx", nodes, MATRIX, ["Y"], weights)
    graph, _ = assert_round_trip(path)
    assert operators(graph)["SplitToSequence"] == 1


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "int4", "float16", "bool", "uint8"])
def test_weights_of_any_type_are_kept(dtype, tmp_path):
    array = np.array([1, 0, 1]).astype(getattr(ml_dtypes, dtype, dtype))
    tensor = numpy_helper.from_array(array, "W")
    nodes = [node("Identity", "X", "I"), node("Relu", "I"), node("CastLike", "XW", "Z")]
    outputs = ["Y", value("Z", (3,), tensor.data_type)]
    path = save(tmp_path / "m.onnx", nodes, {"X": (3,)}, outputs, opset=21, ir_version=10)
    model = load(path)
    model.graph.initializer.append(tensor)
    path.write_bytes(model.SerializeToString())
    graph = read_tensor_graph(path)
    assert graph.weights["W"].dtype == array.dtype
    write_onnx(graph, tmp_path / "again.onnx")
    (again,) = load(tmp_path / "again.onnx").graph.initializer
    assert (again.data_type, again.raw_data, list(again.dims)) == (tensor.data_type, tensor.raw_data, [3])


def test_places_that_are_no_list_keep_a_node_as_it_is(tmp_path):
    """ONNX's checker lets them pass."""
    weights = {"A": np.array(0), "B": np.array(2)}
    path = save(tmp_path / "m.onnx", [node("Slice", "XAB")], MATRIX, [value("Y", (2, 4))], weights)
    assert operators(read_tensor_graph(path)) == {"Slice": 1}


def test_a_batch_norm_of_words_that_are_none_is_read_without_a_warning(tmp_path):
    """A variance below zero."""
    weights = {"A": (4,), "B": (4,), "C": (4,), "D": np.full(4, -1, np.float32)}
    graph = read_tensor_graph(save(tmp_path / "m.onnx", [node("BatchNormalization", "XABCD")], IMAGE, ["Y"], weights))
    assert np.isnan(graph.weights["Y.scale"]).all()
