"""The tiles of a shared dim that are tried."""

from math import isqrt

import numpy as np

from ..mapping import Ints

MOST_LOOP_STEPS = 2**16  # of a shared loop
ALL_TILES = 256  # sizes of a dim up to which every tile is tried
FEW_TILES, STEP = 64, 16  # of a larger dim: all up to so many, multiples, what divides it,
EVEN = 32  # and the least of so many steps and of fewer
MULTIPLES = 1024
LEAST = 4  # tiles that are tried in any case


def tiles_of(size: int, most: int, multiple: int = 1) -> Ints:
    """List the tiles of a shared dim that are tried, ascending, about `most` at most; the last is all of it.

    All but the last are multiples of `multiple`.
    """
    step = STEP if multiple == 1 else multiple
    multiples = range(step, min(size, MULTIPLES * step) + 1, step)
    even = (-(-size // steps) for steps in range(1, min(EVEN, size) + 1))
    tiles = {*range(1, min(FEW_TILES, size) + 1), *multiples, *even} | set(_divisors(size))
    every: Ints = np.arange(1, size + 1) if size <= ALL_TILES else np.array(sorted(tiles), np.int64)
    every = every[(every >= -(-size // MOST_LOOP_STEPS)) & ((every % multiple == 0) | (every == size))]
    if len(every) <= most:
        return every
    divisors = _spaced(every[size % every == 0], most)
    chosen = {*_spaced(every, most - len(divisors)).tolist(), *divisors.tolist(), size}
    if len(chosen) < min(most, LEAST):  # what divides it may be 1 and the whole alone, which others would repeat
        chosen |= set(_spaced(every, min(most, LEAST)).tolist())
    return np.array(sorted(chosen), np.int64)


def _divisors(size: int) -> list[int]:
    low = [tile for tile in range(1, isqrt(size) + 1) if size % tile == 0]
    return sorted({*low, *(size // tile for tile in low)})


def _spaced(tiles: Ints, most: int) -> Ints:
    """Keep about `most` of ascending tiles, evenly spaced by their ratios."""
    if len(tiles) <= most:
        return tiles
    wanted = np.geomspace(tiles[0], tiles[-1], max(most, 1))
    return tiles[np.abs(np.log(tiles[:, None] / wanted)).argmin(axis=0)]
