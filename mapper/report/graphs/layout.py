"""Where everything of a part of a graph is drawn: boxes, the curves of edges, and the words beside these."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .columns import Columns, Extent
from .labels import NOTE, Label, width
from .nodes import Kind, Node, short
from .rows import Place, placed

GAP, STEEP = 24.0, 0.07  # points between rows; more for each point that an edge goes to the side
MOST_GAP = 64.0
PORTS = 12.0  # points between the ends of edges at one box
ARROW = 8.0  # points upright before a box
LABELLED = 4  # lanes of a row that may say how many words pass


@dataclass(frozen=True)
class Box:
    """A node with its middle."""

    node: Node
    label: Label
    x: float
    y: float

    @property
    def top(self) -> float:
        """The upper end."""
        return self.y - self.label.height / 2

    @property
    def bottom(self) -> float:
        """The lower end."""
        return self.y + self.label.height / 2


@dataclass(frozen=True)
class Note:
    """Words beside an edge: where the text begins, and the middle of its height."""

    x: float
    y: float
    text: str


class Layout:
    """A part of a graph, laid out from (0, 0) on."""

    def __init__(self, nodes: Sequence[Node], texts: Mapping[Node, Label]) -> None:
        self._nodes = {node.name: node for node in nodes}
        self._labels = {node.name: texts[node] for node in nodes}
        self._rows, self.routes = placed(nodes)
        self._noted = self._lane_notes()
        self._columns = Columns(self._rows, self._extent)
        self._x = self._columns.x
        self._tops, self._bottoms = self._heights()
        of_nodes = [place for row in self._rows for place in row if not place.passes]
        self.boxes = {
            place.name: Box(self._nodes[place.name], self._labels[place.name], self._x[place], self._middle(place.row))
            for place in of_nodes
        }
        self._begins = {place: self._ports(place, place.below) for place in of_nodes}
        self._ends = {place: self._ports(place, place.above) for place in of_nodes}
        self.height = self._bottoms[-1]
        self.notes = [*self._beside_lanes(), *self._beside_edges()]
        right = [x + self._extent(place).right for place, x in self._x.items()]
        self.width = max(right + [note.x + width(note.text, NOTE) for note in self.notes])

    def _lane_notes(self) -> dict[Place, str]:
        """The places where lanes say what passes: in the middle of each, where few others are."""
        lanes: dict[str, list[Place]] = {}
        for row in self._rows:
            for place in row:
                if place.passes:
                    lanes.setdefault(place.name, []).append(place)
        middles = {lane[len(lane) // 2]: f"{short(self._nodes[name].words)} words" for name, lane in lanes.items()}
        few = [sum(place.passes for place in row) <= LABELLED for row in self._rows]
        return {place: text for place, text in middles.items() if few[place.row]}

    def _extent(self, place: Place) -> Extent:
        if place.passes:
            text = self._noted.get(place)
            return Extent(1.0, 5.0 + width(text, NOTE) if text else 1.0)
        half = self._labels[place.name].width / 2
        return Extent(half, half)

    def _middle(self, row: int) -> float:
        return (self._tops[row] + self._bottoms[row]) / 2

    def _heights(self) -> tuple[list[float], list[float]]:
        """The upper and the lower end of each row."""
        tops, bottoms, y = [], [], 0.0
        for row in self._rows:
            tops.append(y)
            y += max(0.0 if place.passes else self._labels[place.name].height for place in row)
            bottoms.append(y)
            aside = max((abs(self._x[place] - self._x[lower]) for place in row for lower in place.below), default=0.0)
            y += min(MOST_GAP, GAP + STEEP * aside)
        return tops, bottoms

    def path(self, maker: str, reader: str) -> str:
        """The curve of an edge as SVG has it: from box to box, upright beside other boxes."""
        route = self.routes[maker, reader]
        upper, lower = self.boxes[maker], self.boxes[reader]
        xs = [self._x[place] for place in route]
        xs[0] += self._begins[route[0]].get(route[1], 0.0)
        xs[-1] += self._ends[route[-1]].get(route[-2], 0.0)
        parts = [f"M{xs[0]:.1f} {upper.bottom:.1f}"]
        for (place, x), (other, after) in pairwise(zip(route, xs, strict=True)):
            if abs(x - after) > 0.05:
                begin, end = self._bottoms[place.row], self._tops[other.row] - (0 if other.passes else ARROW)
                middle = (begin + end) / 2
                parts.append(f"V{begin:.1f}C{x:.1f} {middle:.1f} {after:.1f} {middle:.1f} {after:.1f} {end:.1f}")
        return " ".join([*parts, f"V{lower.top:.1f}"])

    def _ports(self, place: Place, ends: Sequence[Place]) -> dict[Place, float]:
        """How far from the middle of its box edges end: those that come from a side stand on that side."""
        ports, room = dict[Place, float](), max(0.0, self._labels[place.name].width / 2 - 8)
        for side in (-1, 1):
            aside = {other: (self._x[other] - self._x[place]) * side for other in ends}
            far = sorted((other for other in ends if aside[other] > 0.5), key=aside.__getitem__)
            step = side * min(PORTS, room / max(1, len(far)))
            ports |= {other: step * number for number, other in enumerate(far, 1)}
        return ports if len(ends) > 1 else {}

    def _beside_lanes(self) -> Iterator[Note]:
        for place, text in self._noted.items():
            yield Note(self._x[place] + 5, self._middle(place.row), text)

    def _beside_edges(self) -> Iterator[Note]:
        """What operations hand on, where nothing else is beside the edge."""
        for row in self._rows:
            links = [(self._x[place], self._x[lower]) for place in row for lower in place.below]
            for place in row:
                if place.passes or not self._says(self._nodes[place.name]) or len(place.below) != 1:
                    continue
                x, text = self._x[place], f"{short(self._nodes[place.name].words)} words"
                begin, end = x + 4, x + 4 + width(text, NOTE)
                if abs(self._x[place.below[0]] - x) < 0.5 and not any(
                    min(link) < end and max(link) > begin for link in links
                ):
                    box = self.boxes[place.name]
                    lower = self._tops[place.row + 1]
                    yield Note(begin, (max(box.bottom, self._bottoms[place.row]) + lower) / 2, text)

    def _says(self, node: Node) -> bool:
        """Whether no box says the words of an edge: those of operations that move words, or hand on more or fewer."""
        sources = [self._nodes[name].words for name in node.reads if name in self._nodes]
        return node.kind is Kind.OPERATION or (node.kind is Kind.PASSING and node.words not in sources)
