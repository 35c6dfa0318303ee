"""ONNX import: each kind of node as the layer it is, what becomes of the others named, broken files told."""

import importlib.util
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from ruby_map.mapper.commands.ruby_import import main as ruby_import
from ruby_map.workloads import InputError, Network, load_workload, shaped
from ruby_map.workloads.onnx import graph as onnx_graph
from ruby_map.workloads.onnx import import_onnx, network_yaml
from ruby_map.workloads.onnx.entries import layer_name
from typer.testing import CliRunner

APP = ruby_import
needs_onnx = pytest.mark.skipif(
    importlib.util.find_spec("onnx") is None, reason="onnx is not installed: pip install 'ruby-map[onnx]'"
)


def save(tmp_path, nodes, inputs, outputs, weights=(), name="model.onnx", opset=17, **more):
    """A model of `nodes`; tensors as name: shape, None for one without a shape."""
    from onnx import TensorProto, helper, numpy_helper, save_model

    def value(item):
        return helper.make_tensor_value_info(item[0], TensorProto.FLOAT, item[1])

    constants = [numpy_helper.from_array(np.zeros(shape, np.float32), name) for name, shape in dict(weights).items()]
    graph = helper.make_graph(
        nodes, "g", list(map(value, inputs.items())), list(map(value, outputs.items())), constants
    )
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], **more), tmp_path / name)
    return tmp_path / name


def node(op, inputs, output="Y", **attributes):
    from onnx import helper

    return helper.make_node(op, list(inputs), [output], name=attributes.pop("name", ""), **attributes)


def loops(layer):
    """The layer without what it reads."""
    return {key: value for key, value in layer.items() if key not in ("from", "pad", "through", "causal")}


def layers(path, **dims):
    return [(loops(layer), count) for _, layer, count in import_onnx(path, dims).layers]


def conv_layer(tmp_path, x, w, **attributes):
    """The one layer of a model of one Conv whose output has no shape in the file."""
    rank = len(x)
    path = save(tmp_path, [node("Conv", "XW", **attributes)], {"X": x}, {"Y": [None] * rank}, {"W": w})
    ((layer, count),) = layers(path)
    assert count == 1
    return layer


CONVOLUTIONS = {
    "padded": ([1, 3, 224, 224], [64, 3, 7, 7], {"pads": [3, 3, 3, 3], "strides": [2, 2]},
               {"M": 64, "C": 3, "P": 112, "Q": 112, "R": 7, "S": 7}, {"stride": [2, 2]}),
    "grouped": ([2, 8, 9, 9], [12, 4, 3, 3], {"group": 2},
                {"N": 2, "G": 2, "M": 6, "C": 4, "P": 7, "Q": 7, "R": 3, "S": 3}, {}),
    "depthwise": ([1, 96, 14, 14], [96, 1, 3, 3], {"group": 96, "pads": [1, 1, 1, 1]},
                  {"G": 96, "M": 1, "C": 1, "P": 14, "Q": 14, "R": 3, "S": 3}, {}),
    "dilated, one side": ([1, 4, 16, 16], [5, 4, 3, 2], {"dilations": [2, 1]},
                          {"M": 5, "C": 4, "P": 12, "Q": 15, "R": 3, "S": 2}, {"dilation": [2, 1]}),
    "SAME_UPPER": ([1, 4, 15, 15], [8, 4, 3, 3], {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
                   {"M": 8, "C": 4, "P": 8, "Q": 8, "R": 3, "S": 3}, {"stride": [2, 2]}),
    "VALID": ([1, 4, 15, 15], [8, 4, 3, 3], {"auto_pad": "VALID", "strides": [2, 1]},
              {"M": 8, "C": 4, "P": 7, "Q": 13, "R": 3, "S": 3}, {"stride": [2, 1]}),
    "one spatial dim": ([1, 4, 30], [8, 4, 5], {"strides": [3], "dilations": [2]},
                        {"M": 8, "C": 4, "P": 1, "Q": 8, "R": 1, "S": 5}, {"stride": [1, 3], "dilation": [1, 2]}),
}  # fmt: skip


@needs_onnx
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name, tmp_path):
    """Groups, strides, dilations, padding by hand and automatic: the sizes of the loops."""
    x, w, attributes, sizes, more = CONVOLUTIONS[name]
    assert conv_layer(tmp_path, x, w, **attributes) == {"shape": "conv2d", "sizes": sizes, **more}


PRODUCTS = {
    "matrices": ([5, 7], [7, 3], {"M": 3, "N": 5, "K": 7}),
    "weights for a batch": ([2, 5, 7], [7, 3], {"M": 3, "N": 10, "K": 7}),
    "batched": ([2, 12, 5, 7], [2, 12, 7, 3], {"B": 24, "M": 3, "N": 5, "K": 7}),
    "each leading dim on its own": ([2, 1, 5, 7], [1, 4, 7, 3], {"M": 12, "N": 10, "K": 7}),
    "a batch and a dim of the data": ([6, 4, 5, 7], [1, 4, 7, 3], {"B": 4, "M": 3, "N": 30, "K": 7}),
    "vector": ([7], [7, 3], {"M": 3, "N": 1, "K": 7}),
    "two vectors": ([7], [7], {"M": 1, "N": 1, "K": 7}),
}


@needs_onnx
@pytest.mark.parametrize("name", PRODUCTS)
def test_matmul_has_the_macs_and_operands_of_numpys(name, tmp_path):
    """Batched, broadcast and vectors: MACs = output elements x K, of operands as large as numpy's."""
    a, b, sizes = PRODUCTS[name]
    product = np.matmul(np.zeros(a), np.zeros(b))
    path = save(tmp_path, [node("MatMul", "AB")], {"A": a, "B": b}, {"Y": list(product.shape)})
    ((layer, _),) = layers(path)
    assert layer["sizes"] == sizes
    assert np.prod(list(sizes.values())) == product.size * a[-1]
    assert sizes.get("B", 1) * sizes["M"] * sizes["K"] == np.prod(b)
    assert sizes.get("B", 1) * sizes["N"] * sizes["K"] == np.prod(a)


@needs_onnx
@pytest.mark.parametrize(("left", "right"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_gemm_transposed(left, right, tmp_path):
    """transA and transB turn the operands."""
    a, b = [5, 7], [7, 3]
    inputs = {"A": a[::-1] if left else a, "B": b[::-1] if right else b}
    path = save(tmp_path, [node("Gemm", "AB", transA=left, transB=right)], inputs, {"Y": [5, 3]})
    assert layers(path) == [({"shape": "matmul", "sizes": {"M": 3, "N": 5, "K": 7}}, 1)]


@needs_onnx
def test_weights_are_the_operand_that_belongs_to_the_model(tmp_path):
    """Where the first operand is a constant and the second is not, M counts its rows."""
    path = save(tmp_path, [node("MatMul", "WX")], {"X": [7, 3]}, {"Y": [5, 3]}, {"W": [5, 7]})
    assert layers(path) == [({"shape": "matmul", "sizes": {"M": 5, "N": 3, "K": 7}}, 1)]
    turned = [node("Transpose", "W", "T"), node("MatMul", "TX")]
    path = save(tmp_path, turned, {"X": [7, 3]}, {"Y": [5, 3]}, {"W": [7, 5]})
    assert layers(path) == [({"shape": "matmul", "sizes": {"M": 5, "N": 3, "K": 7}}, 1)]


def small_network(tmp_path, batch=1):
    """Two equal convolutions, a product, and other nodes, of which one belongs to the model."""
    nodes = [
        node("Identity", ["V"], "W1"),
        node("Conv", ["X", "W1"], "a", name="/block 1/conv", pads=[1, 1, 1, 1]),
        node("Relu", ["a"], "b"),
        node("Conv", ["b", "W2"], "c", name="second", pads=[1, 1, 1, 1]),
        node("Relu", ["c"], "d"),
        node("GlobalAveragePool", ["d"], "e"),
        node("Flatten", ["e"], "f"),
        node("Gemm", ["f", "F"], "Y", name="/block 1/conv", transB=1),
    ]
    weights = {"V": [4, 4, 3, 3], "W2": [4, 4, 3, 3], "F": [10, 4]}
    return save(tmp_path, nodes, {"X": [batch, 4, 8, 8]}, {"Y": [batch, 10]}, weights)


@needs_onnx
def test_the_network_file_reads_back(tmp_path):
    """What is written loads as a network: names, MACs, what layers read; how many nodes there are is in the head."""
    text = network_yaml(import_onnx(small_network(tmp_path)))
    (tmp_path / "net.yaml").write_text(text)
    network = load_workload(tmp_path / "net.yaml")
    assert isinstance(network, Network)
    names = ["block_1.conv", "second", "block_1.conv_2"]
    assert [(layer.name, count) for layer, count in network.layers] == [(name, 1) for name in names]
    assert network.order == ("block_1.conv", "node_3", "second", "node_5", "node_6", "node_7", "block_1.conv_2")
    assert network.macs == 2 * 4 * 4 * 9 * 64 + 40
    assert text.startswith(f"# model.onnx: 7 nodes as 3 layers and 4 operations, {network.macs:,} MACs\n")


def test_a_layer_is_named_so_that_its_file_reads_back():
    """Printable characters alone, not too many, each name once."""
    names = Counter()
    for name in ("a\x1b[31m/b c", "a\x1b[31m/b c", "x" * 300, "x" * 300, "\u00e9" * 150, "/"):
        shaped("matmul", layer_name(name, names), M=2, N=2, K=2)
    assert list(names)[:2] == ["a_[31m.b_c", "a_[31m.b_c_2"]
    assert len(names) == 6


@needs_onnx
def test_resnet50_is_the_librarys(tmp_path):
    """The ResNet-50 that the package onnx ships for its own tests has the convolutions of our library, and its MACs."""
    import onnx

    path = Path(onnx.__file__).parent / "backend/test/data/light/light_resnet50.onnx"
    (tmp_path / "net.yaml").write_text(network_yaml(import_onnx(path)))
    found, ours = load_workload(tmp_path / "net.yaml"), load_workload("resnet50")
    assert found.macs == ours.macs == 4_089_184_256

    def shapes(network):
        """Sizes and windows of the convolutions but the last layer, which ours has as one too, with their counts."""
        every = Counter()
        for layer, count in network.layers:
            if layer.shape == "conv2d" and layer.name != "fc":
                every[layer.sizes, tuple(tensor.ranks for tensor in layer.tensors)] += count
        return every

    assert shapes(found) == shapes(ours)


@needs_onnx
def test_dynamic_dims_are_asked_for_by_name_and_taken(tmp_path):
    """A named dim without a size is a fault that says which option gives it; with it the import goes through."""
    path = small_network(tmp_path, batch="batch")
    with pytest.raises(InputError, match=r"is dynamic; give it as --dim batch=SIZE"):
        import_onnx(path)
    assert import_onnx(path, {"batch": 3}).macs == 3 * (2 * 4 * 4 * 9 * 64 + 40)
    with pytest.raises(InputError, match=r'no dynamic dim "bacth" in the model; did you mean "batch"'):
        import_onnx(path, {"bacth": 3})


@needs_onnx
def test_convolution_of_three_spatial_dims(tmp_path):
    """The first of a 3-D ResNet: 16 frames, which the stride leaves alone."""
    layer = conv_layer(tmp_path, [1, 3, 16, 112, 112], [64, 3, 3, 7, 7], pads=[1, 3, 3] * 2, strides=[1, 2, 2])
    sizes = {"M": 64, "C": 3, "O": 16, "P": 56, "Q": 56, "T": 3, "R": 7, "S": 7}
    assert layer == {"shape": "conv3d", "sizes": sizes, "stride": [1, 2, 2]}


# data, weights (C, M per group, filter), attributes; sizes and the rest of the layer
TRANSPOSED = {
    "doubled": ([1, 8, 7, 7], [8, 4, 2, 2], {"strides": [2, 2]},
                {"M": 4, "C": 8, "P": 14, "Q": 14, "R": 2, "S": 2}, {"stride": [2, 2]}),
    "cropped": ([1, 8, 7, 7], [8, 4, 4, 4], {"strides": [2, 2], "pads": [1, 1, 1, 1]},
                {"M": 4, "C": 8, "P": 14, "Q": 14, "R": 4, "S": 4}, {"stride": [2, 2]}),
    "grouped, one spatial dim": ([2, 8, 5], [8, 3, 6], {"strides": [3], "group": 2},
                                 {"N": 2, "G": 2, "M": 3, "C": 4, "P": 1, "Q": 18, "R": 1, "S": 6}, {"stride": [1, 3]}),
}  # fmt: skip


def transposed(tmp_path, x, w, **attributes):
    """The model of one ConvTranspose."""
    path = save(tmp_path, [node("ConvTranspose", "XW", name="up", **attributes)], {"X": x}, {"Y": None}, {"W": w})
    return import_onnx(path)


@needs_onnx
@pytest.mark.parametrize("name", TRANSPOSED)
def test_transposed_convolutions(name, tmp_path):
    """Output and whole filter with the stride; MACs are inputs times filter where the output is cropped to stride x."""
    x, w, attributes, sizes, more = TRANSPOSED[name]
    found = transposed(tmp_path, x, w, **attributes)
    assert [(layer, loops(own)) for layer, own, _ in found.layers] == [
        ("up", {"shape": "transposed_conv2d", "sizes": sizes, **more})
    ]
    if name != "grouped, one spatial dim":
        assert found.macs == np.prod(x) * np.prod(w[1:])
    else:
        assert found.macs == 2 * 2 * 3 * 4 * 18 * 2


@needs_onnx
def test_what_multiplies_and_has_no_layer_is_named(tmp_path):
    """Work left out is told by name, apart from the harmless rest: strides that do not divide, four spatial dims."""
    nodes = [node("Conv", ["X", "W"], "a"), node("ConvTranspose", ["a", "V"], "Y", name="up", strides=[2, 2])]
    path = save(tmp_path, nodes, {"X": [1, 3, 8, 8]}, {"Y": [1, 2, 13, 13]}, {"W": [4, 3, 3, 3], "V": [4, 2, 3, 3]})
    assert import_onnx(path).heavy == ("ConvTranspose up: its stride does not divide its output and filter",)
    for name, attributes, weights, why in (
        ("dilated", {"dilations": [2, 2]}, [3, 2, 3, 3], "a dilated one has no shape here"),
        ("cube", {}, [3, 2, 3, 3, 3], "3 spatial dims"),
    ):
        nodes = [node("Conv", ["X", "W"], "a"), node("ConvTranspose", ["Z", "V"], "Y", name=name, **attributes)]
        data = {"X": [1, 3, 8, 8], "Z": [1, 3] + [8] * (len(weights) - 2)}
        path = save(tmp_path, nodes, data, {"Y": None}, {"W": [4, 3, 3, 3], "V": weights})
        assert import_onnx(path).heavy == (f"ConvTranspose {name}: {why}",)
    volume = save(tmp_path, [node("Conv", ["X", "W"], "a"), node("Conv", ["V", "F"], "Y", name="4d")],
                  {"X": [1, 3, 8, 8], "V": [1, 2, 4, 4, 4, 4]}, {"Y": [1, 2, 2, 2, 2, 2]},
                  {"W": [4, 3, 3, 3], "F": [2, 2, 3, 3, 3, 3]})  # fmt: skip
    assert import_onnx(volume).heavy == ("Conv 4d: 4 spatial dims",)
    wrong = [node("ConvTranspose", "XW", name="w", group=2)]
    path = save(tmp_path, wrong, {"X": [1, 3, 8, 8]}, {"Y": [1, 4, 10, 10]}, {"W": [3, 2, 3, 3]})
    with pytest.raises(InputError, match="do not go together in 2 groups"):
        import_onnx(path)


@needs_onnx
def test_functions_of_the_model_are_looked_into(tmp_path):
    """A convolution inside a model-local function counts each time it is called."""
    from onnx import helper

    opset = [helper.make_opsetid("", 17)]
    inner = helper.make_function("local", "Block", ["x", "w"], ["y"], [node("Conv", "xw", "y")], opset)
    calls = [helper.make_node("Block", ["X", "W"], ["a"], domain="local"),
             helper.make_node("Block", ["X", "W"], ["Y"], domain="local")]  # fmt: skip
    from onnx import TensorProto, numpy_helper, save_model

    values = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("X", [1, 2, 5, 5]), ("Y", [1, 3, 3, 3]))
    ]
    weights = numpy_helper.from_array(np.zeros((3, 2, 3, 3), np.float32), "W")
    graph = helper.make_graph(calls, "g", values[:1], values[1:], [weights])
    opsets = [*opset, helper.make_opsetid("local", 1)]
    save_model(helper.make_model(graph, functions=[inner], opset_imports=opsets), tmp_path / "f.onnx")
    assert [(layer["sizes"]["P"], count) for layer, count in layers(tmp_path / "f.onnx")] == [(3, 1), (3, 1)]


def broken(tmp_path):
    """Files that are no ONNX model, or one that cannot be turned into layers: (path, words of the message)."""
    (tmp_path / "text.onnx").write_text("this is no model\n" * 20)
    (tmp_path / "empty.onnx").write_bytes(b"")
    cut = small_network(tmp_path).read_bytes()
    (tmp_path / "cut.onnx").write_bytes(cut[: len(cut) // 2])
    yield tmp_path / "text.onnx", "not an ONNX model"
    yield tmp_path / "empty.onnx", "not an ONNX model: it has no graph"
    yield tmp_path / "cut.onnx", "not an ONNX model"
    yield tmp_path / "none.onnx", "no such file"
    yield tmp_path, "a file is expected, this is a directory"
    odd = [node("Odd", ["X"], "a", domain="mine"), node("MatMul", ["a", "W"], "Y", name="mm")]
    path = save(tmp_path, odd, {"X": [2, 2]}, {"Y": None}, {"W": [2, 2]}, "unknown.onnx")
    yield path, 'MatMul mm: the shape of "a" is not in the file and cannot be inferred'
    path = save(
        tmp_path, [node("Conv", "XW", name="c")], {"X": [1, 3, 2, 2]}, {"Y": None}, {"W": [1, 3, 5, 5]}, "big.onnx"
    )
    yield path, "Conv c: "
    path = save(
        tmp_path,
        [node("Conv", "XW", name="c")],
        {"X": [1, 4, 9, 9]},
        {"Y": [1, 1, 7, 7]},
        {"W": [1, 3, 3, 3]},
        "ch.onnx",
    )
    yield path, "do not go together in 1 groups"
    path = save(tmp_path, [node("Gemm", "AB", name="g")], {"A": [2, 3], "B": [4, 5]}, {"Y": [2, 5]}, name="inner.onnx")
    yield path, "(2, 3) by (4, 5) is no product of matrices"
    path = save(tmp_path, [node("Relu", "X")], {"X": [2]}, {"Y": [2]}, name="relu.onnx")
    yield path, "no convolution or matrix product among its 1 nodes"
    path = save(tmp_path, [node("MatMul", "AB", name="m")], {"A": [0, 3], "B": [3, 5]}, {"Y": [0, 5]}, name="zero.onnx")
    yield path, '"A" is empty: its shape is 0 x 3'
    path = save(tmp_path, [node("MatMul", "AB")], {"A": [None, 3], "B": [3, 5]}, {"Y": [None, 5]}, name="noname.onnx")
    yield path, "has sizes that the file does not say"
    path = save(tmp_path, [node("Conv", ["X"], name="c")], {"X": [1, 3, 2, 2]}, {"Y": None}, name="lone.onnx")
    yield path, "has 1 inputs; its two operands are expected"
    sizes = {"X": [1, 4, 9, 9]}, {"Y": [1, 1, 7, 7]}, {"W": [1, 4, 3, 3]}
    path = save(tmp_path, [node("Conv", "XW", group=[1, 2])], *sizes, "group.onnx")
    yield path, "group is [1, 2], a whole number is expected"
    path = save(tmp_path, [node("Conv", "XW", strides=1.5)], *sizes, "strides.onnx")
    yield path, "strides are 1.5, whole numbers are expected"
    path.write_bytes(path.read_bytes().replace(b"Conv", b"Co\xffv"))
    yield path, "op_type: no UTF-8 text"
    yield from broken_functions(tmp_path)


def broken_functions(tmp_path):
    """Models whose functions are called with too much, call themselves, or make a tree of 2^20 nodes."""
    from onnx import helper

    def function(name, nodes):
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my", 1)]
        return helper.make_function("my", name, ["A", "B"], ["C"], nodes, opsets)

    def model(name, inputs, functions):
        nodes = [node(functions[-1].name, inputs, domain="my")]
        path = save(tmp_path, nodes, {"X": [2, 3], "W": [3, 4]}, {"Y": [2, 4]}, name=name, functions=functions)
        with_opset(path)
        return path

    def twice(inner):
        return [node(inner, "AB", "D", domain="my"), node(inner, "AB", "C", domain="my")]

    product = function("F0", [node("MatMul", "AB", "C")])
    yield model("many.onnx", "XWX", [product]), "its functions cannot be used"
    yield model("same.onnx", "XW", [product, product]), "its functions cannot be used"
    yield model("circle.onnx", "XW", [function("F", [node("F", "AB", "C", domain="my")])]), "go round in circles"
    tree = [product, *(function(f"F{n}", twice(f"F{n - 1}")) for n in range(1, 21))]
    yield model("tree.onnx", "XW", tree), "come to more than 50,000 nodes"
    line = [product, *(function(f"F{n}", [node(f"F{n - 1}", "AB", "C", domain="my")]) for n in range(1, 1500))]
    yield model("line.onnx", "XW", line), "nested too deeply"


def with_opset(path):
    """Let the model use functions of the domain `my`."""
    import onnx

    model = onnx.load(path)
    model.opset_import.append(onnx.helper.make_opsetid("my", 1))
    onnx.save(model, path)


@needs_onnx
def test_broken_models_end_with_status_2_and_one_clear_line(tmp_path):
    """Whatever the file holds: status 2, the file's name, what is wrong, and no traceback."""
    for path, words in broken(tmp_path):
        result = CliRunner().invoke(APP, [str(path)])
        assert result.exit_code == 2, (path, result.output)
        assert result.stderr.startswith(f"{path}: "), result.stderr
        assert words in result.stderr, result.stderr
        assert result.stdout == ""


@needs_onnx
def test_any_cut_of_a_file_is_told(tmp_path):
    """However much of a model is missing, the command ends with a fault or with layers, never with a traceback."""
    whole = small_network(tmp_path).read_bytes()
    for end in range(0, len(whole), 97):
        (tmp_path / "cut.onnx").write_bytes(whole[:end])
        result = CliRunner().invoke(APP, [str(tmp_path / "cut.onnx")])
        assert result.exit_code in (0, 2), (end, result.exception)


@needs_onnx
def test_the_command_writes_a_file_and_tells_what_is_left_out(tmp_path):
    """--out: a new file, never over another; the summary goes to standard error."""
    model, out = small_network(tmp_path, batch="N"), tmp_path / "net.yaml"
    result = CliRunner().invoke(APP, [str(model), "--out", str(out), "--dim", "N=1"])
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert f"{out}: 3 layers and 4 operations, 18,472 MACs" in result.stderr
    assert "left out, 1 nodes that compute with constants and shapes alone: Identity 1" in result.stderr
    again = CliRunner().invoke(APP, [str(model), "--out", str(out), "--dim", "N=0"])
    assert again.exit_code == 2
    assert "exists already" in again.stderr
    assert "must be NAME=SIZE with a size of at least 1, got 'N=0'" in again.stderr
    nowhere = CliRunner().invoke(APP, [str(model), "--out", str(tmp_path / "no/net.yaml"), "--dim", "N=1"])
    assert nowhere.exit_code == 2
    assert "cannot be written" in nowhere.stderr
    for size in (10**20, 2**62, "9" * 5000):
        huge = CliRunner().invoke(APP, [str(model), "--dim", f"N={size}"])
        assert huge.exit_code == 2
        assert 'the size given for "N" must be from 1 to 4611686018427387903' in huge.stderr


def test_without_onnx_the_message_says_what_to_install(tmp_path, monkeypatch):
    """The extra is named; nothing else of the project needs it."""

    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(onnx_graph.importlib, "import_module", absent)
    result = CliRunner().invoke(APP, [str(tmp_path / "model.onnx")])
    assert result.exit_code == 2
    assert "pip install 'ruby-map[onnx]'" in result.stderr


@needs_onnx
def test_attention_is_its_two_products(tmp_path):
    """Grouped queries with keys of the past: scores and their sums of values, with the MACs of both."""
    shapes = {"Q": [2, 8, 5, 16], "K": [2, 4, 3, 16], "V": [2, 4, 3, 32], "PK": [2, 4, 7, 16], "PV": [2, 4, 7, 32]}
    path = save(
        tmp_path, [node("Attention", ["Q", "K", "V", "", "PK", "PV"], name="a")], shapes, {"Y": [2, 8, 5, 32]}, opset=23
    )
    imported = import_onnx(path)
    assert [(name, layer["shape"], layer["sizes"], count) for name, layer, count in imported.layers] == [
        ("a.scores", "attention_scores", {"B": 8, "H": 2, "N": 5, "M": 10, "K": 16}, 1),
        ("a.context", "attention_context", {"B": 8, "H": 2, "N": 5, "M": 32, "K": 10}, 1),
    ]
    assert imported.macs == 2 * 8 * 5 * 10 * (16 + 32)


@needs_onnx
def test_attention_of_three_dims_has_its_heads_from_attributes(tmp_path):
    """Heads within the last dim; without them, or with heads that do not divide, the node is at fault by name."""
    shapes = {"Q": [1, 6, 24], "K": [1, 9, 24], "V": [1, 9, 24]}

    def made(**heads):
        return save(tmp_path, [node("Attention", "QKV", name="a", **heads)], shapes, {"Y": [1, 6, 24]}, opset=23)

    (scores, _), (context, _) = layers(made(q_num_heads=3, kv_num_heads=3))
    assert scores["sizes"] == {"B": 3, "N": 6, "M": 9, "K": 8}
    assert context["sizes"] == {"B": 3, "N": 6, "M": 8, "K": 9}
    with pytest.raises(InputError, match="q_num_heads"):
        layers(made())
    with pytest.raises(InputError, match="do not go together|divides the last"):
        layers(made(q_num_heads=3, kv_num_heads=2))


@needs_onnx
def test_products_of_the_runtimes_own_domain_are_named(tmp_path):
    """MatMulNBits and its like are left out by name as work, not among what does not multiply."""
    nodes = [node("MatMul", "XW", "H"), node("MatMulNBits", ["H", "B"], name="quantized", domain="com.microsoft")]
    path = save(tmp_path, nodes, {"X": [4, 8], "B": [8, 8]}, {"Y": [4, 8]}, {"W": [8, 8]})
    imported = import_onnx(path)
    assert imported.heavy == ("com.microsoft.MatMulNBits quantized: no layer of ours is like it",)
