"""The graph of a network as a picture: SVG that asks for no other file."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from types import MappingProxyType

from ....workloads import Network
from ..pictures import PALETTE
from .boxes import INK, PALE, box_svg, note_svg, text_svg
from .labels import NOTE, TEXT, cut, width
from .layout import Layout
from .listing import NOTHING_KNOWN
from .nodes import Totals, inputs_of, nodes_of, short, totals
from .sheet import GUTTER, Piece, Sheet

MARGIN, HEAD, LINE = 20.0, 50.0, 18.0  # points around all, of the title, of a line of the legend
BANDS = (*PALETTE[:5], PALETTE[6])  # of groups
MARKED, EDGE = PALETTE[5], "#8a8a8a"  # edges that are marked, and others
PAD = 6.0  # points of a band beside a box
FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
_ARROW = (
    '<marker id="{0}" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="{2}" markerHeight="{2}" '
    'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.5L8 4L0 7.5z" fill="{1}"/></marker>'
)
Marks = Mapping[tuple[str, str], str]


def graph_svg(network: Network, groups: Sequence[Sequence[str]] = (), marks: Marks = MappingProxyType({})) -> str:
    """Draw the graph: nodes from top to bottom in the order of computing, edges from makers to readers.

    The nodes of each of `groups`, by name, stand on a band of one colour; an empty group has a number and no band.
    `marks` says a word of edges, by maker and reader, as `resident`: these are drawn thicker, and the legend has it.
    """
    own = totals(network)
    sheet = Sheet.of([*inputs_of(network), *nodes_of(network)], HEAD if own.edges else HEAD + NOTE)
    legend = list(_legend(groups, marks, sheet.width))
    wide, high = sheet.width + 2 * MARGIN, sheet.height + 2 * MARGIN + (LINE * len(legend) + 14 if legend else 0)
    drawn = [
        *_title(network.name, own, sheet.width),
        *(part for number, group in enumerate(groups) for part in _band(sheet, number, frozenset(group))),
        *_edges(sheet, marks),
        *(text for piece in sheet.pieces for text in _piece(piece)),
        *(_tag(sheet, number, group) for number, group in enumerate(groups)),
        *(_moved("".join(line), 0, sheet.height + 22 + LINE * number) for number, line in enumerate(legend)),
    ]
    arrows = _ARROW.format("arrow", EDGE, 7) + _ARROW.format("marked", MARKED, 10)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{high:.0f}" '
        f'viewBox="0 0 {wide:.0f} {high:.0f}" font-family="{FONT}" fill="{INK}" role="img">'
        f"<title>{escape(network.name)}</title><defs>{arrows}</defs>"
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n{_moved(chr(10).join(drawn), MARGIN, MARGIN)}\n</svg>\n'
    )


def _moved(drawn: str, x: float, y: float) -> str:
    return f'<g transform="translate({x:.1f} {y:.1f})">{drawn}</g>'


def _title(name: str, own: Totals, room: float) -> Iterator[str]:
    yield text_svg(0, 8, cut(name, room, 15, bold=True), 15, ' font-weight="bold"')
    yield text_svg(0, 27, cut(_facts(own), room, TEXT), TEXT, f' fill="{PALE}"')
    if not own.edges:
        yield text_svg(0, 41, cut(NOTHING_KNOWN, room, TEXT), TEXT, f' fill="{PALE}"')


def _facts(own: Totals) -> str:
    layers = f"{own.layers:,} layer{'' if own.layers == 1 else 's'}"
    operations = f", {own.operations:,} operation{'' if own.operations == 1 else 's'}" if own.operations else ""
    between = "" if own.words_between is None else f", {short(own.words_between)} words between layers"
    return f"{layers}{operations}; {short(own.macs)} MACs{between}"


def _piece(piece: Piece) -> Iterator[str]:
    layout = piece.layout
    drawn = [*map(box_svg, layout.boxes.values()), *map(note_svg, layout.notes)]
    yield _moved("".join(drawn), piece.x, piece.y)


def _edges(sheet: Sheet, marks: Marks) -> Iterator[str]:
    """Draw all edges, those that are marked last; and from each column to the next."""
    style = f'fill="none" stroke="{EDGE}" stroke-width="1.2" marker-end="url(#arrow)"'
    thick = f'fill="none" stroke="{MARKED}" stroke-width="3" marker-end="url(#marked)"'
    for before, piece in pairwise(sheet.pieces):
        if piece.goes_on:
            yield f'<path d="{_connector(before, piece)}" {style} stroke-dasharray="4 3"/>'
    for drawn, is_marked in ((style, False), (thick, True)):
        for piece in sheet.pieces:
            own = [edge for edge in piece.layout.routes if (edge in marks) == is_marked]
            paths = "".join(f'<path d="{piece.layout.path(*edge)}"/>' for edge in own)
            yield _moved(f"<g {drawn}>{paths}</g>", piece.x, piece.y) if paths else ""


def _connector(before: Piece, piece: Piece) -> str:
    """The way from the end of a column to the beginning of the next."""
    upper, lower = before.layout.boxes[piece.goes_on], piece.layout.boxes[piece.goes_on]
    x, y, to_x, to_y = before.x + upper.x, before.y + upper.bottom, piece.x + lower.x, piece.y + lower.top
    aisle = piece.x - GUTTER / 2
    return (
        f"M{x:.1f} {y:.1f}v8q0 6 6 6H{aisle - 6:.1f}q6 0 6 -6V{to_y - 8:.1f}q0 -6 6 -6H{to_x - 6:.1f}q6 0 6 6"
        f"V{to_y:.1f}"
    )


def _band(sheet: Sheet, number: int, group: frozenset[str]) -> Iterator[str]:
    """The band of a group: behind its boxes, and between those that are linked."""
    colour = BANDS[number % len(BANDS)]
    for piece in sheet.pieces:
        if shapes := "".join(_shapes(piece.layout, group, piece.goes_on)):
            style = f'fill="{colour}" stroke="{colour}" stroke-width="0" opacity="0.3"'
            yield _moved(f"<g {style}>{shapes}</g>", piece.x, piece.y)


def _shapes(layout: Layout, group: frozenset[str], goes_on: str) -> Iterator[str]:
    for box in layout.boxes.values():
        if box.node.name in group and box.node.name != goes_on:
            wide, high = box.label.width + 2 * PAD, box.label.height + 2 * PAD
            left, top = box.x - wide / 2, box.top - PAD
            yield f'<rect x="{left:.1f}" y="{top:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="6"/>'
    for (maker, reader), route in layout.routes.items():
        if not {maker, reader} <= group or maker == goes_on:
            continue
        if len(route) > 2:
            yield f'<path d="{layout.path(maker, reader)}" fill="none" stroke-width="14"/>'
            continue
        upper, lower = layout.boxes[maker], layout.boxes[reader]
        above, below = upper.label.width / 2 + PAD, lower.label.width / 2 + PAD
        corners = [(upper.x - above, upper.bottom), (upper.x + above, upper.bottom),
                   (lower.x + below, lower.top), (lower.x - below, lower.top)]  # fmt: skip
        yield f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in corners)}"/>'


def _tag(sheet: Sheet, number: int, group: Sequence[str]) -> str:
    """The number of a group, at the corner of its first box."""
    first = next(
        ((piece, box) for piece in sheet.pieces for box in piece.layout.boxes.values() if box.node.name in group), None
    )
    if first is None:
        return ""
    piece, box = first
    x, y = piece.x + box.x - box.label.width / 2 - PAD, piece.y + box.top - PAD + 2
    return _numbered(x, y, number)


def _numbered(x: float, y: float, number: int) -> str:
    colour = BANDS[number % len(BANDS)]
    circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="8" fill="#ffffff" stroke="{colour}" stroke-width="2"/>'
    return circle + text_svg(x, y, str(number + 1), NOTE, ' text-anchor="middle"')


def _legend(groups: Sequence[Sequence[str]], marks: Marks, room: float) -> Iterator[list[str]]:
    """The lines of the legend: as many entries side by side as there is room for."""
    line, x = list[str](), 0.0
    entries = [(cut(" + ".join(group), room - 44, TEXT), number) for number, group in enumerate(groups) if group]
    for text, number in [*entries, *((word, -1) for word in dict.fromkeys(marks.values()))]:
        wide = 44 + width(text, TEXT)
        if line and x + wide > room:
            yield line
            line, x = [], 0.0
        sign = _numbered(x + 9, 0, number) if number >= 0 else _sample(x)
        line.append(sign + text_svg(x + 24, 0, text, TEXT))
        x += wide
    if line:
        yield line


def _sample(x: float) -> str:
    return f'<path d="M{x:.1f} 0h18" stroke="{MARKED}" stroke-width="3"/>'
