"""Slopes at which plans are searched, and the edge of those that are known."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from ..mapping import pareto_rows
from ..problem import Point
from .known_fronts import Mixed
from .prices import Slope

MOST_SLOPES = 4  # at which plans, or pipelines, are searched
NEAR = 1.03  # slopes within this factor are the same


def near(slope: Slope, known: Sequence[Slope]) -> bool:
    """Whether a slope is about one of those that are known."""
    if not slope:
        return slope in known
    return any(own / NEAR <= slope <= own * NEAR for own in known if own)


def hull(front: Sequence[Mixed]) -> list[Point]:
    """The corners of the lower left edge of known plans, from the fewest cycles on."""
    hull = list[Point]()
    for point in ((own.cycles, own.energy_pj) for own in front):
        while len(hull) > 1 and _above(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    return hull


def front_of(points: Sequence[Point]) -> tuple[Point, ...]:
    """The points that no other beats, from the fewest cycles on."""
    return tuple(points[row] for row in pareto_rows(*np.array(points).T)) if points else ()


def _above(one: Point, middle: Point, other: Point) -> bool:
    """Whether the middle point is on or above the line between the others."""
    return (middle[1] - one[1]) * (other[0] - one[0]) >= (other[1] - one[1]) * (middle[0] - one[0])


def between(factors: Sequence[float]) -> Iterator[float]:
    """Yield a factor between each two."""
    for low, high in pairwise(factors):
        yield (low * high) ** 0.5
