"""Networks as graphs: what edges may say, and that nothing known before depends on them."""

from dataclasses import replace

import pytest
from ruby_map.arch import load_arch
from ruby_map.mapper import explore
from ruby_map.mapper.exploration.transforms import TRANSFORMATIONS
from ruby_map.mapper.problem import fingerprint
from ruby_map.workloads import InputError, Network, load_workload, shaped
from ruby_map.workloads.networks import Edge

EXPAND = replace(shaped("conv2d", M=6, C=2, P=4, Q=4, R=1, S=1), name="expand")
PROJECT = replace(shaped("conv2d", M=3, C=6, P=4, Q=4, R=1, S=1), name="project")
BEFORE = "ba5f4f977b2d6186"  # of the network without edges, as a program without them wrote it
HANDED = Edge("expand", "project", "Inputs")
NETWORK = Network("block", ((EXPAND, 1), (PROJECT, 2)), edges=(HANDED,))


def test_a_layer_knows_what_it_reads_of_others():
    """Edges are those of the consumer; the first layer reads what nobody in the network makes."""
    assert NETWORK.inputs_of("project") == (HANDED,)
    assert NETWORK.inputs_of("expand") == ()


@pytest.mark.parametrize(
    ("edge", "message"),
    [
        (Edge("squeeze", "project", "Inputs"), "block has no layer squeeze"),
        (Edge("expand", "add", "Inputs"), "block has no layer add"),
        (Edge("project", "expand", "Inputs"), "expand reads what project makes, and does not come after it"),
        (Edge("expand", "expand", "Inputs"), "expand reads what expand makes"),
        (Edge("expand", "project", "Outputs"), "project reads no tensor Outputs"),
    ],
)
def test_an_edge_that_is_none_is_refused(edge, message):
    """It names two layers in their order, and an input of the second."""
    with pytest.raises(ValueError, match=message):
        replace(NETWORK, edges=(edge,))


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_transformed_networks_have_the_same_edges(name):
    """Layers keep their names and the names of their tensors."""
    assert next(TRANSFORMATIONS[name].apply(load_arch("linear_15"), NETWORK)).edges == (HANDED,)


def test_networks_without_edges_are_those_of_before():
    """Checkpoints that were written before networks had edges are read: the hash is that of then."""
    assert load_workload("deepbench").edges == ()
    assert fingerprint(replace(NETWORK, edges=())) == BEFORE
    assert fingerprint(NETWORK) != BEFORE


def test_sweeps_of_before_know_their_networks():
    """They know them by this text, to which edges add."""
    text = repr(replace(NETWORK, edges=()))
    assert text == f"Network(name='block', layers=(({EXPAND!r}, 1), ({PROJECT!r}, 2)), tokens=None)"
    assert repr(NETWORK) == f"{text[:-1]}, edges=({HANDED!r},))"


def test_edges_name_one_layer_each():
    """Where two layers have one name an edge would be of either."""
    twice = Network("twice", ((EXPAND, 1), (PROJECT, 1), (EXPAND, 1)))
    with pytest.raises(ValueError, match="twice has edges, and two layers of one name"):
        replace(twice, edges=(HANDED,))


def test_a_network_without_layers_is_refused():
    """Of a program: files are checked as they are read."""
    with pytest.raises(InputError, match="nothing: layers: must have at least one layer"):
        explore("linear_5", Network("nothing", ()), "pfm")
