"""Tables as text of files."""

import csv
import re
from collections.abc import Callable, Mapping
from io import StringIO

from ...runtime import csv_cell
from .table import Table


def csv_text(table: Table) -> str:
    """Write a table as CSV with all digits, energies in pJ."""
    out = StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow([column.plain for column in table.columns])
    lines.writerows(map(csv_cell, row) for row in table.rows)
    return out.getvalue()


def markdown_text(table: Table) -> str:
    """Write a table as Markdown of GitHub's kind."""
    return _tabulated(table, "pipe", lambda text: re.sub(r"([\\`*\[\]|<])", r"\\\1", text))


def latex_text(table: Table) -> str:
    r"""Write a table as a LaTeX tabular that needs \usepackage{booktabs}."""
    return _tabulated(table, "latex_booktabs", lambda text: text)


def _tabulated(table: Table, form: str, escaped: Callable[[str], str]) -> str:
    """Write a table in a format of tabulate's, which escapes LaTeX itself."""
    from tabulate import tabulate  # not before it is needed

    head = [escaped(column.head) for column in table.columns]
    rows = [[escaped(cell) for cell in row] for row in table.cells]
    sides = ["right" if column.form else "left" for column in table.columns]
    return tabulate(rows, head, form, disable_numparse=True, colalign=sides if rows else None) + "\n"


TABLES: Mapping[str, Callable[[Table], str]] = {"csv": csv_text, "md": markdown_text, "tex": latex_text}  # by suffix
