"""Where the places of rows stand: straight lines where they can be, and nothing on top of anything."""

from bisect import bisect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf

from .rows import Place, Rows

TURNS, STILL = 10, 0.1  # at most so many, while columns move by more points
APART, LANES = 22.0, 12.0  # points between nodes, and beside lanes
DEEPEST = 200  # lanes that make way for one node


@dataclass(frozen=True)
class Extent:
    """How far a place reaches to its left and right."""

    left: float
    right: float


@dataclass(eq=False)
class Column:
    """Places in rows one below the other that have one x."""

    places: list[Place] = field(default_factory=list)
    x: float = 0.0

    @property
    def skips(self) -> bool:
        """Whether it is a lane beside others, which makes way for them."""
        return self.places[0].skips


class Columns:
    """The columns of rows, side by side; `x` has that of each place."""

    def __init__(self, rows: Rows, extent: Callable[[Place], Extent]) -> None:
        self.rows = rows
        self.extents = {place: extent(place) for row in rows for place in row}
        self.columns = list[Column]()
        self.of = dict[Place, Column]()
        for place, upper in _straight(rows).items():
            column = self.of[upper] if upper else Column()
            self.columns += [] if upper else [column]
            column.places.append(place)
            self.of[place] = column
        self._centre()
        moved = [1.0, 1.0]
        while len(moved) < TURNS and max(moved[-2:]) > STILL:
            order = self.columns if len(moved) % 2 else self.columns[::-1]
            moved.append(max(map(self._draw, order)))

    @property
    def x(self) -> Mapping[Place, float]:
        """The middle of each place; the leftmost reaches to 0."""
        first = min(column.x - self.extents[place].left for column in self.columns for place in column.places)
        return {place: column.x - first for place, column in self.of.items()}

    def _apart(self, left: Place, right: Place) -> float:
        """How far the middles of neighbours are apart at least."""
        room = LANES if left.passes or right.passes else APART
        return self.extents[left].right + room + self.extents[right].left

    def _centre(self) -> None:
        """Put each column in the middle of the furthest that it may be to the left and to the right."""
        order = self._from_the_left()
        for column in order:
            column.x = max(self._leftmost(place) for place in column.places)
        widest = max(column.x + self.extents[place].right for column in order for place in column.places)
        furthest = dict[Column, float]()
        for column in reversed(order):
            limits = [widest - self.extents[place].right for place in column.places]
            rights = [(place, right) for place in column.places if (right := self._beside(place, 1))]
            limits += [furthest[self.of[right]] - self._apart(place, right) for place, right in rights]
            furthest[column] = min(limits)
        for column in order:
            column.x = (column.x + furthest[column]) / 2

    def _leftmost(self, place: Place) -> float:
        """How far to the left a place may be beside the columns to its left."""
        left = self._beside(place, -1)
        return self.of[left].x + self._apart(left, place) if left else self.extents[place].left

    def _from_the_left(self) -> list[Column]:
        """The columns, each after those to its left."""
        waits = {column: sum(place.at > 0 for place in column.places) for column in self.columns}
        ready = [column for column in self.columns if not waits[column]]
        order = list[Column]()
        while ready:
            column = ready.pop()
            order.append(column)
            for place in column.places:
                if right := self._beside(place, 1):
                    waits[self.of[right]] -= 1
                    ready += [self.of[right]] if not waits[self.of[right]] else []
        return order

    def _beside(self, place: Place, side: int) -> Place | None:
        """The neighbour to the left (-1) or to the right (1)."""
        row, at = self.rows[place.row], place.at + side
        return row[at] if 0 <= at < len(row) else None

    def _draw(self, column: Column) -> float:
        """Move a column to the middle of what draws it, as far as it may go; lanes make way. Returns how far."""
        drawn = [
            self.of[other].x
            for place in column.places
            for beside in (place.above, place.below)
            for other in place.drawn_by(beside)
            if self.of[other] is not column
        ]
        if not drawn:
            return 0.0
        before = column.x
        wish = sum(drawn) / len(drawn)
        side = 1 if wish > column.x else -1
        free = self._free(column, side, {}, 0 if column.skips else DEEPEST)
        self._move(column, min(wish, free) if side > 0 else max(wish, free), side)
        return abs(column.x - before)

    def _free(self, column: Column, side: int, known: dict[Column, float], pushes: int) -> float:
        """How far a column may go to a side if it pushes at most so many lanes."""
        if column not in known:
            known[column] = side * inf
            for place in column.places:
                if neighbour := self._beside(place, side):
                    other = self.of[neighbour]
                    edge = self._free(other, side, known, pushes - 1) if other.skips and pushes else other.x
                    limit = edge - side * self._between(place, neighbour)
                    known[column] = min(known[column], limit) if side > 0 else max(known[column], limit)
        return known[column]

    def _between(self, place: Place, neighbour: Place) -> float:
        return self._apart(place, neighbour) if neighbour.at > place.at else self._apart(neighbour, place)

    def _move(self, column: Column, x: float, side: int) -> None:
        """Put a column there, and push the lanes that are in its way."""
        column.x = x
        for place in column.places:
            if (neighbour := self._beside(place, side)) and self.of[neighbour].skips:
                least = x + side * self._between(place, neighbour)
                if (least - self.of[neighbour].x) * side > 1e-9:
                    self._move(self.of[neighbour], least, side)


def _straight(rows: Rows) -> dict[Place, Place | None]:
    """By place the place above it in the same column, if any: an edge without others at its ends, or a lane."""
    above: dict[Place, Place | None] = {place: None for row in rows for place in row}
    for row in rows:
        wishes = [(place, lower) for place in row for lower in place.below if _joined(place, lower)]
        taken = list[tuple[int, int]]()
        for upper, lower in sorted(wishes, key=lambda pair: pair[1].skips):
            number = bisect(taken, (upper.at, lower.at))
            crossed = [pair for pair in taken[number - 1 : number] if pair[1] >= lower.at or pair[0] == upper.at]
            crossed += [pair for pair in taken[number : number + 1] if pair[1] <= lower.at or pair[0] == upper.at]
            if not crossed:
                taken.insert(number, (upper.at, lower.at))
                above[lower] = upper
    return above


def _joined(upper: Place, lower: Place) -> bool:
    """Whether two places are to have one x: what one makes is for the other alone, or both are of one lane."""
    if upper.passes and lower.passes:
        return True
    if upper.skips or lower.skips:
        return False
    return len(upper.drawn_by(upper.below)) == 1 == len(lower.drawn_by(lower.above))
