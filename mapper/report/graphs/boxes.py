"""Nodes and words of a graph as SVG."""

from collections.abc import Iterator
from html import escape

from .labels import LEADING, NAME, NOTE, TEXT
from .layout import Box, Note
from .nodes import Kind, Node

INK, PALE, FILL = "#222222", "#5f5f5f", "#f1f1f1"


def text_svg(x: float, y: float, text: str, size: float, style: str = "") -> str:
    """A line of text whose middle is at a height; it is escaped."""
    return f'<text x="{x:.1f}" y="{y + size * 0.35:.1f}" font-size="{size:g}"{style}>{escape(text)}</text>'


def box_svg(box: Box) -> str:
    """A node: a box of a layer, a rounded one of an operation, text alone of others; told in full where it is pointed
    at."""
    shape = _SHAPES[box.node.kind]
    return f"<g><title>{escape(_in_full(box.node))}</title>{''.join(shape(box))}</g>"


def note_svg(note: Note) -> str:
    """Words beside an edge."""
    return text_svg(note.x, note.y, note.text, NOTE, f' fill="{PALE}"')


def _in_full(node: Node) -> str:
    """All that is known of a node, in a line."""
    facts = [f"{node.name}: {node.what or node.kind.value}", f"{node.shape}, {node.words:,} words"]
    facts += [f"{node.macs:,} MACs"] if node.macs else []
    facts += [f"reads {', '.join(node.reads)}"] if node.reads else []
    return "; ".join(facts) + (f"; x {node.count:,}" if node.count > 1 else "")


def _frame(box: Box, radius: float, style: str) -> str:
    left, size = box.x - box.label.width / 2, f'width="{box.label.width:.1f}" height="{box.label.height:.1f}"'
    return f'<rect x="{left:.1f}" y="{box.top:.1f}" {size} rx="{radius:g}" {style}/>'


def _layer(box: Box) -> Iterator[str]:
    left, right = box.x - box.label.width / 2 + 8, box.x + box.label.width / 2 - 8
    yield _frame(box, 2, f'fill="#ffffff" stroke="{INK}"')
    for number, line in enumerate(box.label.lines):
        y = box.top + 4.5 + LEADING * (number + 0.5)
        yield text_svg(left, y, line, TEXT if number else NAME, f' fill="{PALE}"' if number else ' font-weight="bold"')
    if box.label.count:
        yield text_svg(right, box.top + 4.5 + LEADING / 2, box.label.count, NAME, ' text-anchor="end"')


def _operation(box: Box) -> Iterator[str]:
    yield _frame(box, 9, f'fill="{FILL}" stroke="{PALE}"')
    yield from _centred(box, INK, "")


def _passing(box: Box) -> Iterator[str]:
    yield from _centred(box, PALE, "")


def _input(box: Box) -> Iterator[str]:
    yield from _centred(box, INK, ' font-style="italic"')


def _centred(box: Box, colour: str, style: str) -> Iterator[str]:
    """The lines one below the other, how often it occurs behind the first."""
    first = box.y - LEADING * (len(box.label.lines) - 1) / 2
    for number, line in enumerate(box.label.lines):
        shown = line if number or not box.label.count else f"{line} {box.label.count}"
        fill = PALE if number else colour
        yield text_svg(box.x, first + LEADING * number, shown, TEXT, f' fill="{fill}" text-anchor="middle"{style}')


_SHAPES = {Kind.LAYER: _layer, Kind.OPERATION: _operation, Kind.PASSING: _passing, Kind.INPUT: _input}
