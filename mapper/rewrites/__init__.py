"""Rewrites of tensor graphs by rules that are proven."""

from .apply import Rule, Rules
from .graphs import OPAQUE, WEIGHT, Rewrite, Source, TensorGraph, made, rewrites, rewritten
from .onnx import MOST_SMALL, between, network_of, read_tensor_graph, write_onnx
from .shipped import rules
from .terms import COMMUTING, INPUT, Term, given, rebuilt, with_params

__all__ = [
    "COMMUTING",
    "INPUT",
    "MOST_SMALL",
    "OPAQUE",
    "Rewrite",
    "Rule",
    "Rules",
    "Source",
    "TensorGraph",
    "Term",
    "WEIGHT",
    "between",
    "given",
    "made",
    "network_of",
    "read_tensor_graph",
    "rebuilt",
    "rewrites",
    "rewritten",
    "rules",
    "with_params",
    "write_onnx",
]
