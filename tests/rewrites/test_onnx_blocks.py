"""Blocks of known networks, and random graphs of many nodes, are read and written as models that make the same."""

import tempfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.mapper.rewrites.onnx import read_tensor_graph

from .onnx_models import assert_round_trip, kinds, node, operators, save

THREE = {"pads": [1, 1, 1, 1]}
NORM = {f"{kind}{number}": (8,) for kind in "abc" for number in (1, 2)}
NORM |= {f"d{number}": np.full(8, 0.5, np.float32) for number in (1, 2)}
# torchvision's forms: nodes, sizes of the input, weights, operators that are made
BLOCKS = {
    "residual": (
        [node("Conv", ["X", "k1"], "p", **THREE), node("BatchNormalization", ["p", "a1", "b1", "c1", "d1"], "q"),
         node("Relu", "q", "r"), node("Conv", ["r", "k2"], "s", **THREE),
         node("BatchNormalization", ["s", "a2", "b2", "c2", "d2"], "t"), node("Add", "tX", "u"), node("Relu", "u")],
        (1, 8, 6, 6), {"k1": (8, 8, 3, 3), "k2": (8, 8, 3, 3)} | NORM,
        {"conv": 2, "scale": 2, "bias": 2, "relu": 2, "ewadd": 1},
    ),
    "inception": (
        [node("Conv", ["X", "k1"], "a"), node("Conv", ["X", "k2"], "b"), node("Conv", ["b", "k3"], "c", **THREE),
         node("AveragePool", ["X"], "d", kernel_shape=[3, 3], count_include_pad=1, **THREE),
         node("Conv", ["d", "k2"], "e"), node("MaxPool", ["X"], "f", kernel_shape=[3, 3], **THREE),
         node("Concat", "acef", axis=1)],
        (1, 8, 6, 6), {"k1": (4, 8, 1, 1), "k2": (3, 8, 1, 1), "k3": (5, 3, 3, 3)},
        {"conv": 4, "pool_avg": 1, "pool_max": 1, "concat": 3},
    ),
    "fire": (
        [node("Conv", ["X", "k1", "b1"], "s"), node("Relu", "s", "t"), node("Conv", ["t", "k2", "b2"], "e"),
         node("Relu", "e", "f"), node("Conv", ["t", "k3", "b2"], "g", **THREE), node("Relu", "g", "h"),
         node("Concat", "fh", axis=1)],
        (1, 8, 6, 6), {"k1": (4, 8, 1, 1), "b1": (4,), "k2": (6, 4, 1, 1), "k3": (6, 4, 3, 3), "b2": (6,)},
        {"conv": 3, "bias": 3, "relu": 3, "concat": 1},
    ),
    "inverted residual": (
        [node("Conv", ["X", "k1"], "a"), node("Clip", ["a", "zero", "six"], "b"),
         node("Conv", ["b", "k2"], "c", group=16, **THREE), node("GlobalAveragePool", "c", "d"),
         node("Conv", ["d", "k4"], "e"), node("HardSigmoid", "e", "f"), node("Mul", "cf", "g"),
         node("Conv", ["g", "k3"], "h"), node("Add", "hX")],
        (1, 8, 6, 6), {"k1": (16, 8, 1, 1), "k2": (16, 1, 3, 3), "k3": (8, 16, 1, 1), "k4": (16, 16, 1, 1),
                       "zero": np.float32(0), "six": np.float32(6)},
        {"conv": 3, "gconv": 1, "Clip": 1, "GlobalAveragePool": 1, "HardSigmoid": 1, "Reshape": 1, "scale": 1,
         "ewadd": 1},
    ),
    "attention": (
        [node("LayerNormalization", ["X", "g", "h"], "n"), node("MatMul", ["n", "wq"], "q1"),
         node("Add", ["q1", "bq"], "q"), node("MatMul", ["n", "wk"], "k"), node("MatMul", ["n", "wv"], "v"),
         *[node("Reshape", [one, "heads"], f"{one}h") for one in "qkv"],
         node("Transpose", ["qh"], "qt", perm=[0, 2, 1, 3]), node("Transpose", ["kh"], "kt", perm=[0, 2, 3, 1]),
         node("Transpose", ["vh"], "vt", perm=[0, 2, 1, 3]), node("MatMul", ["qt", "kt"], "s"),
         node("Mul", ["s", "half"], "s2"), node("Softmax", ["s2"], "p", axis=-1), node("MatMul", ["p", "vt"], "o"),
         node("Transpose", ["o"], "ot", perm=[0, 2, 1, 3]), node("Reshape", ["ot", "flat"], "or"),
         node("MatMul", ["or", "wo"], "z"), node("Add", "zX")],
        (2, 5, 8), {"g": (8,), "h": (8,), "bq": (8,), "half": np.float32(0.5), "heads": np.array([0, 0, 2, 4]),
                    "flat": np.array([2, -1, 8])} | {f"w{one}": (8, 8) for one in "qkvo"},
        {"LayerNormalization": 1, "matmul": 4, "bias": 1, "Transpose": 4, "MatMul": 2, "smul": 1, "Softmax": 1,
         "ewadd": 1},
    ),
    "perceptron": (
        [node("MatMul", ["X", "w1"], "a"), node("Add", ["a", "b1"], "b"), node("Relu", "b", "c"),
         node("MatMul", ["c", "w2"], "d"), node("Add", ["b2", "d"], "e"), node("Add", "eX", "f"),
         node("Reshape", ["f", "flat"], "r"), node("Gemm", ["r", "w3", "b3"], transB=1)],
        (2, 3, 8), {"w1": (8, 16), "b1": (16,), "w2": (16, 8), "b2": (8,), "flat": np.array([-1, 24]), "w3": (4, 24),
                    "b3": (4,)},
        {"matmul": 3, "bias": 3, "relu": 1, "ewadd": 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_is_read_and_written(name, tmp_path):
    """Reshapes around products of many dims are no operators of the table; those of a plain product are not written."""
    nodes, sizes, weights, expected = BLOCKS[name]
    path = save(tmp_path / "m.onnx", nodes, {"X": sizes}, ["Y"], weights)
    graph, model = assert_round_trip(path)
    made = operators(graph)
    if "matmul" in made:
        products = [one for one in nodes if one.op_type in ("MatMul", "Gemm")]
        assert made.pop("Reshape") > 0
        assert kinds(model)["MatMul"] + kinds(model)["Gemm"] == len(products)
        assert kinds(model)["Reshape"] == {"attention": 6, "perceptron": 1}[name]  # of which 4 and 1 in the source
    assert made == expected


LIGHT = ["resnet50", "squeezenet", "inception_v1", "shufflenet"]


@pytest.mark.parametrize("name", LIGHT)
def test_a_network_that_onnx_ships_is_read_and_written(name, tmp_path):
    """None of its convolutions and norms stays opaque."""
    source = Path(onnx.__file__).parent / f"backend/test/data/light/light_{name}.onnx"
    (tmp_path / "m.onnx").write_bytes(source.read_bytes())
    graph, model = assert_round_trip(tmp_path / "m.onnx")
    assert operators(graph)["Conv"] == operators(graph)["BatchNormalization"] == 0
    assert kinds(model)["Conv"] == operators(graph)["conv"] + operators(graph)["gconv"] > 8


SMALL = {"w": (6, 6), "c": (4, 1, 1), "v": (6,), "k": (4, 4, 3, 3), "p": (4, 4, 1, 1), "d": (4, 1, 3, 3), "b": (4,),
         "s": np.float32(0.7)}  # fmt: skip
# what is made of maps or matrices, of the same sizes
WINDOW = {"kernel_shape": [3, 3], **THREE}
OF_MAPS = [
    ("Conv", ["k"], THREE),
    ("Conv", ["k", "b"], THREE),
    ("Conv", ["p", "b"], {}),
    ("Conv", ["d", "b"], {"group": 4, **THREE}),
    ("Add", ["c"], {}),
    ("Mul", ["c"], {}),
    ("Mul", ["s"], {}),
    ("Add", ["s"], {}),
    ("Relu", [], {}),
    ("Sigmoid", [], {}),
    ("Softmax", [], {"axis": 1}),
    ("Identity", [], {}),
    ("MaxPool", [], WINDOW),
    ("AveragePool", [], WINDOW),
    ("AveragePool", [], {"count_include_pad": 1, **WINDOW}),
    ("MatMul", ["w"], {}),
    ("Transpose", [], {"perm": [0, 1, 3, 2]}),
    ("BatchNormalization", ["b", "b", "b", "var"], {}),
]
OF_MATRICES = [
    ("MatMul", ["w"], {}),
    ("Gemm", ["w", "v"], {}),
    ("Gemm", ["w", "v"], {"transB": 1, "alpha": 0.5}),
    ("Add", ["v"], {}),
    ("Mul", ["v"], {}),
    ("Relu", [], {}),
    ("Softmax", [], {}),
    ("Mul", ["s"], {}),
]


@st.composite
def models(draw):
    """Nodes on two maps and a matrix, in a random order: each reads what is there of its sizes."""
    tensors = {(1, 4, 6, 6): ["m1", "m2"], (4, 6): ["x"]}
    nodes = []

    def add(op, inputs, sizes, **attributes):
        name = f"t{len(nodes)}"
        nodes.append(node(op, inputs, name, **attributes))
        tensors[sizes].append(name)
        return name

    for _ in range(draw(st.integers(1, 12))):
        kind = draw(st.integers(0, 5))
        sizes = draw(st.sampled_from([(1, 4, 6, 6), (1, 4, 6, 6), (4, 6)]))
        one, other = (draw(st.sampled_from(tensors[sizes])) for _ in range(2))
        if kind < 3:
            op, more, attributes = draw(st.sampled_from(OF_MAPS if len(sizes) == 4 else OF_MATRICES))
            add(op, [one, *more], sizes, **attributes)
        elif kind == 3:
            add(draw(st.sampled_from(["Add", "Mul", "Sum", "Sub"])), [one, other], sizes)
        elif kind == 4:  # joined, parted, and joined in another order
            axis = draw(st.sampled_from([at for at, size in enumerate(sizes) if size > 1]))
            stem = f"t{len(nodes)}"
            nodes.append(node("Concat", [one, other], f"{stem}j", axis=axis))
            parts = [f"{stem}p{number}" for number in range(3)]
            nodes.append(node("Split", [f"{stem}j", f"split{sizes[axis]}"], parts, axis=axis))
            order = draw(st.permutations(parts[:2]))
            add("Concat", order, sizes, axis=axis)
        else:
            nodes.append(node("Transpose", [draw(st.sampled_from(tensors[(4, 6)]))], f"r{len(nodes)}", perm=[1, 0]))
            add("Transpose", [nodes[-1].output[0]], (4, 6), perm=[1, 0])
    outputs = draw(st.lists(st.sampled_from([one.output[0] for one in nodes]), min_size=1, max_size=3, unique=True))
    return nodes, outputs


@settings(max_examples=60)
@given(models(), st.sampled_from([13, 17, 21]))
def test_a_random_graph_is_read_and_written(drawn, opset):
    nodes, outputs = drawn
    weights = SMALL | {"var": np.full(4, 0.4, np.float32)}
    weights |= {f"split{size}": np.array([size // 2, size // 2, size]) for size in (4, 6)}
    read = {name for one in nodes for name in one.input}
    weights = {name: one for name, one in weights.items() if name in read}
    inputs = {"m1": (1, 4, 6, 6), "m2": (1, 4, 6, 6), "x": (4, 6)}
    with tempfile.TemporaryDirectory() as folder:
        path = save(Path(folder) / "m.onnx", nodes, inputs, outputs, weights, opset, ir_version=10)
        assert_round_trip(path)
        assert set(read_tensor_graph(path).outputs) == set(outputs)
