"""The sheet of a picture: where the parts of a graph stand on it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import sqrt

from .labels import labels
from .layout import Layout
from .nodes import Kind, Node
from .parts import cut_into_columns, linked

GUTTER, BETWEEN, AISLE = 46.0, 34.0, 15.0  # points between columns, between parts, above and below columns
LEAST, FLAT = 560.0, 1.5  # points of width, and the width of a sheet of many parts over its height


@dataclass(frozen=True)
class Piece:
    """A column of a part, and where it begins."""

    layout: Layout
    x: float
    y: float
    goes_on: str = ""  # the node with which the column before ends and this one begins


@dataclass(frozen=True)
class Sheet:
    """All pieces, and how large they are together."""

    pieces: Sequence[Piece]
    width: float
    height: float

    @classmethod
    def of(cls, nodes: Sequence[Node], top: float) -> "Sheet":
        """Lay out each part of a graph, and put them side by side in lines below `top`, in the order of computing."""
        parts = [cut_into_columns(part) for part in linked(nodes)]
        texts = labels([*nodes, *(node for part in parts for column in part for node in column)])
        layouts = [[Layout(column, texts) for column in part] for part in parts]
        corners, width, height = _packed([_size(part) for part in layouts])
        inputs = {node.name for node in nodes if node.kind is Kind.INPUT}
        pieces = list[Piece]()
        for columns, part, (x, y) in zip(parts, layouts, corners, strict=True):
            for column, layout in zip(columns, part, strict=True):
                pieces.append(Piece(layout, x, top + y + _aisle(part), _copy(column, inputs)))
                x += layout.width + GUTTER
        return cls(pieces, width, top + height)


def _copy(column: Sequence[Node], inputs: Collection[str]) -> str:
    """The node with which a column begins as the one before ends, if any."""
    return next((node.name for node in column if node.kind is Kind.INPUT and node.name not in inputs), "")


def _packed(sizes: Sequence[tuple[float, float]]) -> tuple[list[tuple[float, float]], float, float]:
    """Put parts side by side in lines; returns where each begins, and how wide and high all are together."""
    area = sum((width + BETWEEN) * (height + BETWEEN) for width, height in sizes)
    room = max([LEAST, sqrt(area * FLAT), *(width for width, _ in sizes)])
    corners, x, y, line, widest = list[tuple[float, float]](), 0.0, 0.0, 0.0, LEAST
    for width, height in sizes:
        if x and x + width > room:
            x, y, line = 0.0, y + line + BETWEEN, 0.0
        corners.append((x, y))
        widest, line = max(widest, x + width), max(line, height)
        x += width + BETWEEN
    return corners, widest, y + line


def _size(part: Sequence[Layout]) -> tuple[float, float]:
    height = max(layout.height for layout in part) + 2 * _aisle(part)
    return sum(layout.width for layout in part) + GUTTER * (len(part) - 1), height


def _aisle(part: Sequence[Layout]) -> float:
    """The room above and below columns, where one goes on to the next."""
    return AISLE if len(part) > 1 else 0.0
