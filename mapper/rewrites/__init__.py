"""Rewrites of tensor graphs by rules that are proven."""

from .apply import Rule, Rules
from .graphs import Rewrite, TensorGraph, rewrites, rewritten
from .onnx import network_of, read_tensor_graph, write_onnx
from .shipped import rules
from .terms import Term

__all__ = [
    "Rewrite",
    "Rule",
    "Rules",
    "Term",
    "TensorGraph",
    "network_of",
    "read_tensor_graph",
    "rewrites",
    "rewritten",
    "rules",
    "write_onnx",
]
