"""Rewrites of tensor graphs by rules that are proven."""

from .apply import Rule, Rules
from .graphs import OPAQUE, WEIGHT, Rewrite, Source, TensorGraph, made, rewrites, rewritten
from .onnx import MOST_SMALL, between, network_of, read_tensor_graph, write_onnx
from .shipped import rules
from .terms import COMMUTING, INPUT, Term, below, given, rebuilt, term

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
    "below",
    "between",
    "given",
    "made",
    "network_of",
    "read_tensor_graph",
    "rebuilt",
    "rewrites",
    "rewritten",
    "rules",
    "term",
    "write_onnx",
]
