"""A side of an equation as an SVG picture: boxes and the edges between them, read from above."""

from collections.abc import Iterator, Sequence
from html import escape

from ..terms import Term
from .layout import LINE, Box, layout_of
from .nodes import Kind, nodes_of

CLASSES = ("", ' class="param"')  # of the first line of a box, and of others


def side_svg(side: Sequence[Term]) -> str:
    """Draw a side; its styles are those of the page."""
    layout = layout_of(nodes_of(side))
    size = f'width="{layout.width:.0f}" height="{layout.height:.0f}"'
    parts = [f'<svg {size} viewBox="0 0 {layout.width:.0f} {layout.height:.0f}" role="img">']
    parts += _edges(layout.boxes)
    parts += (_box(box) for box in layout.boxes)
    return "".join([*parts, "</svg>"])


def _edges(boxes: Sequence[Box]) -> Iterator[str]:
    """Draw an edge to each operand of each box."""
    for box in boxes:
        for number, port in enumerate(box.node.reads):
            (x, y), (to_x, to_y) = boxes[port.node].made_at(port.number), box.read_at(number)
            middle = (y + to_y) / 2
            yield f'<path d="M{x:.0f} {y:.0f}C{x:.0f} {middle:.0f} {to_x:.0f} {middle:.0f} {to_x:.0f} {to_y:.0f}"/>'


def _box(box: Box) -> str:
    """Draw a box with its lines; a bend is the edge itself."""
    if box.node.kind == Kind.BEND:
        (x, y), (_, to_y) = box.read_at(0), box.made_at(0)
        return f'<path d="M{x:.0f} {y:.0f}V{to_y:.0f}"/>'
    left, top = box.x - box.width / 2, box.y - box.height / 2
    round_by = 0 if box.node.kind == Kind.OPERATOR else box.height / 2
    shape = f'<rect class="{box.node.kind.value}" x="{left:.0f}" y="{top:.0f}" rx="{round_by:.0f}"'
    shape += f' width="{box.width:.0f}" height="{box.height:.0f}"/>'
    first = box.y - LINE * (len(box.node.lines) - 1) / 2 + 4
    lines = (
        f'<text x="{box.x:.0f}" y="{first + LINE * number:.0f}"{CLASSES[number > 0]}>{escape(line)}</text>'
        for number, line in enumerate(box.node.lines)
    )
    return shape + "".join(lines)
