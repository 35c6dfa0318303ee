"""Lists the chains of a mapspace by groups of dims, for proofs."""

from dataclasses import dataclass, field
from functools import cached_property
from math import prod

import numpy as np

from ...mapping import ChainTable, Ints, MappingBatch
from ...mapspace import Mapspace, every_chain
from ...model.bounds import DimGroup, grouped
from ...runtime import Deadline, no_deadline
from .branch_and_bound import combination


@dataclass(eq=False)
class ChainGroups:
    """The combinations of chains of a mapspace: a row number per group of dims."""

    space: Mapspace
    tables: tuple[ChainTable, ...] = ()
    groups: list[DimGroup] = field(default_factory=list)

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
        """List the chains, and the combinations within each group. Work on them will call `deadline`."""
        self.tables = tuple(every_chain(chains) for chains in self.space.chains)
        space = self.space
        self.groups = [DimGroup(space.arch, space.workload, self.tables, dims, deadline) for dims in self._dims]

    @cached_property
    def names(self) -> list[Ints]:
        """The numbers of each group's rows in certificates: by the lexicographic order of chains. # (row,) each"""
        places = []
        for table in self.tables:
            places.append(np.empty(len(table.bounds), np.int64))
            places[-1][np.lexsort(table.bounds.T[::-1])] = np.arange(len(table.bounds))
        return [
            np.ravel_multi_index(
                [places[d][rows] for d, rows in group.rows.items()], [len(places[d]) for d in group.dims]
            )
            for group in self.groups
        ]

    def rows(self, batch: MappingBatch) -> Ints:
        """Find the combination of chains of the single mapping of `batch`. # (group,)"""
        rows = combination(self.groups, batch.factors[0])
        assert rows is not None, "a mapping of the mapspace has chains of the mapspace"
        return rows

    def table_rows(self, rows: Ints) -> Ints:
        """Convert combinations # (combination, group) to rows of the dims' chain tables. # (combination, dim)"""
        chains = np.zeros((len(rows), len(self.tables)), np.int64)
        for g, group in enumerate(self.groups):
            for d, of_group in group.rows.items():
                chains[:, d] = of_group[rows[:, g]]
        return chains
