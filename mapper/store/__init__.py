"""Stores keep the mappings that were found, with their problems, costs, origins and proofs, for later searches."""

from .file import WAIT, store_faults
from .known import Known, known_line
from .lines import Line, export_lines, is_export, merge_lines
from .mappings import key_of, plain_mappings, read_mappings
from .problem import MODEL, Problem
from .prune import prune
from .rows import DATE, Entry, Found, Held, HeldProof, Origin
from .store import MOST, Store

__all__ = [
    "DATE",
    "MODEL",
    "MOST",
    "WAIT",
    "Entry",
    "Found",
    "Held",
    "HeldProof",
    "Known",
    "Line",
    "Origin",
    "Problem",
    "Store",
    "store_faults",
    "export_lines",
    "key_of",
    "known_line",
    "is_export",
    "merge_lines",
    "plain_mappings",
    "prune",
    "read_mappings",
]
