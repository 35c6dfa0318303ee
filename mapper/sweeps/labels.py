"""Labels of points in a picture, none over another."""

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox

FAR = (7, 16, 28, 42)  # points from the mark to its label, as near as there is room
LEAD = {"arrowstyle": "-", "color": "#999999", "linewidth": 0.5}  # from a label to its mark
SIDES = (("left", "bottom", 1, 1), ("right", "top", -1, -1), ("left", "top", 1, -1), ("right", "bottom", -1, 1))


def write_labels(
    axes: "Axes",
    points: Sequence[tuple[float, float]],
    labels: Sequence[str],
    beside: Sequence[tuple[float, float]] = (),
) -> int:
    """Write a label for each point near it, inside `axes`, off all marks and other labels; a thin line leads to it.

    `beside` are marks without labels. Equal points have one label, that of the first. Returns how many had no room and
    were left out.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None, "axes are drawn on a figure"
    figure.draw_without_rendering()  # places the axes
    from matplotlib.transforms import Bbox  # with the first picture

    frame = axes.get_window_extent()
    marks = [Bbox.from_bounds(x - 6, y - 6, 12, 12) for x, y in axes.transData.transform([*points, *beside]).tolist()]
    taken = list[Bbox]()
    first = dict(zip(reversed(points), reversed(labels), strict=True))
    unplaced = 0
    for point in dict.fromkeys(points):
        box = _write(axes, point, first[point], (frame, [*marks, *taken]))
        taken += [box] if box else []
        unplaced += box is None
    return unplaced


def _write(axes: "Axes", point: tuple[float, float], label: str, room: "tuple[Bbox, Sequence[Bbox]]") -> "Bbox | None":
    """Write a label where it is inside the frame and off what is there; returns its place, None where there is none."""
    frame, obstacles = room
    for far, (across, along, x, y) in product(FAR, SIDES):
        place = {"textcoords": "offset points", "ha": across, "va": along, "fontsize": 6.5}
        text = axes.annotate(label, point, (x * far, y * far), **place)  # type: ignore[arg-type]
        box = text.get_window_extent().padded(1)
        inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
        if inside and not any(box.overlaps(other) for other in obstacles):
            if far > FAR[0]:
                axes.annotate("", point, (x * far, y * far), textcoords="offset points", arrowprops=LEAD)
            return box
        text.remove()
    return None
