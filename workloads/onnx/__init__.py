"""ONNX models as network files. The package onnx (extra `onnx`) is imported when a file is read."""

from .network import Imported, import_onnx, left_out_lines, network_yaml

__all__ = [
    "Imported",
    "import_onnx",
    "left_out_lines",
    "network_yaml",
]
