"""The words of a tensor in boxes of a stage: where they begin and end along each rank, and how many are different."""

from collections.abc import Sequence
from math import prod

import numpy as np

from .....workloads import Rank
from ....mapping import Ints, unique_rows
from .traces import Box, reach
from .walks import Walks


def ends_of(ranks: Sequence[Rank], box: Box) -> tuple[int, ...]:
    """Both ends along each rank."""
    return tuple(end for rank in ranks for end in reach(rank, box))


def joined(plain: tuple[int, ...], chosen: Sequence[tuple[int, ...]]) -> list[int]:
    """The ends where each loop has changed those that it moves."""
    ends = list(plain)
    for own in chosen:
        ends = [new if new != old else now for now, new, old in zip(ends, own, plain, strict=True)]
    return ends


def fewest_words(walks: Walks, stage: int, name: str) -> int:
    """Count the words of a tensor that a stage reads or makes whatever the tiles, and whatever stays."""
    return prod(len(walks.along(stage, rank)) for rank in walks.stages.tensor(stage, name).ranks)


def distinct_words(low: Ints, high: Ints) -> int:
    """Count the different words of boxes whose ends are products of steps: the product of those along each rank."""
    number = 1
    for rank in range(low.shape[1]):
        pairs, _ = unique_rows(np.stack([low[:, rank], high[:, rank]], axis=1))
        reached, words = None, 0
        for a, b in pairs.tolist():
            words += b - a if reached is None or a >= reached else max(b - reached, 0)
            reached = b if reached is None else max(reached, b)
        number *= words
    return number
