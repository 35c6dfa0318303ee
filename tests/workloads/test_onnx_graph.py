"""ONNX import keeps the graph: what layers and operations read, paddings, operators; what is not read is said."""

import importlib.util
import warnings

import numpy as np
import pytest
from ruby_map.workloads import Network, load_workload
from ruby_map.workloads.onnx import import_onnx, left_out_lines, network_yaml
from ruby_map.workloads.onnx.operators import _OPERATOR, ELEMENTWISE
from ruby_map.workloads.onnx.views import View
from ruby_map.workloads.operators import OPERATORS, Causal

from .test_onnx import node, save

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("onnx") is None, reason="onnx is not installed: pip install 'ruby-map[onnx]'"
)


def imported(tmp_path, nodes, inputs, weights=(), outputs=("Y",), **more):
    """What is made of a model; the shapes of its outputs follow."""
    return import_onnx(save(tmp_path, nodes, inputs, dict.fromkeys(outputs), weights, **more))


def network(tmp_path, *model, **more):
    """The network of a model, written to a file and loaded again."""
    (tmp_path / "net.yaml").write_text(network_yaml(imported(tmp_path, *model, **more)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = load_workload(tmp_path / "net.yaml")
    assert isinstance(found, Network)
    return found


def operations(found):
    """By name the operator, what it reads, and the sizes of its output."""
    return {own.name: (own.op, own.inputs, own.sizes) for own in found.operations}


def edges(found):
    """By layer and tensor what makes it."""
    return {(own.consumer, own.tensor): own.producer for own in found.edges}


def handed(found):
    """What layers hand each other, with operations between: dims and zeros, and the operator on rows."""
    return {(own.producer, own.consumer): (own.ranks, own.through) for own in found.handed}


def conv(data, weights, output, **attributes):
    return node("Conv", [data, weights], output, name=output, **attributes)


def norm(data, output):
    return node("BatchNormalization", [data, "g", "b", "m", "v"], output, name=output)


CHANNELS = {name: [16] for name in "gbmv"}


def test_residual_block(tmp_path):
    """Two 3x3 convolutions beside a strided 1x1, added, rectified and pooled."""
    nodes = [
        conv("X", "W1", "c1", pads=[1, 1, 1, 1], strides=[2, 2]), norm("c1", "n1"),
        node("Relu", ["n1"], "r1", name="r1"),
        conv("r1", "W2", "c2", pads=[1, 1, 1, 1]), norm("c2", "n2"),
        conv("X", "W3", "c3", strides=[2, 2]), norm("c3", "n3"),
        node("Add", ["n2", "n3"], "sum", name="sum"), node("Relu", ["sum"], "r2", name="r2"),
        node("MaxPool", ["r2"], "Y", name="pool", kernel_shape=[2, 2], strides=[2, 2]),
    ]  # fmt: skip
    weights = {"W1": [16, 8, 3, 3], "W2": [16, 16, 3, 3], "W3": [16, 8, 1, 1], **CHANNELS}
    found = network(tmp_path, nodes, {"X": [1, 8, 28, 28]}, weights)
    assert found.order == ("c1", "n1", "r1", "c2", "n2", "c3", "n3", "sum", "r2", "pool")
    assert found.inputs == (("X", (1, 8, 28, 28)),)
    assert edges(found) == {("c1", "Inputs"): "X", ("c2", "Inputs"): "r1", ("c3", "Inputs"): "X"}
    assert operations(found) == {
        "n1": ("batch_norm", ("c1",), (1, 16, 14, 14)),
        "r1": ("relu", ("n1",), (1, 16, 14, 14)),
        "n2": ("batch_norm", ("c2",), (1, 16, 14, 14)),
        "n3": ("batch_norm", ("c3",), (1, 16, 14, 14)),
        "sum": ("add", ("n2", "n3"), (1, 16, 14, 14)),
        "r2": ("relu", ("sum",), (1, 16, 14, 14)),
        "pool": ("max_pool", ("r2",), (1, 16, 7, 7)),
    }
    assert handed(found) == {("c1", "c2"): ((("N", 0), ("M", 0), ("P", 1), ("Q", 1)), "")}


def test_inverted_residual_block(tmp_path):
    """Expanded, depthwise over padded rows, projected, and added to what was there before."""
    nodes = [
        conv("X", "W1", "expand"), node("Clip", ["expand", "low", "high"], "a", name="a"),
        conv("a", "W2", "depthwise", group=24, pads=[1, 1, 1, 1]),
        node("Clip", ["depthwise", "low", "high"], "b", name="b"),
        conv("b", "W3", "project"), node("Add", ["X", "project"], "Y", name="sum"),
    ]  # fmt: skip
    weights = {"W1": [24, 4, 1, 1], "W2": [24, 1, 3, 3], "W3": [4, 24, 1, 1], "low": [], "high": []}
    found = network(tmp_path, nodes, {"X": [1, 4, 14, 14]}, weights)
    assert [layer.output_sizes for layer, _ in found.layers] == [(1, 24, 14, 14), (1, 24, 1, 14, 14), (1, 4, 14, 14)]
    assert operations(found) == {
        "a": ("clip", ("expand",), (1, 24, 14, 14)),
        "b": ("clip", ("depthwise",), (1, 24, 1, 14, 14)),
        "sum": ("add", ("X", "project"), (1, 4, 14, 14)),
    }
    assert handed(found) == {
        ("expand", "depthwise"): ((("N", 0), ("M", 0), (None, 0), ("P", 1), ("Q", 1)), ""),
        ("depthwise", "project"): ((("N", 0), ("G", 0), ("P", 0), ("Q", 0)), ""),
    }


PADS = {
    "none": ({}, 7, {}),
    "VALID": ({"auto_pad": "VALID"}, 7, {}),
    "both ends": ({"pads": [1, 2, 1, 2]}, 7, {"P": 1, "Q": 2}),
    "uneven": ({"pads": [0, 0, 1, 3]}, 7, {"P": [0, 1], "Q": [0, 3]}),
    "SAME_UPPER": ({"auto_pad": "SAME_UPPER", "strides": [2, 2]}, 8, {"P": [0, 1], "Q": [0, 1]}),
    "SAME_LOWER": ({"auto_pad": "SAME_LOWER", "strides": [2, 2]}, 8, {"P": [1, 0], "Q": [1, 0]}),
    "SAME_UPPER, dilated": ({"auto_pad": "SAME_UPPER", "dilations": [2, 1]}, 7, {"P": 2, "Q": 1}),
    "SAME_LOWER, none needed": ({"auto_pad": "SAME_LOWER", "strides": [3, 3]}, 9, {}),
}


@pytest.mark.parametrize("name", PADS)
def test_padding(name, tmp_path):
    """`pad` has the zeros before and after, one number where they are equal, and none where there are none."""
    attributes, size, pad = PADS[name]
    nodes = [conv("X", "W", "first"), conv("first", "V", "second", **attributes)]
    weights = {"W": [4, 3, 1, 1], "V": [5, 4, 3, 3]}
    model = (nodes, {"X": [1, 3, size, size]}, weights, ("second",))
    assert imported(tmp_path, *model).layers[1][1].get("pad", {}) == pad
    ranks, _ = handed(network(tmp_path, *model))["first", "second"]
    assert [zeros for _, zeros in ranks[2:]] == [np.ravel(pad.get(dim, 0))[0] for dim in "PQ"]


def test_padding_of_one_and_three_spatial_dims(tmp_path):
    """The window of one dim is Q; those of three are O, P and Q."""
    line = imported(tmp_path, [conv("X", "W", "Y", pads=[2, 1])], {"X": [1, 3, 9]}, {"W": [4, 3, 4]})
    assert line.layers[0][1]["pad"] == {"Q": [2, 1]}
    cube = [conv("X", "W", "Y", pads=[1, 0, 2, 1, 0, 2])]
    assert imported(tmp_path, cube, {"X": [1, 3, 5, 5, 5]}, {"W": [4, 3, 3, 3, 3]}).layers[0][1]["pad"] == {
        "O": 1,
        "Q": 2,
    }


def projected(name, order):
    """A product of X with weights, a bias, and its heads."""
    return [
        node("MatMul", ["X", f"W{name}"], f"{name}_product", name=name),
        node("Add", [f"{name}_product", f"B{name}"], f"{name}_sum", name=f"{name}_bias"),
        node("Reshape", [f"{name}_sum", "by_heads"], f"{name}_heads", name=f"{name}_heads"),
        node("Transpose", [f"{name}_heads"], name, name=f"{name}_turned", perm=order),
    ]


def test_attention_block(tmp_path):
    """Keys are read as they were before ONNX transposed them; values, whose words stand the other way, transposed."""
    nodes = [
        node("Constant", [], "by_heads", value_ints=[2, 16, 4, 8]),
        node("Constant", [], "joined", value_ints=[2, 16, 32]),
        *projected("q", [0, 2, 1, 3]), *projected("k", [0, 2, 3, 1]), *projected("v", [0, 2, 1, 3]),
        node("MatMul", "qk", "s", name="scores"), node("Div", ["s", "root"], "d", name="scaled"),
        node("Softmax", "d", "p", name="softmax"), node("MatMul", "pv", "c", name="context"),
        node("Transpose", "c", "t", name="back", perm=[0, 2, 1, 3]), node("Reshape", ["t", "joined"], "f", name="flat"),
        node("MatMul", ["f", "Wo"], "o", name="out"), node("Add", ["Bo", "o"], "w", name="out_bias"),
        node("Add", ["w", "X"], "r", name="residual"), node("LayerNormalization", ["r", "g", "b"], name="norm"),
    ]  # fmt: skip
    weights = {f"W{name}": [32, 32] for name in "qkvo"} | {f"B{name}": [32] for name in "qkvo"}
    found = network(tmp_path, nodes, {"X": [2, 16, 32]}, weights | {"root": [], "g": [32], "b": [32]})
    heads, turned = (2, 16, 4, 8), (2, 4, 16, 8)
    assert edges(found) == {
        **{(name, "Inputs"): "X" for name in "qkv"},
        ("scores", "Inputs"): "q_turned",
        ("scores", "Weights"): "k_turned.view",
        ("context", "Inputs"): "softmax",
        ("context", "Weights"): "v_turned.view",
        ("out", "Inputs"): "flat",
    }
    assert operations(found) == {
        **{f"{name}_bias": ("bias", (name,), (32, 32)) for name in "qkv"},
        **{f"{name}_heads": ("reshape", (f"{name}_bias",), heads) for name in "qkv"},
        "q_turned": ("transpose", ("q_heads",), turned),
        "k_turned": ("transpose", ("k_heads",), (2, 4, 8, 16)),
        "k_turned.view": ("transpose", ("k_turned",), (8, 16, 8)),
        "v_turned": ("transpose", ("v_heads",), turned),
        "v_turned.view": ("transpose", ("v_turned",), (8, 8, 16)),
        "scaled": ("scale", ("scores",), (8, 16, 16)),
        "softmax": ("softmax", ("scaled",), (8, 16, 16)),
        "back": ("transpose", ("context",), (2, 16, 4, 8)),
        "flat": ("reshape", ("back",), (2, 16, 32)),
        "out_bias": ("bias", ("out",), (32, 32)),
        "residual": ("add", ("out_bias", "X"), (2, 16, 32)),
        "norm": ("layer_norm", ("residual",), (2, 16, 32)),
    }
    assert handed(found) == {("scores", "context"): ((("B", 0), ("N", 0), ("M", 0)), "softmax")}


def test_swiglu(tmp_path):
    """x sigmoid(x) passes the words of the gate; its product with the other projection reads both."""
    nodes = [
        node("MatMul", ["X", "G"], "g", name="gate"), node("Sigmoid", ["g"], "s", name="sigmoid"),
        node("Mul", ["g", "s"], "a", name="activated"), node("MatMul", ["X", "U"], "u", name="up"),
        node("Mul", ["a", "u"], "h", name="gated"), node("MatMul", ["h", "D"], name="down"),
    ]  # fmt: skip
    model = (nodes, {"X": [2, 5, 8]}, {"G": [8, 24], "U": [8, 24], "D": [24, 8]})
    found = network(tmp_path, *model)
    assert found.order == ("gate", "activated", "up", "gated", "down")
    assert edges(found) == {("gate", "Inputs"): "X", ("up", "Inputs"): "X", ("down", "Inputs"): "gated"}
    assert operations(found) == {
        "activated": ("silu", ("gate",), (10, 24)),
        "gated": ("multiply", ("activated", "up"), (2, 5, 24)),
    }
    told = ["left out, 1 nodes that move nothing, and nobody reads what they make: Sigmoid 1"]
    assert left_out_lines(imported(tmp_path, *model)) == told


# by operator of ours: nodes that make z of the tensor y and constants k, one word, and w, as many words as y has
ONE_TENSOR = {
    "bias": [("Add", "yw", "z")],
    "scale": [("Mul", "ky", "z")],
    "reciprocal": [("Div", "ky", "z")],
    "clip": [("Max", "yk", "z")],
    "power": [("Mul", "yy", "z")],
    "prelu": [("PRelu", "yk", "z")],
    "hard_swish": [("Add", "yk", "a"), ("Clip", "akk", "b"), ("Mul", "by", "z")],
    "gelu": [("Div", "yk", "a"), ("Erf", "a", "b"), ("Add", "bk", "c"), ("Mul", "yc", "z")],
}


@pytest.mark.parametrize("op", ONE_TENSOR)
def test_word_by_word_on_one_tensor_changes_its_words_as_they_pass(op, tmp_path):
    """Constants are no tensors that move, and what was made of the same words as they pass is no other tensor."""
    nodes = [node("MatMul", ["X", "W"], "x", name="first"), node("Relu", "x", "y", name="y")]
    nodes += [node(name, inputs, output, name=output) for name, inputs, output in ONE_TENSOR[op]]
    nodes.append(node("MatMul", ["z", "V"], name="last"))
    weights = {"W": [4, 6], "V": [6, 3], "k": [], "w": [5, 6]}
    found = network(tmp_path, nodes, {"X": [5, 4]}, weights)
    assert operations(found) == {"y": ("relu", ("first",), (5, 6)), "z": (op, ("y",), (5, 6))}
    assert handed(found) == {("first", "last"): ((("N", 0), ("M", 0)), "")}


def test_concat_and_split(tmp_path):
    """A Split is a slice for each of its outputs that is read; constants beside words are padding."""
    nodes = [
        node("Constant", [], "sizes", value_ints=[4, 5, 1]),
        node("MatMul", ["X", "W"], "a", name="a"), node("MatMul", ["X", "V"], "b", name="b"),
        node("Concat", "ab", "c", name="both", axis=1),
        several("Split", ["c", "sizes"], ["d", "e", "unread"], name="parts", axis=1),
        node("Concat", ["token", "e"], "f", name="token", axis=0), node("MatMul", "df", name="last"),
    ]  # fmt: skip
    weights = {"W": [3, 6], "V": [3, 4], "token": [1, 5]}
    found = network(tmp_path, nodes, {"X": [3, 3]}, weights, opset=18)
    assert operations(found) == {
        "both": ("concat", ("a", "b"), (3, 10)),
        "parts.1": ("slice", ("both",), (3, 4)),
        "parts.2": ("slice", ("both",), (3, 5)),
        "token": ("pad", ("parts.2",), (4, 5)),
        "token.view": ("transpose", ("token",), (5, 4)),
    }
    assert edges(found)["last", "Inputs"] == "parts.1"
    assert edges(found)["last", "Weights"] == "token.view"


def several(op, inputs, outputs, **attributes):
    from onnx import helper

    return helper.make_node(op, list(inputs), list(outputs), **attributes)


def test_constants_and_shapes_vanish(tmp_path):
    """What follows from the model and from shapes alone has no entry, and nobody reads it."""
    nodes = [
        node("MatMul", ["X", "W"], "a", name="first"),
        node("Shape", "X", "shape"), node("Constant", [], "zero", value_ints=[0]),
        node("Gather", ["shape", "zero"], "rows"), node("Concat", ["rows", "more"], "both", axis=0),
        node("ConstantOfShape", ["both"], "ones"), node("Add", ["a", "ones"], "b", name="added"),
        node("Reshape", ["b", "both"], "c", name="same"), node("Transpose", ["V"], "T"), node("Dropout", "c", "d"),
        node("Cast", "d", "e", to=1), node("MatMul", ["e", "T"], name="last"),
    ]  # fmt: skip
    nodes.insert(4, node("Constant", [], "more", value_ints=[6]))
    model = (nodes, {"X": [5, 4]}, {"W": [4, 6], "V": [3, 6]})
    found = network(tmp_path, *model)
    assert operations(found) == {"added": ("bias", ("first",), (5, 6)), "same": ("reshape", ("added",), (5, 6))}
    assert edges(found) == {("first", "Inputs"): "X", ("last", "Inputs"): "same"}
    assert left_out_lines(imported(tmp_path, *model)) == [
        "left out, 7 nodes that compute with constants and shapes alone: "
        "Constant 2, Shape 1, Gather 1, Concat 1, ConstantOfShape 1, Transpose 1",
        "left out, 2 nodes that hand on what they read: Dropout 1, Cast 1",
    ]


def test_what_is_left_out_makes_inputs_of_the_network(tmp_path):
    """Readers of a node that is not read in read an input that is named after the tensor."""
    nodes = [
        node("MatMul", ["X", "W"], "a", name="first"),
        node("Einsum", ["a", "a"], "/mid/out", name="e", equation="ij,ij->ij"),
        node("Relu", ["/mid/out"], "b", name="act"), node("NonZero", "b", "places"),
        node("Compress", ["b", "k"], "some"),
        node("MatMul", ["b", "W"], name="last"),
    ]  # fmt: skip
    model = (nodes, {"X": [4, 4], "unread": [3]}, {"W": [4, 4], "k": [16]})
    found = network(tmp_path, *model)
    assert found.inputs == (("X", (4, 4)), ("mid.out", (4, 4)))
    assert edges(found) == {("first", "Inputs"): "X", ("last", "Inputs"): "act"}
    assert operations(found) == {"act": ("relu", ("mid.out",), (4, 4))}
    assert left_out_lines(imported(tmp_path, *model)) == [
        "left out, though it multiplies: Einsum e: no layer of ours is like it",
        "left out, 2 nodes whose operands or outputs have no known sizes: NonZero 1, Compress 1",
    ]


def test_inner_graphs_are_left_out(tmp_path):
    """An If is told, and what it makes is an input, though its condition belongs to the model."""
    from onnx import TensorProto, helper

    value = helper.make_tensor_value_info("made", TensorProto.FLOAT, [4, 4])
    inner = helper.make_graph([node("MatMul", "aa", "made")], "inner", [], [value])
    nodes = [
        node("MatMul", ["X", "W"], "a", name="first"), node("Cast", ["k"], "chosen", to=9),
        node("If", ["chosen"], "b", name="if", then_branch=inner, else_branch=inner), node("MatMul", "ab", name="last"),
    ]  # fmt: skip
    found = network(tmp_path, nodes, {"X": [4, 4]}, {"W": [4, 4], "k": [1]})
    assert found.inputs == (("X", (4, 4)), ("b", (4, 4)))
    assert edges(found)["last", "Inputs"] == "first"
    assert operations(found) == {"b.view": ("transpose", ("b",), (4, 4))}


def test_operands_are_read_in_the_order_of_their_words(tmp_path):
    """Data on the right is read across, and made so: sizes alone, all equal here, would hide it."""
    nodes = [
        node("MatMul", ["W", "X"], "a", name="first"), node("MatMul", ["V", "a"], "b", name="second"),
        node("Gemm", ["b", "X"], "c", name="third", transA=1), node("MatMul", ["X", "c"], name="last"),
    ]  # fmt: skip
    found = network(tmp_path, nodes, {"X": [7, 7]}, {"W": [7, 7], "V": [7, 7]})
    assert operations(found) == {
        "X.view": ("transpose", ("X",), (7, 7)),
        "third.view": ("transpose", ("third",), (7, 7)),
    }
    assert edges(found) == {
        ("first", "Inputs"): "X.view",
        ("second", "Inputs"): "first",
        ("third", "Inputs"): "second",
        ("third", "Weights"): "X.view",
        ("last", "Inputs"): "X",
        ("last", "Weights"): "third.view",
    }


def test_products_of_many_dims_are_numpys(tmp_path):
    """Batches after other dims: views put the words of operands and outputs where the layer and numpy have them."""
    nodes = [node("MatMul", "XV", "p", name="product"), node("Relu", "p", "Y", name="relu")]
    found = network(tmp_path, nodes, {"X": [6, 4, 5, 7], "V": [1, 4, 7, 3]})
    assert edges(found) == {("product", "Inputs"): "X.view", ("product", "Weights"): "V.view"}
    assert operations(found) == {
        "X.view": ("transpose", ("X",), (4, 30, 7)),
        "V.view": ("transpose", ("V",), (4, 3, 7)),
        "product.view": ("transpose", ("product",), (6, 4, 5, 3)),
        "relu": ("relu", ("product.view",), (6, 4, 5, 3)),
    }


def test_a_view_moves_words_as_numpy_does():
    """Dims of one word count for nothing; two views are one where the dims between are the same."""
    first, second = View.of((2, 1, 3, 4), (2, 0, 1, 3)), View.of((3, 2, 1, 4), (3, 2, 1, 0))
    words = np.arange(24).reshape(2, 3, 4)
    made = second.after(first)
    assert made is not None
    assert (words.transpose(made.order) == words.transpose(1, 0, 2).transpose(2, 1, 0)).all()
    assert (made.made, made.plain, View.of((1, 5, 1), (2, 1, 0)).plain) == ((4, 2, 3), False, True)
    assert View.of((6, 4)).after(first) is None


def test_ranks_that_do_not_go_together_have_a_view_between(tmp_path):
    """8 groups of 3 channels are read as 6 groups of 4: neither is joined or split of the other."""
    nodes = [conv("X", "W", "a", group=8), conv("a", "V", "b", group=6, pads=[1, 1, 1, 1]), conv("b", "U", "Y")]
    weights = {"W": [24, 1, 1, 1], "V": [12, 4, 3, 3], "U": [2, 12, 1, 1]}
    found = network(tmp_path, nodes, {"X": [1, 8, 6, 6]}, weights)
    assert operations(found) == {"a.view": ("reshape", ("a",), (1, 6, 4, 6, 6))}
    assert edges(found) == {("a", "Inputs"): "X", ("b", "Inputs"): "a.view", ("Y", "Inputs"): "b"}


# stride, filter, pads at each end; zeros before and after the data
TRANSPOSED = {
    "doubled": (2, 2, 0, (0, 0)),
    "cropped": (2, 4, 1, (1, 0)),
    "long": (2, 6, 2, (1, 1)),
    "one": (1, 3, 1, (1, 1)),
}


@pytest.mark.parametrize("name", TRANSPOSED)
def test_transposed_convolution(name, tmp_path):
    """The phases of a stride stand beside each other, so a view follows; without a stride none does."""
    stride, size, crop, pad = TRANSPOSED[name]
    nodes = [
        conv("X", "W", "a"), node("ConvTranspose", "aV", "b", name="up", strides=[stride] * 2, pads=[crop] * 4),
        conv("b", "U", "Y"),
    ]  # fmt: skip
    weights = {"W": [8, 3, 1, 1], "V": [8, 4, size, size], "U": [2, 4, 1, 1]}
    found = network(tmp_path, nodes, {"X": [1, 3, 7, 7]}, weights)
    output = 6 * stride + size - 2 * crop
    view = {"up.view": ("reshape", ("up",), (1, 4, output, output))} if stride > 1 else {}
    assert operations(found) == view
    assert edges(found) == {("a", "Inputs"): "X", ("up", "Inputs"): "a", ("Y", "Inputs"): "up.view" if view else "up"}
    assert [zeros for _, zeros in handed(found)["a", "up"][0][-2:]] == [pad[0]] * 2


def test_what_an_edge_cannot_say_is_told(tmp_path):
    """A transposed convolution that crops whole words of its data reads what no padding expresses."""
    up = node("ConvTranspose", "aV", "Y", name="up", strides=[2, 2], pads=[3, 3, 3, 3])
    made = imported(tmp_path, [conv("X", "W", "a"), up], {"X": [1, 3, 7, 7]}, {"W": [8, 3, 1, 1], "V": [8, 4, 4, 4]})
    rule = "up: nothing is said of what makes its Inputs: it leaves out words at the edges"
    assert left_out_lines(made) == [rule]
    assert f"# {rule}\n" in network_yaml(made)
    assert "from" not in made.layers[1][1]


def test_attention_nodes(tmp_path):
    """Scores, softmax and context of grouped queries by heads in one dim; with a mask of the data and a cache."""
    shapes = {"Q": [1, 6, 24], "K": [1, 6, 12], "V": [1, 6, 12]}
    plain = node("Attention", "QKV", name="a", q_num_heads=6, kv_num_heads=3, is_causal=1)
    found = network(tmp_path, [plain], shapes, opset=23)
    assert operations(found) == {
        "Q.view": ("transpose", ("Q",), (3, 12, 4)),
        "K.view": ("transpose", ("K",), (3, 6, 4)),
        "V.view": ("transpose", ("V",), (3, 4, 6)),
        "a.context.view": ("transpose", ("a.context",), (1, 6, 24)),
    }
    (edge,) = found.handed
    assert (edge.producer, edge.consumer, edge.through, edge.causal) == (
        "a.scores",
        "a.context",
        "softmax",
        Causal("N", "K", 6),
    )

    cached = several("Attention", ["Q", "K", "V", "M", "PK", "PV"], ["y", "k", "v"], name="a", is_causal=1)
    shapes = {"Q": [1, 3, 5, 16], "K": [1, 3, 1, 16], "V": [1, 3, 1, 8], "M": [5, 8]}
    nodes = [cached, node("Relu", "y", "Y"), node("Relu", "k", "Z", name="later")]
    shapes |= {"PK": [1, 3, 7, 16], "PV": [1, 3, 7, 8]}
    found = network(tmp_path, nodes, shapes, outputs=("Y", "Z"), opset=23)
    assert edges(found) == {
        ("a.scores", "Inputs"): "Q",
        ("a.scores", "Weights"): "a.keys",
        ("a.context", "Inputs"): "a.mask",
        ("a.context", "Weights"): "a.values.view",
    }
    assert operations(found)["a.keys"] == ("concat", ("PK", "K"), (1, 3, 8, 16))
    assert operations(found)["a.mask"] == ("add", ("a.scores", "M"), (1, 3, 5, 8))
    assert operations(found)["later"] == ("relu", ("a.keys",), (1, 3, 8, 16))
    assert {own.through for own in found.edges} == {"", "softmax"}
    assert not any(own.causal for own in found.edges)  # the queries are more than the new keys


def test_quantised_nodes(tmp_path):
    """Their operands are the first and the fourth input; scales and zero points belong to the model."""
    from onnx import TensorProto, helper, numpy_helper, save_model

    first = ["q", "s", "z", "W", "s", "z", "s", "z"]
    nodes = [
        node("QuantizeLinear", "Xsz", "q", name="quantize"),
        node("QLinearConv", first, "c", name="conv", pads=[1, 1, 1, 1]),
        node("DequantizeLinear", "csz", "Y", name="dequantize"),
    ]  # fmt: skip
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("X", [1, 3, 6, 6]), ("Y", None))]
    weights = [numpy_helper.from_array(np.zeros(s, t), n) for n, s, t in (("s", [], "f4"), ("z", [], "u1"))]
    weights.append(numpy_helper.from_array(np.zeros([4, 3, 3, 3], "u1"), "W"))
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], weights)
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path / "q.onnx")
    (tmp_path / "net.yaml").write_text(network_yaml(import_onnx(tmp_path / "q.onnx")))
    found = load_workload(tmp_path / "net.yaml")
    assert found.order == ("quantize", "conv", "dequantize")
    assert edges(found) == {("conv", "Inputs"): "quantize"}


def test_operations_of_several_outputs_and_operands(tmp_path):
    """A bias that is no constant is added; two outputs are parts of what is made; what fits no operator is `other`."""
    nodes = [
        node("Gemm", ["X", "W", "X"], "a", name="layer"), several("TopK", ["a", "k"], ["v", "i"], name="top"),
        node("Cast", "i", "c", to=1), node("Mul", "vc", "p", name="both"), node("Sin", "p", "q", name="sine"),
        node("Transpose", ["N"], "T", name="turned"), node("Add", ["N", "T"], "Y", name="outer"),
        node("MatMul", "qV", "Z", name="last"), node("Constant", [], "k", value_ints=[2]),
        node("Gather", ["table", "ids"], "E", name="words"), node("Expand", ["N", "wide"], "F", name="wide"),
    ]  # fmt: skip
    nodes.insert(0, nodes.pop(8))
    nodes.insert(0, node("Constant", [], "wide", value_ints=[6, 5]))
    from onnx import TensorProto, helper, numpy_helper, save_model

    shapes = {"X": [6, 6], "N": [6, 1], "Y": None, "Z": None, "E": None, "F": None}
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    values.insert(0, helper.make_tensor_value_info("ids", TensorProto.INT64, [7]))
    sizes = {"W": [6, 6], "V": [2, 3], "table": [9, 4]}
    weights = [numpy_helper.from_array(np.zeros(shape, "f4"), name) for name, shape in sizes.items()]
    graph = helper.make_graph(nodes, "g", values[:3], values[3:], weights)
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path / "m.onnx")
    (tmp_path / "net.yaml").write_text(network_yaml(import_onnx(tmp_path / "m.onnx")))
    found = load_workload(tmp_path / "net.yaml")
    assert edges(found) == {("layer", "Inputs"): "X", ("last", "Inputs"): "sine"}
    assert operations(found) == {
        "layer.add": ("add", ("layer", "X"), (6, 6)),
        "top": ("other", ("layer.add",), (24,)),
        "top.1": ("slice", ("top",), (6, 2)),
        "top.2": ("slice", ("top",), (6, 2)),
        "both": ("multiply", ("top.1", "top.2"), (6, 2)),
        "sine": ("other", ("both",), (6, 2)),
        "turned": ("reshape", ("N",), (1, 6)),
        "outer": ("other", ("N", "turned"), (6, 6)),
        "words": ("embedding", ("ids",), (7, 4)),
        "wide": ("expand", ("N",), (6, 5)),
    }


def test_names_are_of_layers_operations_and_inputs_together(tmp_path):
    """Nodes and tensors of one name have different ones in the file; text that YAML reads otherwise is quoted."""
    nodes = [node("MatMul", ["no", "W"], "a", name="no"), node("Relu", "a", "b", name="no"),
             node("MatMul", ["b", "W"], name="x\n- y: {")]  # fmt: skip
    found = network(tmp_path, nodes, {"no": [4, 4]}, {"W": [4, 4]})
    assert found.inputs == (("no", (4, 4)),)
    assert found.order == ("no_2", "no_3", "x_-_y:_{")


def test_a_model_that_says_wrong_sizes_has_no_wrong_edge(tmp_path):
    """What a layer makes is not what the model says of it: its readers read an input, and this is told."""
    nodes = [node("MatMul", ["X", "W"], "a", name="first"), node("Odd", "a", "c", name="odd", domain="mine"),
             node("MatMul", ["c", "W"], "Y", name="last")]  # fmt: skip
    path = save(tmp_path, nodes, {"X": [4, 4]}, {"a": [5, 4], "c": [5, 4], "Y": [5, 4]}, {"W": [4, 4]})
    made = import_onnx(path)
    assert made.inputs == {"X": (4, 4), "a": (5, 4)}
    assert made.remarks == ("first makes 4 x 4, and the model says 5 x 4 of it: it is read as an input",)
    (tmp_path / "net.yaml").write_text(network_yaml(made))
    assert operations(load_workload(tmp_path / "net.yaml")) == {"odd": ("other", ("a",), (5, 4))}


def test_a_long_model(tmp_path):
    """83 blocks of six nodes, each added to what was there before."""
    nodes, last = [], "X"
    for n in range(83):
        nodes += [conv(last, "W", f"c{n}", pads=[1, 1, 1, 1]), norm(f"c{n}", f"n{n}"),
                  node("Sigmoid", [f"n{n}"], f"s{n}"), node("Mul", [f"n{n}", f"s{n}"], f"m{n}", name=f"m{n}"),
                  node("Add", [f"m{n}", last], f"a{n}", name=f"a{n}"),
                  node("Relu", [f"a{n}"], f"r{n}", name=f"r{n}")]  # fmt: skip
        last = f"r{n}"
    nodes.append(node("GlobalAveragePool", [last], name="mean"))
    found = network(tmp_path, nodes, {"X": [1, 16, 8, 8]}, {"W": [16, 16, 3, 3], **CHANNELS})
    assert (len(found.layers), len(found.operations)) == (83, 83 * 4 + 1)
    assert operations(found)["a82"] == ("add", ("m82", "r81"), (1, 16, 8, 8))


def test_every_operator_of_onnx_here_is_one_of_ours():
    """The tables name operators that there are, each of ONNX in one of them."""
    named = {*_OPERATOR.values(), *(own for both in ELEMENTWISE.values() for own in both)}
    assert named <= OPERATORS.keys()
    assert not _OPERATOR.keys() & ELEMENTWISE.keys()
