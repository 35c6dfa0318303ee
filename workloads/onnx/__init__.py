"""ONNX models as network files. The package onnx (extra `onnx`) is imported when a file is read."""

from .graph import MAX_BYTES, Graph, Model, Node, graph_of, package, read_model, reason, with_shapes
from .network import Imported, as_network, import_graph, import_onnx, left_out_lines, network_yaml
from .pads import zeros_around

__all__ = [
    "MAX_BYTES",
    "Graph",
    "Imported",
    "as_network",
    "Model",
    "Node",
    "graph_of",
    "import_graph",
    "import_onnx",
    "left_out_lines",
    "network_yaml",
    "package",
    "read_model",
    "reason",
    "zeros_around",
    "with_shapes",
]
