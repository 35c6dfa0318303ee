"""`experiments/onnx_networks/`: networks of published sizes that onnxruntime and ruby-import read; random graphs."""

import importlib
from collections import Counter
from collections.abc import Mapping
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from ruby_map.mapper.commands.ruby_import import main as ruby_import
from ruby_map.workloads import Network, load_workload
from ruby_map.workloads.onnx import import_onnx
from typer.testing import CliRunner

onnx = pytest.importorskip("onnx", reason="onnx is not installed: pip install 'ruby-map[onnx]'")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install onnxruntime")

FOLDER = Path(__file__).parent.parent / "experiments"
Words = dict[str, np.ndarray]

# name: builder, its arguments beside the options, and smaller sizes
SMALL = {"image": 64}
NETWORKS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "googlenet": ("googlenet", {}, SMALL),
    "squeezenet 1.0": ("squeezenet", {}, SMALL),
    "squeezenet 1.1": ("squeezenet", {"version": "1.1"}, SMALL),
    "resnet50": ("resnet50", {}, SMALL),
    "resnext50": ("resnext50", {}, SMALL),
    "nasnet mobile": ("nasnet_a_mobile", {}, SMALL | {"repeats": 1}),
    "nasnet cifar": ("nasnet_a_cifar", {}, {"image": 8, "repeats": 2}),
    "normal cell": ("nasnet_a_cell", {"kind": "normal"}, {"image": 7}),
    "reduction cell": ("nasnet_a_cell", {"kind": "reduction"}, {"image": 7}),
    "bert, erf": ("bert_encoder", {"layers": 2}, {"tokens": 9}),
    "bert, gelu": ("bert_encoder", {"layers": 2, "gelu": "op"}, {"tokens": 9}),
}
NORMS = ("resnet50", "resnext50", "nasnet mobile", "nasnet cifar")


@pytest.fixture
def networks(monkeypatch) -> ModuleType:
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module("onnx_networks")


def built(networks: ModuleType, name: str, *, small: bool = False, **options: Any) -> Any:
    """The model of a network, at its full size or at a small one."""
    builder, own, less = NETWORKS[name]
    if small:
        options |= {"batch": 2, "divisor": 8}
    return getattr(networks, builder)(networks.Options(**options), **own, **(less if small else {}))


def run(model: Any, words: Words, *, plain: bool = True) -> list[np.ndarray]:
    """The outputs that onnxruntime computes on one core; `plain`: node by node, without its own rewrites."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_DISABLE_ALL if plain else levels.ORT_ENABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, words)


def declared(value: Any) -> tuple[int, ...]:
    return tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim)


def figures(model: Any) -> tuple[int, int]:
    """MACs and learned words of a model: shapes as onnx infers them, weights without statistics of batch norms."""
    shapes = shapes_of(model)
    macs = sum(
        prod(shapes[node.output[0]]) * prod(summed(node, shapes))
        for node in model.graph.node
        if node.op_type in ("Conv", "Gemm", "MatMul")
    )
    norms = [node for node in model.graph.node if node.op_type == "BatchNormalization"]
    statistics = {name for node in norms for name in node.input[3:]}
    return macs, sum(prod(dims) for name, dims in floats_of(model).items() if name not in statistics)


def summed(node: Any, shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """The sizes that a word of a product is a sum over."""
    return shapes[node.input[1]][1:] if node.op_type == "Conv" else shapes[node.input[0]][-1:]


def floats_of(model: Any) -> dict[str, tuple[int, ...]]:
    """The weights that are no scalars, and their sizes."""
    return {own.name: tuple(own.dims) for own in model.graph.initializer if own.data_type == 1 and own.dims}


def shapes_of(model: Any) -> dict[str, tuple[int, ...]]:
    """The sizes of all tensors; they are inferred of a model without the words of its weights, which takes no time."""
    graph, helper, floats = model.graph, onnx.helper, floats_of(model)
    inputs = [helper.make_tensor_value_info(name, 1, dims) for name, dims in floats.items()]
    constants = [tensor for tensor in graph.initializer if tensor.name not in floats]
    bare = helper.make_graph(graph.node, graph.name, [*graph.input, *inputs], graph.output, constants)
    bare_model = helper.make_model(bare, opset_imports=model.opset_import)
    inferred = onnx.shape_inference.infer_shapes(bare_model, strict_mode=True, data_prop=True).graph
    return {value.name: declared(value) for value in (*inferred.input, *inferred.value_info, *inferred.output)}


# MACs as published, how near, and learned words: all of them published to the last, but for NASNet's 3.3 M
PUBLISHED = {
    # Szegedy et al., table 1: ops add up to 1,502 M with a first convolution of 34 M, which by its sizes has 118 M;
    # 12 convolutions and matrices of the table's sizes, with their biases
    "googlenet": (1.586e9, 0.005, 6_998_552),
    "squeezenet 1.0": (0.82e9, 0.01, 1_248_424),  # Iandola et al., table 1, for the words; MACs: torchvision's models
    "squeezenet 1.1": (0.35e9, 0.01, 1_235_496),  # torchvision's models
    "resnet50": (4.09e9, 0.005, 25_557_032),  # torchvision's models
    "resnext50": (4.23e9, 0.005, 25_028_904),  # torchvision's models; Xie et al., table 1: 25.0 M, 4.2 G
    "nasnet mobile": (564e6, 0.002, 5_289_978),  # Zoph et al., table 2: 564 M, 5.3 M; words: Keras' NASNetMobile
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_macs_and_weights_are_as_published(name, networks):
    macs, near, weights = PUBLISHED[name]
    found = figures(built(networks, name))
    assert found == (pytest.approx(macs, rel=near), weights)


def test_nasnet_for_cifar_and_folded_norms(networks):
    """Zoph et al., table 1: NASNet-A (6 @ 768) has 3.3 M words. A folded norm leaves one word for each channel."""
    assert figures(built(networks, "nasnet cifar"))[1] == pytest.approx(3.3e6, rel=0.02)
    channels = 26_560  # of all batch norms of ResNet-50
    assert figures(built(networks, "resnet50", folded=True))[1] == 25_557_032 - channels


def test_bert_has_the_weights_of_its_layers(networks):
    """Devlin et al.: 12 layers of hidden 768, inner 3072; 85 M words beside the embeddings and the pooler."""
    layer = 4 * (768 * 768 + 768) + 2 * 768 * 3072 + 3072 + 768 + 4 * 768
    assert figures(networks.bert_encoder(tokens=16))[1] == 12 * layer == 85_054_464
    for gelu in ("erf", "op"):
        macs = figures(networks.bert_encoder(tokens=16, layers=1, gelu=gelu))[0]
        assert macs == 16 * (4 * 768 * 768 + 2 * 768 * 3072) + 2 * 16 * 16 * 768


# Szegedy et al., table 1: the row, its ops in millions, rows times columns
INCEPTION_OPS = {
    "conv2": (360, 56**2), "inception_3a": (128, 28**2), "inception_3b": (304, 28**2), "inception_4a": (73, 14**2),
    "inception_4b": (88, 14**2), "inception_4c": (100, 14**2), "inception_4d": (119, 14**2),
    "inception_4e": (170, 14**2), "inception_5b": (71, 7**2), "classifier": (1, 1),
}  # fmt: skip


def test_every_row_of_googlenet_has_the_ops_of_its_table(networks):
    """But the first convolution, which the table counts as 7x1 and 1x7, and 5a, which has the sizes of 4e."""
    words = Counter()
    for tensor in built(networks, "googlenet").graph.initializer:
        if tensor.name.endswith(".weight"):
            words[tensor.name.split(".")[0]] += prod(tensor.dims)
    assert set(words) - set(INCEPTION_OPS) == {"conv1", "inception_5a"}
    for row, (ops, area) in INCEPTION_OPS.items():
        assert words[row] * area / 1e6 == pytest.approx(ops, abs=1), row


@pytest.mark.parametrize("name", NETWORKS)
def test_a_narrow_network_runs(name, networks):
    """onnx checks it, onnxruntime makes outputs of the sizes it says: finite, near 1, other for other images."""
    model = built(networks, name, small=True)
    onnx.checker.check_model(model, full_check=True)
    words = networks.random_inputs(model, 0, networks.RandomOptions(exact=False))
    outputs = run(model, words)
    assert [output.shape for output in outputs] == [declared(value) for value in model.graph.output]
    for output in outputs:
        assert np.isfinite(output).all()
        assert 0.05 < output.std() < 20
        assert np.abs(output[0] - output[1]).max() > 1e-3


@pytest.mark.parametrize("name", NORMS)
def test_folded_norms_compute_the_same(name, networks):
    """Batch norms as nodes and as weights: equal but for float32, 1e-5 of the largest word."""
    plain, folded = (built(networks, name, small=True, folded=folded) for folded in (False, True))
    assert "BatchNormalization" in {node.op_type for node in plain.graph.node}
    assert "BatchNormalization" not in {node.op_type for node in folded.graph.node}
    words = networks.random_inputs(plain, 1, networks.RandomOptions(exact=False))
    (one,), (other,) = run(plain, words), run(folded, words)
    assert np.abs(one - other).max() <= 1e-5 * np.abs(one).max()


@pytest.mark.parametrize("name", ["googlenet", "nasnet mobile", "bert, erf"])
def test_a_seed_decides_all_weights(name, networks):
    """Equal seeds, equal models; another seed, other weights, none of them 0."""
    one, same, other = (built(networks, name, small=True, seed=seed) for seed in (5, 5, 6))
    assert one.SerializeToString() == same.SerializeToString() != other.SerializeToString()
    assert all(onnx.numpy_helper.to_array(own).all() for own in one.graph.initializer if own.name.endswith("weight"))


@pytest.mark.parametrize("name", NETWORKS)
def test_ruby_import_leaves_out_no_product(name, networks, tmp_path):
    """As many MACs as the model has, nothing left out that multiplies, nothing unclear in what layers hand on."""
    model = built(networks, name, small=True)
    onnx.save_model(model, tmp_path / "model.onnx")
    found = import_onnx(tmp_path / "model.onnx")
    assert found.macs == figures(model)[0]
    assert not found.heavy
    assert not found.remarks
    assert set(found.left_out) <= ({"that move nothing, and nobody reads what they make"} if "bert" in name else set())


@pytest.mark.parametrize(
    ("library", "name", "times"), [("resnet50", "resnet50", 1), ("resnext50_32x4d", "resnext50", 1),
                                   ("bert_base_128", "bert, erf", 6)]
)  # fmt: skip
def test_ruby_import_finds_the_layers_of_the_library(library, name, times, networks, tmp_path):
    """The network file that ruby-import writes has the same layers as the library's, as often; BERT's are 12 equal."""
    onnx.save_model(built(networks, name), tmp_path / "model.onnx")
    command = [str(tmp_path / "model.onnx"), "--out", str(tmp_path / "model.yaml")]
    done = CliRunner().invoke(ruby_import, command)
    assert done.exit_code == 0, done.output
    found, known = (load_workload(path) for path in (str(tmp_path / "model.yaml"), library))
    assert {shape: times * count for shape, count in shapes(found).items()} == shapes(known)


def shapes(network: Network) -> Counter[Any]:
    """How often there are layers of each size and projection; a convolution of one word is a product of matrices."""
    counts: Counter[Any] = Counter()
    for layer, count in network.layers:
        alone = layer.shape == "conv2d" and not any(layer.size(dim) > 1 for dim in "GPQRS")
        matrices = layer.shape == "matmul" or alone
        sizes = ("MNK", "MNC")[alone]
        counts[tuple(layer.size(dim) for dim in sizes) if matrices else layer.nameless] += count
    return counts


@pytest.mark.parametrize("exact", [True, False])
def test_random_graphs_run(exact, networks):
    """Valid for onnx, and onnxruntime makes finite outputs of the sizes they say, with its own rewrites and without:
    equal words where graphs are exact, else to 1e-5 of the largest.
    """
    options = networks.RandomOptions(exact=exact)
    for seed in range(150):
        model = networks.random_graph(seed, options)
        onnx.checker.check_model(model, full_check=True)
        words = networks.random_inputs(model, seed, options)
        plain, rewritten = (run(model, words, plain=plain) for plain in (True, False))
        for value, one, other in zip(model.graph.output, plain, rewritten, strict=True):
            assert one.shape == declared(value)
            assert np.isfinite(one).all()
            assert np.abs(one - other).max() <= (0 if exact else 1e-5 * max(1, np.abs(one).max())), seed


def test_exact_graphs_are_what_onnx_computes(networks):
    """The reference of onnx, which adds up in other orders, has the same words to the last bit."""
    evaluator = importlib.import_module("onnx.reference").ReferenceEvaluator
    models = [(seed, networks.random_graph(seed)) for seed in range(1000, 1060)]
    read_well = [(seed, model) for seed, model in models if not uneven_zeros(model)]
    assert len(read_well) > 45
    for seed, model in read_well:
        words = networks.random_inputs(model, seed)
        for one, other in zip(run(model, words), evaluator(model).run(None, words), strict=True):
            np.testing.assert_array_equal(one, other)


def uneven_zeros(model: Any) -> bool:
    """Whether a largest word is of a window with other zeros on one side: the reference takes sides for axes there."""
    pools = [node for node in model.graph.node if node.op_type == "MaxPool"]
    return any(len({*own.ints}) > 1 for node in pools for own in node.attribute if own.name == "pads")


def test_random_graphs_have_all_there_is_to_rewrite(networks):
    """Every kind of node, 5 to 25 nodes, branches that share an input, several inputs and outputs."""
    models = [networks.random_graph(seed) for seed in range(200)]
    assert {node.op_type for model in models for node in model.graph.node} >= KINDS
    numbers = [len(model.graph.node) for model in models]
    assert (min(numbers), max(numbers)) == (5, 25)
    assert {len(model.graph.input) for model in models} == {1, 2, 3}
    assert sum(len(model.graph.output) > 1 for model in models) > 100
    assert sum(max(Counter(read_by_products(model)).values(), default=0) > 1 for model in models) > 50


def test_random_convolutions_are_of_all_kinds(networks):
    """Windows, strides, groups, and zeros that keep the sizes, none, or on one side alone."""
    nodes = [node for seed in range(100) for node in networks.random_graph(seed).graph.node if node.op_type == "Conv"]
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


def test_equal_seeds_give_equal_graphs_and_inputs(networks):
    one, same, other = (networks.random_graph(seed) for seed in (3, 3, 4))
    assert one.SerializeToString() == same.SerializeToString() != other.SerializeToString()
    first, again = (networks.random_inputs(one, 3) for _ in range(2))
    assert all(np.array_equal(first[name], again[name]) for name in first)
