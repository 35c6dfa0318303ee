"""Boxes of words: their sizes, differences and steps, as Timeloop has them."""

from math import copysign, floor, prod

from .nest import Box


def words(box: Box) -> int:
    """The words of a box."""
    return prod(high - low for low, high in box)


def difference(box: Box, taken: Box) -> list[Box]:
    """What of a box is not in `taken`, as boxes that do not overlap."""
    if any(a >= d or c >= b for (a, b), (c, d) in zip(box, taken, strict=True)):
        return [box]
    parts, rest = [], list(box)
    for rank, (low, high) in enumerate(taken):
        first, last = rest[rank]
        for part in ((first, low), (high, last)):
            if part[0] < part[1]:
                parts.append((*rest[:rank], part, *rest[rank + 1 :]))
        rest[rank] = (max(first, low), min(last, high))
    return parts


def step(before: Box, box: Box) -> tuple[int, ...]:
    """How far the middle of a box has moved along each rank, rounded half away from zero."""
    return tuple(rounded((a + b - c - d) / 2) for (a, b), (c, d) in zip(box, before, strict=True))


def rounded(value: float) -> int:
    """The nearest whole number, halves away from zero, as in C."""
    return int(copysign(floor(abs(value) + 0.5), value))
