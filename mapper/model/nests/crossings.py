"""Words that cross the arrays below the levels, on their way from where a tensor is kept to where it is kept next.

The array below a level that keeps the tensor is crossed by the words that this level hands out, or of an output takes.
The array below a level that they only pass is crossed by the words that this level would hand out to the next keeper
inside: identical sets for children of one of its instances cross once (docs/model.md, Network).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...mapping import Bools, Ints, Mappings, Numbers, keeper_pairs
from .data_movement import DataMovement
from .nest_analysis import NestAnalysis


@dataclass(frozen=True, eq=False)
class Crossings:
    """Words that cross the array below each level; 0 where there is none, or one of a single place."""

    words: Numbers  # (mapping, level, tensor)
    exact: Bools  # (mapping,) False: words may exceed the executor's, never fall short; of a lower bound the reverse


@dataclass(frozen=True, eq=False)
class Passing:
    """Words of a tensor on their way to `child`, past the array below a level that does not keep it."""

    v: int  # the tensor, by its number
    level: int
    child: int
    where: Ints  # (mapping of those,)


def passings(batch: Mappings) -> Iterator[Passing]:
    """Yield every array that words of a tensor pass below a level that does not keep it."""
    for v in range(len(batch.workload.tensors)):
        for parent, child, where in keeper_pairs(batch.keep[:, :, v]):
            for level in range(parent + 1, child):
                if batch.arch.levels[level].instances_below > 1:
                    yield Passing(v, level, child, where)


def crossings(
    batch: Mappings,
    reads: Numbers,
    updates: Numbers,
    nest: NestAnalysis | None = None,
    *,
    exact: Bools,
    least: bool = False,
) -> Crossings:
    """Count in closed form, from what levels read and are updated with, which is the executor's where `exact`.

    Of an output all updates cross, also first ones: each is a word that comes out. `nest` is the analysis of `batch`,
    where the caller has it. What is not exact is an upper bound, with `least` a lower one.
    """
    nest, exact = nest or NestAnalysis(batch), exact.copy()
    arrays = np.array([level.instances_below > 1 for level in batch.arch.levels])
    outputs = np.array([tensor.output for tensor in batch.workload.tensors])
    words = np.where(outputs, updates, reads) * arrays[:, None]  # below levels that keep a tensor
    for passing in passings(batch):
        where = passing.where
        part = nest if len(where) == len(batch) else NestAnalysis(batch.take(where))
        flow = DataMovement(part, batch.workload.tensors[passing.v], passing.child, parent=passing.level)
        words[where, passing.level, passing.v] = flow.least_words() if least else flow.words()
        exact[where] &= flow.exact()
    return Crossings(words, exact)
