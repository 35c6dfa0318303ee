"""Workloads: dimensions, tensors, layers, networks, the library of them, and the reading of input files."""

from .checking import FloatExpr, IntExpr, Section, check
from .expressions import arithmetic, linear
from .reading import Document, Fault, InputError, Keys, near, parse_yaml, path_text, read_yaml
from .spec import Network, Rank, Tensor, Term, Workload

__all__ = [
    "Document",
    "Fault",
    "FloatExpr",
    "InputError",
    "IntExpr",
    "Keys",
    "Network",
    "Rank",
    "Section",
    "Tensor",
    "Term",
    "Workload",
    "arithmetic",
    "check",
    "linear",
    "near",
    "parse_yaml",
    "path_text",
    "read_yaml",
]
