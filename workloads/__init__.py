"""Workloads: dimensions, tensors, layers, networks, the library of them, and the reading of input files."""

from .checking import FloatExpr, IntExpr, Section, check
from .expressions import arithmetic, linear
from .faults import Fault, InputError, collect
from .files import expanded, read_bytes, write_whole, written_together
from .load import library_workloads, load_workload, shaped
from .onnx_import import Imported, import_onnx, left_out_lines, network_yaml
from .reading import Document, Keys, near, parse_yaml, path_text, read_yaml
from .shapes import SHAPE_DIMS, size_faults
from .spec import Network, Rank, Tensor, Term, Workload

__all__ = [
    "Document",
    "Fault",
    "FloatExpr",
    "Imported",
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
    "expanded",
    "collect",
    "import_onnx",
    "left_out_lines",
    "library_workloads",
    "linear",
    "load_workload",
    "near",
    "network_yaml",
    "parse_yaml",
    "path_text",
    "read_bytes",
    "read_yaml",
    "shaped",
    "size_faults",
    "write_whole",
    "written_together",
]
