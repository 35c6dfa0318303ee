"""Networks of tensor graphs, and what two of them have in common that cost the same."""

import warnings
from collections.abc import Hashable
from dataclasses import replace

from ...workloads import Network
from ...workloads.onnx import as_network
from ..rewrites import TensorGraph, network_of

NAME = "rewritten"


def network_of_graph(graph: TensorGraph) -> Network:
    """Return the network of a graph, as its file would be imported. Raises InputError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nobody wrote this file: what looks unusual in it is in the graph
        return as_network(network_of(graph, NAME))


def network_key(network: Network) -> Hashable:
    """Return what networks have in common that differ in names alone: one price is that of all of them."""
    number = {name: at for at, (name, _) in enumerate(network.inputs)}
    for name in network.order:
        number[name] = len(number)
    layers = tuple((replace(layer, name=""), number[layer.name], count) for layer, count in network.layers)
    edges = tuple(
        replace(own, producer=str(number[own.producer]), consumer=str(number[own.consumer])) for own in network.edges
    )
    operations = tuple(
        replace(own, name=str(number[own.name]), inputs=tuple(str(number[name]) for name in own.inputs))
        for own in network.operations
    )
    return layers, edges, operations, tuple(sizes for _, sizes in network.inputs)
