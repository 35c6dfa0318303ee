"""Workloads: dimensions, tensors, layers, networks, the library of them, and the reading of input files."""

from .checking import FloatExpr, IntExpr, Section, check
from .expressions import arithmetic, linear
from .load import library_workloads, load_workload, shaped
from .reading import Document, Fault, InputError, Keys, near, parse_yaml, path_text, read_yaml
from .shapes import SHAPE_DIMS
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
    "SHAPE_DIMS",
    "Section",
    "Tensor",
    "Term",
    "Workload",
    "arithmetic",
    "check",
    "library_workloads",
    "linear",
    "load_workload",
    "near",
    "parse_yaml",
    "path_text",
    "read_yaml",
    "shaped",
]
