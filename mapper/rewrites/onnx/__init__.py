"""ONNX models as tensor graphs, in and out. The package onnx (extra `onnx`) is imported when a file is read."""

from .read import read_tensor_graph
from .write import network_of, write_onnx

__all__ = ["network_of", "read_tensor_graph", "write_onnx"]
