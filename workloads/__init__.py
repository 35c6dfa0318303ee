"""Workloads: dims, tensors, layers, networks and the library of them; and the reading of input files."""

from .checking import FloatExpr, IntExpr, Section, check
from .faults import Fault, InputError, ToldWarning, collect, option_fault
from .files import expanded, read_bytes, write_whole, written_together
from .load import library_workloads, load_workload, shaped
from .named_shapes import SHAPES
from .networks import Network
from .reading import Document, Keys, near, parse_yaml, unknown_choice
from .shapes import size_faults
from .spec import Rank, Tensor, Term, Workload, variant
from .yaml_files import read_yaml

__all__ = [
    "SHAPES",
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
    "ToldWarning",
    "Workload",
    "check",
    "collect",
    "expanded",
    "library_workloads",
    "load_workload",
    "near",
    "option_fault",
    "parse_yaml",
    "read_bytes",
    "read_yaml",
    "shaped",
    "size_faults",
    "unknown_choice",
    "variant",
    "write_whole",
    "written_together",
]
