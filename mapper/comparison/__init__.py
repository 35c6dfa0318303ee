"""Folders of results read again: one, or two compared, as a page, tables, pictures, text and JSON."""

from .cases import MACS, OTHERS, Results, energy_parts, matched, read_folder
from .files import FORMATS, comparison_json, comparison_text, write_files
from .limits import Interval, Verdict, limits
from .page import is_page, page_html
from .pieces import pieces
from .stored import Stored

__all__ = [
    "FORMATS",
    "Interval",
    "MACS",
    "OTHERS",
    "Results",
    "Stored",
    "Verdict",
    "comparison_json",
    "comparison_text",
    "energy_parts",
    "is_page",
    "limits",
    "matched",
    "page_html",
    "pieces",
    "read_folder",
    "write_files",
]
