"""Columns of figures of one side or two, with their ratios."""

from collections.abc import Sequence
from dataclasses import replace

from ..report.table_files import Column, Table, Value

RATIO = " B/A"  # the end of the name of a column


def sided(columns: Sequence[Column], letters: str) -> list[Column]:
    """A column per side for each of these, and of two sides one of the ratio where that is compared."""
    if len(letters) == 1:
        return list(columns)
    split = list[Column]()
    for own in columns:
        split += [replace(own, name=f"{own.name} {letter}") for letter in letters]
        split += [Column(own.name + RATIO, "", ".4g")] if own.compared else []
    return split


def values_of(column: Column, values: Sequence[float | None]) -> list[float | None]:
    """A value per side, and the ratio as `sided` has its column: None where one is not known or the first is 0."""
    if len(values) == 1 or not column.compared:
        return [*values]
    a, b = values
    return [a, b, b / a if a and b is not None else None]


def told_apart(name: str, title: str, columns: Sequence[Column], rows: Sequence[Sequence[Value]]) -> Table:
    """A table without the first column where no row has a word there: of one case alone nothing tells it apart."""
    first = 0 if any(row[0] for row in rows) else 1
    return Table(name, title, tuple(columns[first:]), tuple(tuple(row[first:]) for row in rows))
