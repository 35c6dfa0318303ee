"""What all results can do: print themselves, and become tables in a notebook, data frames and pictures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Protocol, override

from ...workloads import Fault, InputError, unknown_choice
from .tables import TextTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

Rows = Sequence[Mapping[str, object]]


class Renderer[R](Protocol):
    """A way to draw a result."""

    @property
    def name(self) -> str:
        """The name that `plot` takes."""

    def why_not(self, result: R) -> str:
        """Why it cannot be drawn; empty where it can."""

    def __call__(self, result: R, axes: "Axes | None" = None) -> "Figure":
        """Draw the result on a figure of its own or on the given axes."""


@dataclass(frozen=True)
class Drawing[R]:
    """A renderer made of two functions."""

    name: str
    draw: "Callable[[R, Axes | None], Figure]"
    reason: Callable[[R], str]

    def why_not(self, result: R) -> str:
        """Why it cannot be drawn; empty where it can."""
        return self.reason(result)

    def __call__(self, result: R, axes: "Axes | None" = None) -> "Figure":
        return self.draw(result, axes)


@dataclass(frozen=True)
class NoDrawing:
    """A picture that a type of result never has, and where to look instead."""

    name: str
    instead: str

    def why_not(self, result: object) -> str:
        """What to ask for instead."""
        return self.instead

    def __call__(self, result: object, axes: "Axes | None" = None) -> "Figure":
        raise TypeError(self.instead)


# per type of result: the rows of its data frame, and its pictures. Filled by the faces of the rooms, so that a result
# does not import what draws it.
_ROWS: dict[type, Callable[[Any], Rows]] = {}
_RENDERERS: dict[type, Mapping[str, Renderer[Any]]] = {}


def register[R](kind: type[R], rows: Callable[[R], Rows], renderers: Sequence[Renderer[R]]) -> None:
    """Register the rows of the data frame and the pictures of a type of results."""
    _ROWS[kind] = rows
    _RENDERERS[kind] = {renderer.name: renderer for renderer in renderers}


class Printable:
    """A result: each type says by `_title` and `_parts` what is printed, and registers how it is drawn."""

    @override
    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._title()}>"

    @override
    def __str__(self) -> str:
        return "\n\n".join(map(str, self._parts()))

    def _repr_html_(self) -> str:
        """Show the same parts in a notebook, tables as tables."""
        return "".join(
            part.html() if isinstance(part, TextTable) else f"<pre>{escape(part)}</pre>" for part in self._parts()
        )

    def to_pandas(self) -> "DataFrame":
        """Make a data frame of the figures, in pJ, cycles, words and um2 (extra `pandas`).

        A row per level and tensor of a layer; per layer of a network; per point of a sweep. Raises InputError where
        pandas is missing.
        """
        try:
            from pandas import DataFrame
        except ImportError:
            message = "data frames need the package pandas: pip install 'ruby-map[pandas]'"
            raise InputError(Fault("to_pandas", None, "", message)) from None
        rows = _ROWS[type(self)](self)
        frame = DataFrame(list(rows))
        return frame.astype({name: "Int64" for name in frame if _whole([row.get(name) for row in rows])})

    def plot(self, what: str, axes: "Axes | None" = None) -> "Figure":
        """Draw the picture `what` on a figure of its own or on the given `axes`.

        A figure of its own shows itself in a notebook; `savefig(path)` writes it. Raises InputError for a picture that
        this result does not have.
        """
        renderers = _RENDERERS[type(self)]
        if what not in renderers:
            raise InputError(unknown_choice("plot", what, renderers))
        if why := renderers[what].why_not(self):
            raise InputError(Fault("plot", None, "", f'"{what}" cannot be drawn: {why}'))
        from .pictures.style import names_as_text

        with names_as_text():
            return renderers[what](self, axes)

    def _title(self) -> str:
        raise NotImplementedError

    def _parts(self) -> list[str | TextTable]:
        """What is printed, an empty line between."""
        raise NotImplementedError


def _whole(column: Sequence[object]) -> bool:
    """Whether a column holds whole numbers and gaps, which pandas would show as floats."""
    known = [value for value in column if value is not None]
    return bool(known) and all(type(value) is int and abs(value) < 2**63 for value in known)
