"""Whole numbers of any size: int64 while they stay below SAFE, Python integers (dtype object) from there on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

BigInts = NDArray[Any]
SAFE = 2.0**62


def fitting(array: BigInts, bound: float) -> BigInts:
    """`array` in int64 if no sum over it can pass `bound` < SAFE, else as Python integers."""
    return array if array.dtype == object or bound < SAFE else array.astype(object)


def compact(values: BigInts) -> BigInts:
    """Python integers as int64 if all are below SAFE."""
    return values.astype(np.int64) if float(values.max(initial=0)) < SAFE else values


def divide(array: BigInts, by: BigInts | int) -> tuple[BigInts, BigInts]:
    """Quotient and remainder; numpy's divmod knows no Python integers."""
    quotient = array // by
    return quotient, array - quotient * by


def below(rng: np.random.Generator, high: BigInts) -> BigInts:
    """A uniform integer in 0..high-1 for each `high`, of any size."""
    if high.dtype != object:
        return rng.integers(0, high)
    return np.array([_below(rng, int(limit)) for limit in high], dtype=object)


def different_below(rng: np.random.Generator, high: int, n: int) -> list[int]:
    """`n` different integers in 0..high-1, every set of n equally likely, in random order."""
    if high < SAFE:
        return [int(i) for i in rng.choice(high, n, replace=False)]
    numbers: dict[int, None] = {}
    while len(numbers) < n:
        numbers.update(dict.fromkeys(map(int, below(rng, np.full(n - len(numbers), high, dtype=object)))))
    return list(numbers)


def _below(rng: np.random.Generator, high: int) -> int:
    size = high.bit_length()
    while True:
        drawn = int.from_bytes(rng.bytes(size // 8 + 1), "little") & ((1 << size) - 1)
        if drawn < high:
            return drawn
