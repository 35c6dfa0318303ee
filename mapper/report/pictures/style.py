"""A picture: a matplotlib figure that is drawn without a display and shows itself in a notebook."""

from io import BytesIO
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCREEN_DPI = 100  # in notebooks


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
