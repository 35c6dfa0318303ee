"""Networks as graphs of terms, with inputs, weights, and nodes that the table of operators does not have."""

from .graph import TensorGraph, computed
from .normal import joined, made, normal, part
from .source import Label, Opaque, Port, Source, Tensor
from .table import CONCAT, NETWORK_OPERATORS, OPAQUE, OUTPUT, PART, WEIGHT
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
]
