"""A table of plain values, with what a reader is shown of them."""

from dataclasses import dataclass, replace

from ..tables import TextTable, energy_unit

Value = str | float | None  # None: not known, or nothing there


@dataclass(frozen=True)
class Column:
    """A column: its unit, and how a reader is shown its figures, divided by `size`."""

    name: str
    unit: str = ""
    form: str = ""  # of a number; "": words
    size: float = 1.0
    compared: bool = True  # by the ratio of two sides

    @property
    def head(self) -> str:
        """The name with the unit."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name

    @property
    def plain(self) -> str:
        """The name with the unit of the values as they are."""
        return f"{self.name} [pJ]" if self.size != 1 else self.head

    def shown(self, value: Value) -> str:
        """The value as a reader is shown it."""
        if value is None:
            return ""
        return " ".join(value.split()) if isinstance(value, str) else format(value / self.size, self.form)


@dataclass(frozen=True)
class Table:
    """Columns and rows of plain values."""

    name: str  # of its files
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]

    @property
    def words(self) -> list[int]:
        """The columns that hold words."""
        return [number for number, column in enumerate(self.columns) if not column.form]

    @property
    def cells(self) -> list[list[str]]:
        """The rows as a reader is shown them."""
        return [[column.shown(value) for column, value in zip(self.columns, row, strict=True)] for row in self.rows]

    def first(self, most: int) -> "Table":
        """The same with the first rows, at most so many."""
        return replace(self, rows=self.rows[:most])

    def text(self) -> TextTable:
        """The table for a terminal."""
        return TextTable([column.head for column in self.columns], self.cells, self.words, self.title)


def energy_column(name: str, largest_pj: float) -> Column:
    """A column of energies in pJ, shown in the unit in which the largest is at least 1."""
    unit, size = energy_unit(largest_pj)
    return Column(name, unit, ",.5g", size)
