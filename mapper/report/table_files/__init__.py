"""Tables of plain values, and the files that they are written as: CSV, Markdown, LaTeX."""

from .formats import TABLES, csv_text, latex_text, markdown_text
from .table import Column, Table, Value, energy_column

__all__ = ["TABLES", "Column", "Table", "Value", "csv_text", "energy_column", "latex_text", "markdown_text"]
