"""Rows of a graph: each node in one, and in the rows between the places where the tensor of a maker passes."""

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from .nodes import Node

SWEEPS = 4


@dataclass(eq=False)
class Place:
    """A node in its row, or where what a maker hands on passes a row."""

    name: str  # of the node, or of the maker
    row: int
    passes: bool = False
    skips: bool = False  # passes nodes through which its readers get words of the same maker, too
    above: list["Place"] = field(default_factory=list)
    below: list["Place"] = field(default_factory=list)
    at: int = 0  # its place in the row

    def drawn_by(self, places: Sequence["Place"]) -> Sequence["Place"]:
        """Those of the places above or below that draw this one to them: skips draw no others."""
        return places if self.skips else [place for place in places if not place.skips] or places


Rows = list[list[Place]]
Route = tuple[Place, ...]  # from a maker to a reader


def row_numbers(nodes: Sequence[Node]) -> dict[str, int]:
    """The row of each node: below all that it reads. What reads nothing stands right above its first reader."""
    numbers, first = dict[str, int](), dict[str, int]()
    for node in nodes:
        sources = [name for name in node.reads if name in numbers]
        numbers[node.name] = max((numbers[name] + 1 for name in sources), default=0)
        for name in sources:
            first[name] = min(first.get(name, numbers[node.name]), numbers[node.name])
    beginnings = [node.name for node in nodes if not any(name in numbers for name in node.reads)]
    return numbers | {name: first[name] - 1 for name in beginnings if name in first}


def placed(nodes: Sequence[Node]) -> tuple[Rows, dict[tuple[str, str], Route]]:
    """Put nodes into rows, in orders with few crossings; and name the places through which each edge goes."""
    numbers = row_numbers(nodes)
    rows: Rows = [[] for _ in range(max(numbers.values()) + 1)]
    own = {node.name: Place(node.name, numbers[node.name]) for node in nodes}
    for place in own.values():
        rows[place.row].append(place)
    readers: dict[str, list[str]] = {node.name: [] for node in nodes}
    for node in nodes:
        for name in node.reads:
            if name in readers:
                readers[name].append(node.name)
    skips = _skips(nodes, readers)
    routes = dict[tuple[str, str], Route]()
    for name in readers:
        places = [own[reader] for reader in readers[name]]
        lane = _lane(own[name], places, all((name, far.name) in skips for far in places if far.row > own[name].row + 1))
        for place in lane:
            rows[place.row].append(place)
        _link([own[name], *lane])
        for place in places:
            way = [own[name], *lane[: place.row - own[name].row - 1]]
            _link([way[-1], place])
            routes[name, place.name] = (*way, place)
    _order(rows)
    return rows, routes


def _skips(nodes: Sequence[Node], readers: Mapping[str, Sequence[str]]) -> set[tuple[str, str]]:
    """The edges beside which another way leads from the maker to the reader."""
    bits = {node.name: 1 << number for number, node in enumerate(nodes)}
    reached = dict[str, int]()  # by name the nodes that get words of it, itself among them
    for node in reversed(nodes):
        reached[node.name] = bits[node.name]
        for name in readers[node.name]:
            reached[node.name] |= reached[name]
    return {
        (maker, reader)
        for maker, names in readers.items()
        for reader in names
        if any(reached[other] & bits[reader] for other in names if other != reader)
    }


def _lane(maker: Place, readers: Sequence[Place], skips: bool) -> list[Place]:
    """The places where the tensor of a maker passes rows on the way to all of its readers."""
    last = max((reader.row for reader in readers), default=maker.row)
    return [Place(maker.name, row, passes=True, skips=skips) for row in range(maker.row + 1, last)]


def _link(way: Sequence[Place]) -> None:
    for upper, lower in pairwise(way):
        upper.below.append(lower)
        lower.above.append(upper)


def _order(rows: Rows) -> None:
    """Order each row by the mean place of what a place is linked to, in turns down and up; keep the best turn."""
    _number(rows)
    best, least = [list(row) for row in rows], -1
    for _ in range(SWEEPS):
        for down in (True, False):
            for row in rows if down else reversed(rows):
                row.sort(key=lambda place, down=down: _mean(place, place.above if down else place.below))  # type: ignore[misc]
                _number([row])
            crossings = sum(_crossings(row) for row in rows)
            if least < 0 or crossings < least:
                best, least = [list(row) for row in rows], crossings
        if not least:
            break
    rows[:] = best
    _number(rows)


def _number(rows: Rows) -> None:
    for row in rows:
        for number, place in enumerate(row):
            place.at = number


def _mean(place: Place, places: Sequence[Place]) -> tuple[float, bool]:
    """Where a place is drawn to; skips stand to the right of what else is drawn to there."""
    drawn = place.drawn_by(places)
    return (sum(other.at for other in drawn) / len(drawn) if drawn else place.at), place.skips


def _crossings(row: Sequence[Place]) -> int:
    """How many pairs of links below a row cross."""
    lower, number = list[int](), 0
    for place in row:
        own = sorted(other.at for other in place.below)
        number += sum(len(lower) - bisect_right(lower, at) for at in own)
        for at in own:
            insort(lower, at)
    return number
