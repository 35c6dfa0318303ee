"""The published figures beside this file, and tables of ours beside them."""

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import markdown
from ruby_map.mapper.model import Costs

HERE = Path(__file__).parent

Line = dict[str, str]  # of a file
Row = dict[str, Any]  # of a result: JSON's values


def lines_of(name: str) -> list[Line]:
    """Read a file of figures; lines that begin with # say where they are from."""
    text = (HERE / name).read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def numbers(line: Line, keys: Iterable[str]) -> list[int]:
    """Return whole numbers of a line."""
    return [int(line[key]) for key in keys]


def accesses(costs: Costs, level: int) -> int:
    """Count the words that all instances of a level read and write."""
    counts = costs.counts
    return int((counts.reads + counts.fills + counts.updates)[0, level].sum())


@dataclass(frozen=True)
class Table:
    """Rows of figures as a table of Markdown."""

    name: str
    rows: Callable[[bool], list[Row]]  # given whether a small size is asked for
    columns: dict[str, Callable[[Row], str]]

    def text(self, rows: Sequence[Row]) -> str:
        """Write the table."""
        return markdown(self.columns, rows)


def ratio(figure: float) -> str:
    """Write a ratio."""
    return f"{figure:.2f}"
