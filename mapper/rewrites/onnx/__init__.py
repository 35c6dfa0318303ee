"""ONNX models as tensor graphs, in and out. The package onnx (extra `onnx`) is imported when a file is read."""

from .between import between
from .model import MOST_SMALL
from .read import read_tensor_graph
from .write import network_of, write_onnx

__all__ = ["MOST_SMALL", "between", "network_of", "read_tensor_graph", "write_onnx"]
