"""Tables of chains of bounds: those that all batches of a mapspace share, and those that a batch makes for itself."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, override

import numpy as np

from ..mapping import ChainTable, Ints
from .chains import ChainSpace
from .integers import BigInts

LISTED = 2**17  # chains of one dim in one shared table; beyond that each batch has a table of its own


class ChainTables:
    """The tables of all dims: a dim with LISTED chains at most has one for all batches."""

    def __init__(self, spaces: Sequence[ChainSpace]) -> None:
        self.spaces = tuple(spaces)

    @override
    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs: it makes tables that it needs sooner than it would read them."""
        return {"spaces": self.spaces}

    @cached_property
    def _listed(self) -> list[tuple[ChainTable, Ints] | None]:
        """Per dim, all its chains and the first row of each group; None where there are too many."""
        return [None if space.total > LISTED else (every_chain(space), _first(space)) for space in self.spaces]

    @property
    def shared(self) -> bool:
        """Whether all batches share all their tables."""
        return None not in self._listed

    def has(self, d: int) -> bool:
        """Whether all batches share the table of dim d."""
        return self._listed[d] is not None

    def table(self, d: int) -> ChainTable:
        """All chains of dim d, which have to be LISTED at most."""
        listed = self._listed[d]
        assert listed is not None
        return listed[0]

    def rows(self, groups: Ints, ranks: Sequence[BigInts]) -> tuple[tuple[ChainTable, ...], Ints]:
        """The tables of all dims and the row in each # (mapping, dim), from the group and the number within it."""
        tables, rows = [], np.empty(groups.shape, np.int64, order="F")  # dim by dim, as they are read
        for d, (space, listed) in enumerate(zip(self.spaces, self._listed, strict=True)):
            if listed is None:
                tables.append(ChainTable(space.size, space.unrank(groups[:, d], ranks[d])))
                rows[:, d] = np.arange(len(groups))
            else:
                table, first = listed
                tables.append(table)
                rows[:, d] = first[groups[:, d]] + ranks[d]
        return tuple(tables), rows


def every_chain(space: ChainSpace) -> ChainTable:
    """All chains of one dim, group by group."""
    return numbered_chains(space, np.arange(space.total))


def numbered_chains(space: ChainSpace, numbers: Ints) -> ChainTable:
    """The chains of one dim that have these numbers in the list of all. # (chain,)"""
    first = _first(space)
    group = np.searchsorted(first, numbers, side="right") - 1  # no group is empty
    return ChainTable(space.size, space.unrank(group, numbers - first[group]))


def chain_number(space: ChainSpace, bounds: Ints) -> int:
    """The number of a chain # (slot,) in the list of all; ValueError if it is not in the space."""
    group, rank = space.rank(bounds[None])
    return int(_first(space)[group[0]] + rank[0])


def _first(space: ChainSpace) -> Ints:
    """The row at which each group begins. # (group,)"""
    counts: Ints = space.counts.astype(np.int64)
    return np.cumsum(counts) - counts
