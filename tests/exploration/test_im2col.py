"""im2col: the same MACs and the same products, words of windows repeated, and layers that stay as they are."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.codegen.data_types import DATA_TYPES
from ruby_map.mapper.codegen.reference import expected, operands
from ruby_map.mapper.commands.ruby_map import main
from ruby_map.mapper.exploration.transforms import chosen, transformed
from ruby_map.workloads import Network, load_workload, shaped
from typer.testing import CliRunner

from ..strategies import convolutions, matmuls

ARCH = load_arch("linear_16")


def unrolled(workload):
    return transformed(ARCH, workload, ["im2col"])


def words(workload, name):
    return next(workload.tensor_words(tensor) for tensor in workload.tensors if tensor.name == name)


def rows_of(layer, inputs):
    """The matrix of a row for each output pixel: inputs # (rank, ...) read at each index of pixel and reduction."""
    window = next(tensor for tensor in layer.tensors if tensor.name == "Inputs")
    pixels = [dim for dim in ("P", "Q") if dim in layer.dims]
    reduced = [dim for dim in ("C", "R", "S") if dim in layer.dims]
    shape = [layer.size(dim) for dim in (*pixels, *reduced)]
    index = dict(zip((*pixels, *reduced), np.indices(shape), strict=True))
    picked = inputs[tuple(sum(term.coef * index[term.dim] for term in rank) for rank in window.ranks)]
    return picked.reshape(*shape[: len(pixels)], -1)


@settings(max_examples=60)
@given(convolutions(grouped=False))
def test_the_product_is_the_convolution(layer):
    """The same MACs, outputs and weights; NumPy's product of the matrix equals the convolution, strides and all."""
    product = unrolled(layer)
    assert product.macs == layer.macs
    assert [words(product, name) == words(layer, name) for name in ("Weights", "Outputs")] == [True, True]
    reduction = layer.size("C") * layer.size("R") * layer.size("S")
    assert (product.size("C"), product.size("R"), product.size("S")) == (reduction, 1, 1)
    assert words(product, "Inputs") == layer.size("P") * layer.size("Q") * reduction
    given_words = operands(layer, DATA_TYPES["int32"])
    weights = given_words["Weights"].reshape(layer.size("M"), -1)
    matrix = {"Inputs": rows_of(layer, given_words["Inputs"])}
    matrix["Weights"] = weights.reshape([product.size(d) for d in ("M", "C", "R", "S") if d in product.dims])
    np.testing.assert_array_equal(expected(product, matrix)[0], expected(layer, given_words)[0])
    assert unrolled(product) is product or unrolled(product) == product


@settings(max_examples=30)
@given(st.one_of(matmuls(), convolutions(grouped=True).filter(lambda layer: layer.size("G") > 1)))
def test_other_layers_stay_as_they_are(layer):
    """Products, and convolutions in groups."""
    assert unrolled(layer) == layer


def test_a_network_layer_by_layer():
    """Counts stay, and names; depthwise layers stay as they are."""
    work = Network("net", ((shaped("conv2d", M=3, C=4, P=5, Q=5, R=3, S=3), 2), (shaped("matmul", M=2, N=3, K=4), 1)))
    net = transformed(ARCH, work, ["im2col"])
    assert [(layer.sizes, count) for layer, count in net.layers] == [((1, 3, 36, 5, 5, 1, 1), 2), ((2, 3, 4), 1)]
    depthwise = shaped("conv2d", G=8, M=1, C=1, P=4, Q=4, R=3, S=3)
    assert unrolled(depthwise) is depthwise


def test_before_padding():
    """Both may be asked for: the reduction is put together, then padded."""
    assert chosen(pad=True, im2col=True, distinct=True) == ("im2col", "pad")
    layer = load_workload("resnet50/conv5_x_3x3")
    both = transformed(load_arch("linear_16"), layer, chosen(pad=True, im2col=True))
    assert both.size("C") == 512 * 9
    assert both.macs - both.ineffectual_macs == layer.macs


def test_in_python_and_by_command(tmp_path):
    """`im2col=True`, `--im2col`; sizes."""
    file = tmp_path / "layer.yaml"
    file.write_text("shape: conv2d\nsizes: {M: 4, C: 3, P: 2, Q: 2, R: 2, S: 1}\n")
    some = SearchOptions(strategy="random", samples=500)
    result = explore("linear_16", str(file), "ruby-s", some, im2col=True)
    assert result.workload.sizes == (1, 4, 6, 2, 2, 1, 1)
    options = ["linear_16", str(file), "--im2col", "--search", "random", "--samples", "500", "--json"]
    found = CliRunner().invoke(main, options)
    assert (json.loads(found.stdout)["edp"], found.exit_code) == (result.edp, 0)
    assert CliRunner().invoke(main, ["linear_16", str(file), "--im2col", "--size"]).exit_code == 0


@pytest.mark.parametrize("name", ["alexnet/conv2", "mobilenet_v2"])
def test_library_layers_keep_their_macs(name):
    """Grouped, depthwise and pointwise layers among them."""
    work = load_workload(name)
    assert transformed(ARCH, work, ["im2col"]).macs == work.macs
