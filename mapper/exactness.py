"""What floats do not hold, as exact numbers."""

from fractions import Fraction
from functools import cache
from typing import Any

MOST_CYCLES = 10_000  # of a bandwidth written as a fraction

Rate = tuple[Any, int]  # words in so many cycles


@cache
def rate(bandwidth: float) -> Rate:
    """A bandwidth as words in so many cycles, as it was written: 0.7 is 7 in 10, and the float a little less."""
    near = Fraction(bandwidth).limit_denominator(MOST_CYCLES)
    return near.as_integer_ratio() if float(near) == bandwidth else (bandwidth, 1)
