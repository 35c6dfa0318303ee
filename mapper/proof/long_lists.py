"""Lists of chains too long to hold: their combinations are made from their numbers, some at a time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from ...arch import Architecture
from ...workloads import Workload
from ..bounds import DimGroup
from ..mapping import Ints, MappingBatch
from ..mapspace import ChainSpace, chain_number, numbered_chains
from ..runtime import Deadline, no_deadline

BLOCK = 2**15  # combinations made at a time


@dataclass(frozen=True, eq=False)
class LongList:
    """All combinations of the chains of `dims`, by their numbers in a DimGroup that would hold them."""

    arch: Architecture
    workload: Workload
    spaces: Mapping[int, ChainSpace]  # of each of `dims`
    dims: tuple[int, ...]
    deadline: Deadline = no_deadline

    def __len__(self) -> int:
        return prod(self._shape)

    @property
    def _shape(self) -> list[int]:
        return [self.spaces[d].total for d in self.dims]

    @property
    def blocks(self) -> Iterator[DimGroup]:
        """All its combinations in turn, each block made when it is asked for."""
        for start in range(0, len(self), BLOCK):
            yield self.take(np.arange(start, min(start + BLOCK, len(self))))

    def take(self, combinations: Ints) -> DimGroup:
        """The group of some combinations, with tables of their chains alone."""
        tables, rows = {}, {}
        for d, numbers in zip(self.dims, np.unravel_index(combinations, self._shape), strict=True):
            chains, rows[d] = np.unique(numbers, return_inverse=True)
            tables[d] = numbered_chains(self.spaces[d], chains)
        return DimGroup(self.arch, self.workload, tables, self.dims, self.deadline, rows)

    def number_of(self, batch: MappingBatch) -> int:
        """The number of the combination of the single mapping of `batch`; ValueError if it is none of these."""
        numbers = [[chain_number(self.spaces[d], batch.factors[0, :, d])] for d in self.dims]
        return int(np.ravel_multi_index(numbers, self._shape)[0])

    def forget(self) -> None:
        """Drop nothing: it holds nothing."""
