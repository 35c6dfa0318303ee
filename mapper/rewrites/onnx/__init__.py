"""ONNX models as tensor graphs, in and out. The package onnx (extra `onnx`) is imported when a file is read."""

from .read import read_tensor_graph
from .write import write_onnx

__all__ = ["read_tensor_graph", "write_onnx"]
