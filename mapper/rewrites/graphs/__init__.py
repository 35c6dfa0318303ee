"""Networks as graphs of terms, with inputs, weights, and nodes that the table of operators does not have."""

from ..terms import PART
from .graph import TensorGraph, computed
from .normal import joined, made, normal, part
from .rewriting import Rewrite, rewrites, rewritten
from .source import Label, Opaque, Port, Source, Tensor
from .table import CONCAT, NETWORK_OPERATORS, OPAQUE, OUTPUT, WEIGHT
from .values import constants, folded

__all__ = [
    "CONCAT",
    "NETWORK_OPERATORS",
    "OPAQUE",
    "OUTPUT",
    "PART",
    "WEIGHT",
    "Label",
    "Opaque",
    "Port",
    "Rewrite",
    "Source",
    "Tensor",
    "TensorGraph",
    "computed",
    "constants",
    "folded",
    "joined",
    "made",
    "normal",
    "part",
    "rewrites",
    "rewritten",
]
