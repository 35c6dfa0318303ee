"""Stores keep the mappings that were found, with their problems, costs, origins and proofs, for later searches."""

from .file import store_faults
from .history import StoreHistory, known_line
from .lines import Line, export_lines, is_export, merge_lines
from .mappings import key_of, plain_mappings, read_mappings
from .rows import DATE, Entry, MappingSource, Origin, StoredMapping, StoredProof
from .store import Store, prune

__all__ = [
    "DATE",
    "Entry",
    "MappingSource",
    "StoredMapping",
    "StoredProof",
    "StoreHistory",
    "Line",
    "Origin",
    "Store",
    "export_lines",
    "is_export",
    "key_of",
    "known_line",
    "merge_lines",
    "plain_mappings",
    "prune",
    "read_mappings",
    "store_faults",
]
