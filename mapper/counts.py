"""Exact access counts of a batch of mappings (design: the reference machine)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .mapping import Bools, MappingBatch

Floats = NDArray[np.float64]


@dataclass(eq=False)
class Counts:
    """What executing the nests would count. Words are totals over all instances of a level."""

    cycles: Floats  # (mapping,) temporal steps with any active MAC
    tile_words: Floats  # (mapping, level, tensor) largest tile of one instance; 0 where bypassed
    reads: Floats  # (mapping, level, tensor)
    fills: Floats  # (mapping, level, tensor)
    updates: Floats  # (mapping, level, tensor)
    instances: Floats  # (mapping, level) instances ever active; the last column counts MAC units
    exact: Bools  # (mapping,) False: reads may exceed the executor's, never fall short (docs/model.md)


def count(batch: MappingBatch) -> Counts:
    """Count the accesses of every mapping of `batch`."""
    raise NotImplementedError
