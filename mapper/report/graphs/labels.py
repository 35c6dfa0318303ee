"""What the boxes of a graph say, and how large they are: text is measured by the widths of a usual sans-serif."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .nodes import Kind, Node, short

NAME, TEXT, NOTE = 12.0, 10.5, 10.0  # points of names, of other text in boxes, of text beside edges
LEADING = 14.0
WIDEST, NARROWEST = 200.0, 110.0  # boxes of layers
_WIDTHS = dict.fromkeys("fijlrtI.,:;'|!()[]/ ", 0.36) | dict.fromkeys("mwMW@%", 0.9)  # the others are about as wide


@dataclass(frozen=True)
class Label:
    """The text of a node, line by line, and the size of its box."""

    lines: tuple[str, ...]
    width: float
    height: float
    count: str = ""  # beside the name


def labels(nodes: Sequence[Node]) -> dict[Node, Label]:
    """The labels of nodes; boxes of layers have one width."""
    by_name = {node.name: node for node in nodes}
    texts = {node: _lines(node, by_name) for node in nodes}
    widths = [_width_of(lines, node) for node, lines in texts.items() if node.kind is Kind.LAYER]
    layer_width = min(WIDEST, max([NARROWEST, *widths]))
    return {node: _label(node, lines, layer_width) for node, lines in texts.items()}


def _lines(node: Node, by_name: Mapping[str, Node]) -> tuple[str, ...]:
    if node.kind is Kind.LAYER:
        return node.name, node.what, f"{node.shape}, {short(node.words)} words"
    named = node.name if node.name.startswith(node.what) else f"{node.name}: {node.what}"
    same = any(by_name[name].shape == node.shape for name in node.reads)
    if node.kind is Kind.OPERATION:
        return (named,) if same else (named, node.shape)
    return (named if same else f"{named} {node.shape}",)


def _width_of(lines: tuple[str, ...], node: Node) -> float:
    name = width(lines[0], NAME, bold=True) + (width(_count(node), NAME) + 8 if node.count > 1 else 0)
    return max(name, *(width(line, TEXT) for line in lines)) + 16


def _label(node: Node, lines: tuple[str, ...], layer_width: float) -> Label:
    count = _count(node)
    if node.kind is Kind.LAYER:
        room = layer_width - 14
        beside = width(count, NAME) + 8 if count else 0.0
        cut_lines = (cut(lines[0], room - beside, NAME, bold=True), *(cut(line, room, TEXT) for line in lines[1:]))
        return Label(cut_lines, layer_width, 3 * LEADING + 9, count)
    if node.kind is Kind.OPERATION:
        cut_lines = tuple(cut(line, WIDEST, TEXT) for line in lines)
        most = max(width(line, TEXT) for line in cut_lines) + (width(count, TEXT) + 8 if count else 0)
        return Label(cut_lines, most + 18, len(lines) * LEADING + 7, count)
    line = cut(lines[0], WIDEST, TEXT)
    return Label((line,), width(line, TEXT) + (width(count, TEXT) + 8 if count else 0) + 8, LEADING + 1, count)


def _count(node: Node) -> str:
    return f"x {node.count:,}" if node.count > 1 else ""


def width(text: str, size: float, bold: bool = False) -> float:
    """About how wide a text is, rather too wide than too narrow."""
    units = sum(_WIDTHS.get(sign, 1.0 if ord(sign) > 0x2E80 else 0.63) for sign in text)
    return units * size * (1.06 if bold else 1.0)


def cut(text: str, room: float, size: float, bold: bool = False) -> str:
    """Leave out letters before the middle of a text that is wider than the room: names differ most at their ends.

    >>> cut("block_17/attention/query", 90, 12)
    'bloc...n/query'
    """
    if width(text, size, bold) <= room:
        return text
    for keep in range(len(text) - 1, 0, -1):
        head = (keep + 1) // 3
        shown = f"{text[:head]}...{text[len(text) - keep + head :]}"
        if width(shown, size, bold) <= room:
            return shown
    return "..."
