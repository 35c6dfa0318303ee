"""How results show themselves: as text, as tables in a notebook, as a data frame, as pictures."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from ...workloads import Fault, InputError
from ..search.options import unknown
from .tables import TextTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

    Draw = Callable[["Axes | None"], "Figure"]

Rows = Sequence[Mapping[str, object]]


class Shown:
    """What all results can do; each says by `_title`, `_parts`, `_rows` and `_plots` what there is to show."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._title()}>"

    def __str__(self) -> str:
        return "\n\n".join(map(str, self._parts()))

    def _repr_html_(self) -> str:
        """What a notebook shows: the same parts, tables as tables."""
        return "".join(
            part.html() if isinstance(part, TextTable) else f"<pre>{escape(part)}</pre>" for part in self._parts()
        )

    def to_pandas(self) -> "DataFrame":
        """The figures as a data frame, in pJ, cycles, words and um2 (extra `pandas`).

        A row per level and tensor of a layer; per layer of a network; per point of a sweep. Raises InputError where
        pandas is missing.
        """
        try:
            from pandas import DataFrame
        except ImportError:
            message = "data frames need the package pandas: pip install 'ruby-map[pandas]'"
            raise InputError(Fault("to_pandas", None, "", message)) from None
        rows = self._rows()
        frame = DataFrame(list(rows))
        return frame.astype({name: "Int64" for name in frame if _whole([row.get(name) for row in rows])})

    def plot(self, what: str, axes: "Axes | None" = None) -> "Figure":
        """The picture `what`, on a figure of its own or on the given `axes`.

        A figure of its own shows itself in a notebook; `savefig(path)` writes it. Raises InputError for a picture that
        this result does not have.
        """
        plots = self._plots()
        if what not in plots:
            raise InputError(unknown("plot", what, plots))
        draw = plots[what]
        if isinstance(draw, str):
            raise InputError(Fault("plot", None, "", f'"{what}" cannot be drawn: {draw}'))
        return draw(axes)

    def _title(self) -> str:
        raise NotImplementedError

    def _parts(self) -> list[str | TextTable]:
        """What is printed, an empty line between."""
        raise NotImplementedError

    def _rows(self) -> Rows:
        """Of the data frame: column names and values."""
        raise NotImplementedError

    def _plots(self) -> "Mapping[str, Draw | str]":
        """What draws each picture, or why it cannot be drawn."""
        raise NotImplementedError


def _whole(column: Sequence[object]) -> bool:
    """Whether a column holds whole numbers and gaps, which pandas would show as floats."""
    known = [value for value in column if value is not None]
    return bool(known) and all(type(value) is int and abs(value) < 2**63 for value in known)
