"""A picture: a matplotlib figure that is drawn without a display and shows itself in a notebook."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from typing import TYPE_CHECKING, Any

_back_end = os.environ.pop("MPLBACKEND", None)  # matplotlib cannot be imported where there is none of this name
try:
    import matplotlib
    from matplotlib.figure import Figure
finally:
    if _back_end is not None:
        os.environ["MPLBACKEND"] = _back_end
if _back_end:
    with suppress(ValueError):  # as matplotlib does when it is imported; no picture here needs a back end
        matplotlib.rcParams["backend"] = _back_end

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCREEN_DPI = 100  # in notebooks
# names from files are text: not mathematics, not LaTeX
AS_TEXT: Any = {"text.parse_math": False, "text.usetex": False}
FILES: Any = {"svg.fonttype": "none", "svg.hashsalt": "ruby-map", "pdf.fonttype": 42}


@contextmanager
def names_as_text() -> Iterator[None]:
    """Show names as they are in what is drawn meanwhile."""
    with matplotlib.rc_context(AS_TEXT):
        yield


@contextmanager
def own_settings() -> Iterator[None]:
    """Draw and write by matplotlib's own settings and ours, whatever the user's matplotlibrc says."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        with matplotlib.rc_context(AS_TEXT | FILES):
            yield


class Picture(Figure):
    """A figure of its own, known to no window system: `picture.savefig(path)` writes it, `picture.axes` change it."""

    def _repr_png_(self) -> bytes:
        """What a notebook shows."""
        data = BytesIO()
        self.savefig(data, format="png", dpi=SCREEN_DPI)
        return data.getvalue()


def axes_on(axes: "Axes | None", width: float, height: float) -> "Axes":
    """`axes`, or those of a new picture of `width` x `height` inches."""
    return axes or Picture(figsize=(width, height), layout="constrained").add_subplot()


def picture_of(axes: "Axes") -> Figure:
    """The whole figure that `axes` are in."""
    figure = axes.get_figure(root=True)
    assert figure is not None, "axes are in a figure"
    return figure
