"""Lists the chains of a mapspace by groups of dims, for proofs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

import numpy as np

from ..bounds import DimGroup, RankTiles, Terms, grouped
from ..mapping import Bools, ChainTable, Ints, MappingBatch
from ..mapspace import Mapspace, every_chain
from ..runtime import Deadline, no_deadline
from ..search.outcome import MOST_CHAINS
from .long_lists import LongList


@dataclass(eq=False)
class ChainGroups:
    """The combinations of chains of a mapspace: a row number per group of dims."""

    space: Mapspace
    groups: list[DimGroup | LongList] = field(default_factory=list)

    @property
    def number(self) -> int:
        """The number of combinations, by the counts of the mapspace and not of the lists."""
        return prod(self._together)

    @property
    def most(self) -> int:
        """The number of rows of the largest group."""
        return max(self._together)

    @property
    def rows_of_all(self) -> int:
        """The number of rows of all groups."""
        return sum(self._together)

    @property
    def _together(self) -> list[int]:
        return [prod(self.space.chains[d].total for d in dims) for dims in self._dims]

    @property
    def _dims(self) -> list[tuple[int, ...]]:
        return grouped(self.space.workload) or [(0,)]

    def list_all(self, deadline: Deadline = no_deadline) -> None:
        """List the chains, and the combinations within each group, unless they are too many to hold.

        Work on them will call `deadline`.
        """
        space, known = self.space, dict[object, RankTiles]()
        for dims, number in zip(self._dims, self._together, strict=True):
            spaces = {d: space.chains[d] for d in dims}
            if number > MOST_CHAINS:
                self.groups.append(LongList(space.arch, space.workload, spaces, dims, deadline))
            else:
                tables = {d: every_chain(chains) for d, chains in spaces.items()}
                self.groups.append(DimGroup(space.arch, space.workload, tables, dims, deadline, known_tiles=known))

    @cached_property
    def terms(self) -> Terms | None:
        """What the bounds of all choices of kept tensors are made of; None where some chains are not listed."""
        listed = [group for group in self.groups if isinstance(group, DimGroup)]
        return Terms(listed) if len(listed) == len(self.groups) else None

    def forget(self) -> None:
        """Drop what further choices of kept tensors would have used again."""
        vars(self).pop("terms", None)
        for group in self.groups:
            group.forget()

    @cached_property
    def names(self) -> list[Ints]:
        """The numbers of each group's rows in certificates: by the lexicographic order of chains. # (row,) each"""
        return [self._names(dims) for dims in self._dims]

    def _names(self, dims: Sequence[int]) -> Ints:
        places = []
        for d in dims:
            bounds = every_chain(self.space.chains[d]).bounds
            places.append(np.empty(len(bounds), np.int64))
            places[-1][np.lexsort(bounds.T[::-1])] = np.arange(len(bounds))
        shape = [len(dim_places) for dim_places in places]
        grid = np.unravel_index(np.arange(prod(shape)), shape)
        return np.ravel_multi_index([dim_places[rows] for dim_places, rows in zip(places, grid, strict=True)], shape)


def number_in(group: DimGroup | LongList, batch: MappingBatch) -> int:
    """The row of a group of all chains that has the chains of the single mapping of `batch`."""
    if isinstance(group, LongList):
        return group.number_of(batch)
    rows = rows_of([group], batch)
    assert rows is not None, "all chains are there"
    return int(rows[0])


def rows_of(groups: Sequence[DimGroup], batch: MappingBatch) -> Ints | None:
    """Find the row of each group that has the chains of the single mapping of `batch`. # (group,)

    Returns None where a group does not have them.
    """
    chains = batch.factors[0]
    numbers = []
    for group in groups:
        matches = np.ones(len(group), bool)
        for d, rows in group.rows.items():
            matches &= (group.tables[d].bounds == chains[:, d]).all(axis=1)[rows]
        if not matches.any():
            return None
        numbers.append(int(matches.argmax()))
    return np.array(numbers)


def mappings_of(space: Mapspace, groups: Sequence[DimGroup], rows: Ints, keep: Bools) -> MappingBatch:
    """Make mappings, with any loop orders, of combinations of chains: `rows` # (combination, group)."""
    dims, n = len(space.workload.dims), len(rows)
    tables = [ChainTable(1, np.ones((1, len(space.arch.slots)), np.int64)) for _ in range(dims)]
    chains = np.zeros((n, dims), np.int64)
    for g, group in enumerate(groups):
        for d, of_group in group.rows.items():
            tables[d], chains[:, d] = group.tables[d], of_group[rows[:, g]]
    order = np.zeros((n, len(space.arch.levels), dims), np.int8)
    return MappingBatch(space.arch, space.workload, tuple(tables), chains, order, np.repeat(keep[None], n, axis=0))
