"""Blocks of so many neighbouring indices that intervals of indices touch. With a block of 1 they are the indices."""

import numpy as np

from ...mapping import Ints


def touches(first: Ints, last: Ints, block: int) -> Ints:
    """How many blocks the intervals first..last touch."""
    return last // block - first // block + 1


def hidden(first: Ints, last: Ints, left: Ints, right: Ints, block: int) -> Ints:
    """How many of these blocks have nothing of the interval outside its part left..right; 0 where that is empty."""
    lowest = np.where(left == first, first // block, -(-left // block))
    highest = np.where(right == last, last // block, (right + 1) // block - 1)
    return np.where(left > right, 0, np.maximum(highest - lowest + 1, 0))
