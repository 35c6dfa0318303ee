"""What a dim may be divided by, and what that leaves; how large tables of it may be."""

from math import isqrt

import numpy as np

from ..mapping import Ints

MOST_EDGES = 2**22  # of a dim, and candidates for the bounds of a slot: half a gigabyte


class TooLargeError(Exception):
    """The answer is exact, but its tables would not fit in memory; the message says how large."""


def divisors(n: int, most: int | None = None) -> Ints:
    """The divisors of `n`, ascending; those up to `most` where that is given. Raises TooLargeError.

    >>> divisors(12).tolist(), divisors(12, 3).tolist()
    ([1, 2, 3, 4, 6, 12], [1, 2, 3])
    """
    most = n if most is None else most
    looked_at = min(isqrt(n), most)
    within("divisors to look for", looked_at, MOST_EDGES)
    low = np.arange(1, looked_at + 1)
    low = low[n % low == 0]
    every_divisor = different(np.concatenate([low, n // low]))
    return every_divisor[every_divisor <= most]


def ceil_values(n: int) -> Ints:
    """The distinct values of ceil(n/P) for P = 1..n, ascending.

    >>> ceil_values(10).tolist()
    [1, 2, 3, 4, 5, 10]
    """
    low = np.arange(1, isqrt(n) + 2)
    return different(np.concatenate([-(-n // low), -(-n // -(-n // low))]))


def different(values: Ints) -> Ints:
    """The different values, ascending. For millions ten times as fast as np.unique, which hashes them."""
    values = np.sort(values, kind="stable")
    return values[np.diff(values, prepend=values[:1] - 1) > 0]


def within(what: str, number: int, most: int) -> None:
    """Raise TooLargeError where a table would have more than `most` of what it has."""
    if number > most:
        raise TooLargeError(f"its chains of bounds need tables of more than {most:,} {what}")
