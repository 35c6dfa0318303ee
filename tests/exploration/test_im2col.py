"""A convolution as a product: the same MACs, the same outputs, and a dim that fills an array."""

import json

import numpy as np
import pytest
from ruby_map.arch import load_arch
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.codegen.data_types import DATA_TYPES
from ruby_map.mapper.codegen.reference import expected, operands
from ruby_map.mapper.commands.ruby_map import main
from ruby_map.mapper.exploration.transforms import transformed
from ruby_map.mapper.exploration.transforms.im2col import flattened
from ruby_map.workloads import Network, load_workload, shaped
from typer.testing import CliRunner


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("groups", [1, 3])
def test_the_product_computes_the_convolution(stride, groups):
    """With the inputs written out, a row for each pixel."""
    layer = shaped("conv2d", N=2, G=groups, M=4, C=3, P=5, Q=4, R=3, S=2, stride=stride)
    kind, product = DATA_TYPES["int32"], flattened(layer)
    assert product.macs == layer.macs
    given = operands(layer, kind)
    outputs = expected(layer, given)[0].reshape(2, groups, 4, 5, 4)
    inputs = given["Inputs"].reshape(2, groups, 3, *given["Inputs"].shape[-2:])
    windows = np.lib.stride_tricks.sliding_window_view(inputs, (3, 2), axis=(-2, -1))[:, :, :, ::stride, ::stride]
    rows = windows.transpose(1, 0, 3, 4, 2, 5, 6).reshape(groups, 2 * 5 * 4, 3 * 3 * 2)
    weights = given["Weights"].reshape(groups, 4, 3 * 3 * 2)
    matrices = {"Inputs": rows, "Weights": weights}
    if groups == 1:
        matrices = {name: matrix[0] for name, matrix in matrices.items()}
    found = expected(product, matrices)[0].reshape(groups, 2, 5, 4, 4).transpose(1, 0, 4, 2, 3)
    assert np.array_equal(found, outputs)


def test_other_layers_stay_and_zeros_of_padding_are_still_known():
    product = shaped("matmul", M=4, N=5, K=6)
    assert flattened(product) is product
    conv = load_workload("resnet50/conv2_x_3x3")
    network = transformed(load_arch("eyeriss_like"), Network("two", ((conv, 3), (product, 1))), ["im2col"])
    assert [(layer.shape, layer.name, times) for layer, times in network.layers] == [
        ("matmul", conv.name, 3),
        ("matmul", "matmul", 1),
    ]
    assert network.layers[0][0].ineffectual_macs == conv.ineffectual_macs


def test_the_command_and_python_agree():
    done = CliRunner().invoke(main, ["simba_like", "alexnet/conv2", "--im2col", "--quick", "--json"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    options = SearchOptions(strategy="evolve", time_limit=1.0)
    found = explore("simba_like", "alexnet/conv2", options=options, im2col=True)
    assert found.workload.dims == ("B", "M", "N", "K")
    assert said["macs"] == found.macs == load_workload("alexnet/conv2").macs


def test_a_certificate_is_refused(tmp_path):
    place = tmp_path / "proof.json"
    done = CliRunner().invoke(main, ["simba_like", "alexnet/conv1", "--im2col", "--certificate", str(place)])
    assert done.exit_code == 2
    assert "write the product as one of its own" in done.stderr
