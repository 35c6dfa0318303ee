"""Each line of the table of transformations: the alternatives compute the same, fit, and can be explored."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import Axis, check_fit, load_arch
from ruby_map.mapper.exploration import explore, layers_of
from ruby_map.mapper.exploration.transforms import TRANSFORMATIONS, transformed
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.workloads import Network, load_workload

from ..small_spaces import machine, matmul

each_transformation = pytest.mark.parametrize("name", TRANSFORMATIONS)
sizes = st.tuples(st.integers(1, 200), st.integers(1, 8), st.integers(1, 200))


@each_transformation
@settings(max_examples=50)
@given(data=st.data())
def test_alternatives_compute_the_same(name, data):
    """No MAC is lost: those that are not on zeros are as many as before, and no dim becomes smaller."""
    axes = [Axis(axis, data.draw(st.integers(1, 16))) for axis in "XY"]
    arch = machine(*axes)
    layers = tuple((matmul(*data.draw(sizes)), count) for count in (1, 3))
    work = Network("net", layers)
    alternatives = list(TRANSFORMATIONS[name].apply(arch, work))
    assert alternatives
    for network in alternatives:
        useful = sum((layer.macs - layer.ineffectual_macs) * count for layer, count in network.layers)
        assert useful == work.macs
        assert network.macs >= work.macs
        for (layer, _), (before, _) in zip(network.layers, layers, strict=False):
            check_fit(arch, layer, arch.name)
            assert (np.array(layer.sizes) >= before.sizes).all()


@each_transformation
def test_a_layer_stays_a_layer(name):
    """A single layer is transformed as a network of that layer alone."""
    arch, layer = machine(Axis("X", 16)), matmul(113, 1, 1)
    (alternative, *_) = TRANSFORMATIONS[name].apply(arch, Network("net", ((layer, 1),)))
    assert layers_of(transformed(arch, layer, [name])) == layers_of(alternative)


def test_without_names_nothing_is_transformed():
    """A network stays the very same, and so does a layer."""
    arch, layer = machine(Axis("X", 16)), matmul(113, 1, 1)
    network = Network("net", ((layer, 2),))
    assert transformed(arch, layer, []) is layer
    assert transformed(arch, network, []) is network


@each_transformation
def test_an_alternative_is_explored_as_any_workload_is(name):
    """On a machine of the library, with the MACs that the result reports."""
    arch, layer = load_arch("eyeriss_like"), load_workload("resnet50/conv3_x_3x3")
    work = transformed(arch, layer, [name])
    result = explore(arch, work, "pfm", SearchOptions(strategy="random", samples=2000))
    assert result.found
    assert result.macs - result.ineffectual_macs == layer.macs
