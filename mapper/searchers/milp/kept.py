"""The choices of kept tensors that have a programme each: all, or the fullest where there are many."""

from math import prod

import numpy as np

from ....workloads import Tensor
from ...mapping import Bools
from ...mapspace import Mapspace


def kept_choices(space: Mapspace, most: int) -> Bools:
    """List all choices of what is kept, or with more than `most` only the one that keeps all that fits at its smallest.
    # (choice, level, tensor)"""
    return space.every_keep() if space.keep_choices.number <= most else fullest(space)[None]


def fullest(space: Mapspace) -> Bools:
    """Keep all that may be kept, but for what does not fit with the smallest tiles. # (level, tensor)

    The last tensors of the workload go first.
    """
    choices = space.keep_choices
    keep: Bools = choices.unrank(np.zeros(1, np.int64))[0].copy()
    for stack in choices.stacks:
        options = sorted(stack.options, key=lambda option: -int(option.sum()))
        fitting = [option for option in options if _fits(space, stack.levels, option)]
        keep[stack.levels.start : stack.levels.stop] = (fitting or options[-1:])[0]
    for level, v in choices.free.tolist():
        keep[level, v] = True
        if not _fits(space, range(level, level + 1), keep[level : level + 1]):
            keep[level, v] = False
    return keep


def _fits(space: Mapspace, levels: range, keep: Bools) -> bool:
    """Whether the smallest tiles that some levels of a memory keep # (level, tensor) fit in it."""
    storage = space.arch.levels[levels[0]]
    if storage.capacity_bits is None:
        return True
    used = sum(
        storage.bits(tensor.name, tensor.word_bits) * _least_words(space, level, tensor)
        for level, row in zip(levels, keep, strict=True)
        for tensor, kept in zip(space.workload.tensors, row, strict=True)
        if kept
    )
    return used <= storage.capacity_bits // storage.multiple_buffering


def _least_words(space: Mapspace, level: int, tensor: Tensor) -> int:
    """Count the words of the smallest tile that the limits of bounds allow."""
    inside = [s for s, slot in enumerate(space.arch.slots) if slot.level >= level]

    def extent(dim: str) -> int:
        d = space.workload.dims.index(dim)
        return min(prod(space.rules.bounds(s, d)[0] for s in inside), space.workload.sizes[d])

    return prod(1 + sum(term.coef * (extent(term.dim) - 1) for term in rank) for rank in tensor.ranks)
