"""What perfect factors leave open where bounds may have remainders: sizes rounded up, and bounds that fill an axis.

This is ours: CoSA has perfect factors only. Whatever comes of it is repaired and counted exactly.
"""

from itertools import product

import numpy as np

from ...mapping import Ints
from ...mapspace import Mapspace
from .factors import primes

SMOOTH = 7  # the largest prime of a size rounded up
ABOVE = 0.25  # how far it may be above the dim's own
MOST_SIZES = 6  # of a dim, with its own
MOST_RAISED = 512  # mappings made of one


def rounded_up(size: int) -> list[int]:
    """List a size and some with small primes alone above it, about evenly spread.

    >>> rounded_up(7), rounded_up(113)
    ([7, 8], [113, 120, 125, 126, 135, 140])
    """
    above = [n for n in _smooth(int(size * (1 + ABOVE))) if n > size]
    if size < 1 / ABOVE:
        above = []
    if len(above) >= MOST_SIZES:
        above = [above[i] for i in np.linspace(0, len(above) - 1, MOST_SIZES - 1).round().astype(int).tolist()]
    return [size, *above]


def _smooth(most: int) -> list[int]:
    """List the numbers up to `most` whose primes are small, ascending."""
    numbers = [1]
    for prime in primes(2 * 3 * 5 * SMOOTH):
        numbers += [n * prime**k for n in numbers for k in range(1, most.bit_length()) if n * prime**k <= most]
    return sorted(numbers)


def raised(space: Mapspace, bounds: Ints) -> Ints:
    """Make mappings of one # (slot, dim): at each axis with remainders, the bound of one dim may be raised until the
    axis is full. The first is the mapping itself. # (mapping, slot, dim)"""
    dims, axes = range(bounds.shape[1]), list[list[tuple[int, int, int]]]()
    for s, slot in enumerate(space.arch.slots):
        if slot.axis is None or not space.remainders[s]:
            continue
        spread = int(bounds[s].prod())
        wider = [(d, min(slot.axis.size // (spread // int(bounds[s, d])), space.rules.bounds(s, d)[1])) for d in dims]
        axes.append([(s, d, bound) for d, bound in wider if bound > bounds[s, d]])
    mappings = []
    for changes in product(*([None, *axis] for axis in axes)):
        own = bounds.copy()
        for s, d, bound in filter(None, changes):
            own[s, d] = bound
        mappings.append(own)
        if len(mappings) == MOST_RAISED:
            break
    return np.stack(mappings)
