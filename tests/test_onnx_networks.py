"""`experiments/onnx_networks/`: networks of published sizes, that onnxruntime and ruby-import read."""

from collections import Counter
from collections.abc import Mapping
from math import prod
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from ruby_map.mapper.commands.ruby_import import main as ruby_import
from ruby_map.workloads import Network, load_workload
from ruby_map.workloads.onnx import import_onnx
from typer.testing import CliRunner

from .onnx_runs import declared, run

onnx = pytest.importorskip("onnx", reason="onnx is not installed: pip install 'ruby-map[onnx]'")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install onnxruntime")


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


def built(onnx_networks: ModuleType, name: str, *, small: bool = False, **options: Any) -> Any:
    """The model of a network, at its full size or at a small one."""
    builder, own, less = NETWORKS[name]
    if small:
        options |= {"batch": 2, "divisor": 8}
    return getattr(onnx_networks, builder)(onnx_networks.Options(**options), **own, **(less if small else {}))


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


# MACs as published and how near, learned words
PUBLISHED = {
    # Szegedy et al., table 1: ops add up to 1,502 M with a first convolution of 34 M, which by its sizes has 118 M;
    # words: those of the table's sizes, 6.99 M, and a bias for each output channel
    "googlenet": (1.586e9, 0.005, 6_998_552),
    "squeezenet 1.0": (0.82e9, 0.01, 1_248_424),  # Iandola et al., table 1, for the words; MACs: torchvision's models
    "squeezenet 1.1": (0.35e9, 0.01, 1_235_496),  # torchvision's models
    "resnet50": (4.09e9, 0.005, 25_557_032),  # torchvision's models
    "resnext50": (4.23e9, 0.005, 25_028_904),  # torchvision's models; Xie et al., table 1: 25.0 M, 4.2 G
    "nasnet mobile": (564e6, 0.002, 5_289_978),  # Zoph et al., table 3: 564 M, 5.3 M; words: Keras' NASNetMobile
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_macs_and_weights_are_as_published(name, onnx_networks):
    macs, near, weights = PUBLISHED[name]
    found = figures(built(onnx_networks, name))
    assert found == (pytest.approx(macs, rel=near), weights)


def test_nasnet_for_cifar_and_folded_norms(onnx_networks):
    """Zoph et al., table 1: NASNet-A (6 @ 768) has 3.3 M words. A folded norm leaves one word for each channel."""
    assert figures(built(onnx_networks, "nasnet cifar"))[1] == pytest.approx(3.3e6, rel=0.02)
    channels = 26_560  # of all batch norms of ResNet-50
    assert figures(built(onnx_networks, "resnet50", folded=True))[1] == 25_557_032 - channels


def test_bert_has_the_weights_of_its_layers(onnx_networks):
    """Devlin et al.: 12 layers of hidden 768, inner 3072; 85 M words beside the embeddings and the pooler."""
    layer = 4 * (768 * 768 + 768) + 2 * 768 * 3072 + 3072 + 768 + 4 * 768
    assert figures(onnx_networks.bert_encoder(tokens=16))[1] == 12 * layer == 85_054_464
    for gelu in ("erf", "op"):
        macs = figures(onnx_networks.bert_encoder(tokens=16, layers=1, gelu=gelu))[0]
        assert macs == 16 * (4 * 768 * 768 + 2 * 768 * 3072) + 2 * 16 * 16 * 768


# Szegedy et al., table 1: the row, its ops in millions, rows times columns
INCEPTION_OPS = {
    "conv2": (360, 56**2), "inception_3a": (128, 28**2), "inception_3b": (304, 28**2), "inception_4a": (73, 14**2),
    "inception_4b": (88, 14**2), "inception_4c": (100, 14**2), "inception_4d": (119, 14**2),
    "inception_4e": (170, 14**2), "inception_5b": (71, 7**2), "classifier": (1, 1),
}  # fmt: skip


def test_every_row_of_googlenet_has_the_ops_of_its_table(onnx_networks):
    """But the first convolution, which the table counts as 7x1 and 1x7, and 5a, which has the sizes of 4e."""
    words = Counter()
    for tensor in built(onnx_networks, "googlenet").graph.initializer:
        if tensor.name.endswith(".weight"):
            words[tensor.name.split(".")[0]] += prod(tensor.dims)
    assert set(words) - set(INCEPTION_OPS) == {"conv1", "inception_5a"}
    for row, (ops, area) in INCEPTION_OPS.items():
        assert words[row] * area / 1e6 == pytest.approx(ops, abs=1), row


@pytest.mark.parametrize("name", NETWORKS)
def test_a_narrow_network_runs(name, onnx_networks):
    """onnx checks it, onnxruntime makes outputs of the sizes it says: finite, near 1, other for other images."""
    model = built(onnx_networks, name, small=True)
    onnx.checker.check_model(model, full_check=True)
    words = onnx_networks.random_inputs(model, 0, onnx_networks.RandomOptions(exact=False))
    outputs = run(model, words)
    assert [output.shape for output in outputs] == [declared(value) for value in model.graph.output]
    for output in outputs:
        assert np.isfinite(output).all()
        assert 0.05 < output.std() < 20
        assert np.abs(output[0] - output[1]).max() > 1e-3


@pytest.mark.parametrize("name", NORMS)
def test_folded_norms_compute_the_same(name, onnx_networks):
    """Batch norms as nodes and as weights: equal but for float32, 1e-5 of the largest word."""
    plain, folded = (built(onnx_networks, name, small=True, folded=folded) for folded in (False, True))
    assert "BatchNormalization" in {node.op_type for node in plain.graph.node}
    assert "BatchNormalization" not in {node.op_type for node in folded.graph.node}
    words = onnx_networks.random_inputs(plain, 1, onnx_networks.RandomOptions(exact=False))
    (one,), (other,) = run(plain, words), run(folded, words)
    assert np.abs(one - other).max() <= 1e-5 * np.abs(one).max()


@pytest.mark.parametrize("name", ["googlenet", "nasnet mobile", "bert, erf"])
def test_a_seed_decides_all_weights(name, onnx_networks):
    """Equal seeds, equal models; another seed, other weights, none of them 0."""
    one, same, other = (built(onnx_networks, name, small=True, seed=seed) for seed in (5, 5, 6))
    assert one.SerializeToString() == same.SerializeToString() != other.SerializeToString()
    assert all(onnx.numpy_helper.to_array(own).all() for own in one.graph.initializer if own.name.endswith("weight"))


@pytest.mark.parametrize("name", NETWORKS)
def test_ruby_import_leaves_out_no_product(name, onnx_networks, tmp_path):
    """As many MACs as the model has, nothing left out that multiplies, nothing unclear in what layers hand on."""
    model = built(onnx_networks, name, small=True)
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
def test_ruby_import_finds_the_layers_of_the_library(library, name, times, onnx_networks, tmp_path):
    """The network file that ruby-import writes has the same layers as the library's, as often; BERT's are 12 equal."""
    onnx.save_model(built(onnx_networks, name), tmp_path / "model.onnx")
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


def test_what_cannot_be_built_is_refused(onnx_networks):
    """Images that leave a window nothing, divisors and choices that there are not."""
    builds = [
        lambda: onnx_networks.googlenet(image=30),
        lambda: onnx_networks.squeezenet(image=20),
        lambda: onnx_networks.squeezenet(version="1.2"),
        lambda: onnx_networks.nasnet_a_cell(kind="other"),
        lambda: onnx_networks.nasnet_a_mobile(image=2),
        lambda: onnx_networks.bert_encoder(onnx_networks.Options(divisor=3)),
        lambda: onnx_networks.bert_encoder(gelu="tanh"),
        lambda: onnx_networks.Options(divisor=0),
    ]
    for build in builds:
        with pytest.raises(ValueError, match=r"too small|must"):
            build()
