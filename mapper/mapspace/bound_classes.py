"""Classes of bounds: what the dims share of large axes is counted class by class where it is too much bound by bound.

The bounds of an axis, 1 to its number of places, are cut into intervals. A combination of classes is counted if its
smallest bounds are together within the axis. So all mappings are counted, and combinations that are beyond an axis too:
these are left out when they are drawn.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from ..mapping import Ints

# how wide classes are: each bound alone; 1, 2, 3, 4, 6, 8, 12...; or the largest over the smallest bound of a class
Step = Literal["alone", "halves"] | int
STEPS: Sequence[Step] = ("alone", "halves", 2, 4, 16, 256, 2**62)  # in turn, until tables are small enough


class Width(NamedTuple):
    """How wide the classes are at axes that must be used to some part (min_utilization), and at all others.

    Of a combination of classes at the first kind few bounds may be within both limits, so draws would be in vain.
    """

    used: Step
    other: Step


ALONE = Width("alone", "alone")
WIDTHS: Sequence[Width] = tuple(  # in turn
    Width(used, other) for i, used in enumerate(STEPS) for other in STEPS[i:]
)


def class_starts(most: int, step: Step) -> tuple[int, ...]:
    """The smallest bound of each class of 1..most, ascending; none where each bound is a class of its own.

    >>> class_starts(20, 4), class_starts(20, "halves")
    ((1, 4, 16), (1, 2, 3, 4, 6, 8, 12, 16))
    """
    if step == "alone":
        return ()
    factor = 2 if step == "halves" else step
    powers = [1]
    while powers[-1] * factor <= most:
        powers.append(powers[-1] * factor)
    halves = [3 * power // 2 for power in powers[1:] if step == "halves" and 3 * power // 2 <= most]
    starts = tuple(sorted(powers + halves))
    return starts if len(starts) < most else ()


def class_of(bounds: Ints, starts: Sequence[int]) -> Ints:
    """The smallest bound in the class of each of `bounds`."""
    if not starts:
        return bounds
    first_bounds = np.array(starts)
    smallest: Ints = first_bounds[np.searchsorted(first_bounds, bounds, side="right") - 1]
    return smallest


def largest_of(smallest: Ints, starts: Sequence[int], most: int) -> Ints:
    """The largest bound in each class, given the smallest; at most `most`."""
    if not starts:
        return smallest
    ends = np.array([*(start - 1 for start in starts[1:]), max(most, starts[-1])])
    largest: Ints = ends[np.searchsorted(np.array(starts), smallest, side="right") - 1]
    return np.minimum(largest, np.maximum(smallest, most))
