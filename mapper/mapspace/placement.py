"""Mappings that are equal or alike though their memories place tensors in another order, or keep others."""

from dataclasses import replace

import numpy as np

from ..mapping import Bools, MappingBatch
from .mapspace import Mapspace


def sorted_placement(space: Mapspace, batch: MappingBatch) -> MappingBatch:
    """The same mappings, with tensors of a stack of levels in order where no loop stands between them.

    So each is in the mapspace (docs/decisions/080-uneven-placement.md).
    """
    keep = batch.keep
    for stack in space.arch.stacks:
        slots = [space.orders.temporal[level] for level in stack[:-1]]
        loops = [(batch.factors[:, slot] > 1).any(axis=1) for slot in slots]
        resident = [tensor.name in space.arch.levels[stack[-1]].resident for tensor in space.workload.tensors]
        for _ in slots:
            for level, between in zip(stack[:-1], loops, strict=True):
                keep = _exchanged(keep, level, ~between, np.array(resident))
    return batch if keep is batch.keep else replace(batch, keep=keep)


def inside_memories(space: Mapspace, batch: MappingBatch) -> Bools:
    """Whether no loop stands in an empty level of a stack, above all that the memory keeps. # (mapping,)

    Others are in no mapspace: such a loop belongs to the memory outside.
    """
    inside = np.ones(len(batch), bool)
    for stack in space.arch.stacks:
        for level in stack[:-1]:
            loops = (batch.factors[:, space.orders.temporal[level]] > 1).any(axis=1)
            inside &= batch.keep[:, level].any(axis=1) | ~loops
    return inside


def sample_alike(space: Mapspace, rng: np.random.Generator, n: int, choices: int = 1) -> MappingBatch:
    """`n` mappings drawn uniformly from those with few choices of what is kept, which are drawn, too.

    With stacks of levels it is one choice, as that says which of their loops there are.
    """
    batch = space.sample_lazily(rng, n, same_keep=True).arranged()
    if space.keep_choices.stacks:
        return batch
    return replace(batch, keep=space.keep_choices.sample(rng, choices)[np.arange(n) % choices])


def _exchanged(keep: Bools, level: int, where: Bools, resident: Bools) -> Bools:
    """Exchange the tensors of a level and the next where both have one, not in order, and `where` # (mapping,).

    What is `resident` # (tensor,) in the last level stays there.
    """
    above, below = keep[:, level] & ~resident, keep[:, level + 1] & ~resident
    both = above.any(axis=1) & below.any(axis=1)
    wrong = np.flatnonzero(where & both & (above.argmax(axis=1) > below.argmax(axis=1)))
    if not len(wrong):
        return keep
    changed = keep.copy()
    changed[wrong, level] ^= above[wrong] ^ below[wrong]
    changed[wrong, level + 1] ^= above[wrong] ^ below[wrong]
    return changed
