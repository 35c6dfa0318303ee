"""Where the nodes of a small graph are drawn: in rows from what is read down to the outputs, few edges crossed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from .nodes import Kind, Node, Port

LETTER, LINE = 6.0, 13.0  # points that a letter is wide, and a line high
GAP, ROW_GAP = 14.0, 22.0  # points between the boxes of a row, and between rows
BEND = 4.0  # points that an edge is wide where it passes a row
SWEEPS = 8  # of orders and places, downwards and upwards in turn


@dataclass(frozen=True)
class Box:
    """A node with its middle and its size, in points."""

    node: Node
    x: float
    y: float
    width: float
    height: float

    def read_at(self, number: int) -> tuple[float, float]:
        """Where the edge of an operand ends."""
        return self._along(number, len(self.node.reads)), self.y - self.height / 2

    def made_at(self, number: int) -> tuple[float, float]:
        """Where the edges of a tensor that it makes begin."""
        return self._along(number, self.node.makes), self.y + self.height / 2

    def _along(self, number: int, of: int) -> float:
        return self.x + self.width * ((number + 1) / (of + 1) - 0.5)


@dataclass(frozen=True)
class Layout:
    """Boxes, in the order of `nodes_with_bends`, and the size of the picture in points."""

    boxes: tuple[Box, ...]
    width: float
    height: float


def size_of(node: Node) -> tuple[float, float]:
    """Return the width and the height of a node's box in points."""
    if node.kind == Kind.BEND:
        return BEND, LINE
    return LETTER * max(map(len, node.lines)) + 12, LINE * len(node.lines) + 6


def layout_of(nodes: Sequence[Node]) -> Layout:
    """Place nodes, each of which stands after those that it reads."""
    every, rows = _with_bends(nodes, _rows(nodes))
    order = _ordered(every, rows)
    across = _across(every, order)
    left = min(across[at] - size_of(every[at])[0] / 2 for at in range(len(every)))
    boxes, top = dict[int, Box](), 2.0
    for row in order:
        height = max(size_of(every[at])[1] for at in row)
        for at in row:
            width, own = size_of(every[at])
            own = height if every[at].kind == Kind.BEND else own
            boxes[at] = Box(every[at], across[at] - left + 2, top + height / 2, width, own)
        top += height + ROW_GAP
    right = max(box.x + box.width / 2 for box in boxes.values())
    return Layout(tuple(boxes[at] for at in range(len(every))), right + 2, top - ROW_GAP + 2)


def _rows(nodes: Sequence[Node]) -> list[int]:
    """Return the row of each node: below all that it reads; what reads nothing stands just above its first reader."""
    rows = [0] * len(nodes)
    for at, node in enumerate(nodes):
        rows[at] = 1 + max((rows[port.node] for port in node.reads), default=-1)
    last = max(rows)
    for at in reversed(range(len(nodes))):
        if nodes[at].kind == Kind.OUTPUT:
            rows[at] = last
        elif not nodes[at].reads:
            readers = [rows[other] for other, node in enumerate(nodes) if at in {port.node for port in node.reads}]
            rows[at] = min(readers) - 1
    return rows


def _with_bends(nodes: Sequence[Node], rows: Sequence[int]) -> tuple[list[Node], list[int]]:
    """Return the nodes with a bend in each row that an edge passes, one for all edges of a tensor, and their rows."""
    every, of = list(nodes), list(rows)
    passing: dict[tuple[Port, int], Port] = {}
    for at, node in enumerate(nodes):
        reads = []
        for port in node.reads:
            above = port
            for row in range(rows[port.node] + 1, rows[at]):
                if (port, row) not in passing:
                    passing[port, row] = Port(len(every))
                    every.append(Node(Kind.BEND, (), (above,)))
                    of.append(row)
                above = passing[port, row]
            reads.append(above)
        every[at] = replace(node, reads=tuple(reads))
    return every, of


def _ordered(nodes: Sequence[Node], rows: Sequence[int]) -> list[list[int]]:
    """Return the rows from left to right: each node near the middle of what it is joined to."""
    order: list[list[int]] = [[] for _ in range(max(rows) + 1)]
    for at in _depth_first(nodes):
        order[rows[at]].append(at)
    best, fewest = [list(row) for row in order], _crossings(nodes, order)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for row in order if down else order[::-1]:
            places = {at: (number + 0.5) / len(one) for one in order for number, at in enumerate(one)}
            middle = {at: _mean([places[other] for other in _joined(nodes, at, down)], places[at]) for at in row}
            row.sort(key=middle.__getitem__)
        if (crossed := _crossings(nodes, order)) < fewest:
            best, fewest = [list(row) for row in order], crossed
    return best


def _depth_first(nodes: Sequence[Node]) -> list[int]:
    """List the nodes as they are met from the outputs, operands from left to right."""
    met: dict[int, None] = {}

    def visit(at: int) -> None:
        for port in nodes[at].reads:
            visit(port.node)
        met.setdefault(at)

    for at, node in enumerate(nodes):
        if node.kind == Kind.OUTPUT:
            visit(at)
    return list(met)


def _joined(nodes: Sequence[Node], at: int, down: bool) -> list[int]:
    """List what a node reads, or its readers."""
    if down:
        return [port.node for port in nodes[at].reads]
    return [other for other, node in enumerate(nodes) for port in node.reads if port.node == at]


def _crossings(nodes: Sequence[Node], order: Sequence[Sequence[int]]) -> int:
    """Count the pairs of edges between two rows that cross."""
    edges = list(_edges(nodes, order))
    return sum(
        one[0] == other[0] and (one[1] - other[1]) * (one[2] - other[2]) < 0
        for number, one in enumerate(edges)
        for other in edges[:number]
    )


def _edges(nodes: Sequence[Node], order: Sequence[Sequence[int]]) -> Iterator[tuple[int, float, float]]:
    """Yield the row of each edge's reader, and its places in the row above and in this one, ports among them."""
    place = {at: number for row in order for number, at in enumerate(row)}
    for number, row in enumerate(order):
        for at in row:
            for read, port in enumerate(nodes[at].reads):
                yield number, place[port.node] + 0.1 * port.number, place[at] + 0.1 * read


def _across(nodes: Sequence[Node], order: Sequence[Sequence[int]]) -> dict[int, float]:
    """Return how far from the left the middle of each node is: near what it is joined to, boxes apart."""
    across: dict[int, float] = {}
    for row in order:
        at_right = 0.0
        for at in row:
            width = size_of(nodes[at])[0]
            across[at] = at_right + width / 2
            at_right += width + GAP
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for row in order if down else order[::-1]:
            wanted = [_mean([across[one] for one in _joined(nodes, at, down)], across[at]) for at in row]
            across.update(zip(row, _apart(wanted, [size_of(nodes[at])[0] for at in row]), strict=True))
    return across


def _apart(wanted: Sequence[float], widths: Sequence[float]) -> list[float]:
    """Return places in the order given and apart, as a whole as near as may be to those wanted."""
    made: list[float] = []
    for number, place in enumerate(wanted):
        least = made[-1] + (widths[number - 1] + widths[number]) / 2 + GAP if made else place
        made.append(max(place, least))
    shift = _mean([one - other for one, other in zip(wanted, made, strict=True)], 0.0)
    return [place + shift for place in made]


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
