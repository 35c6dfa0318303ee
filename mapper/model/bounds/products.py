"""Products of one column per group of dims: what every bound is written in."""

from collections.abc import Callable, Sequence
from hashlib import blake2b

import numpy as np

from ...mapping import Floats
from .dim_groups import DimGroup

Product = tuple[int, ...]  # a column per group
Value = Callable[[Product], Floats]  # of a product, for each set of chains looked at


class Products:
    """The columns of each group of dims, a number per combination of its chains; equal columns stand once."""

    def __init__(self, groups: Sequence[DimGroup]) -> None:
        self.groups = groups
        self.columns: list[list[Floats]] = [[] for _ in groups]  # per group
        self._known: list[dict[bytes, int]] = [{} for _ in groups]  # per group, the column with a hash

    def of(self, column: Callable[[DimGroup], Floats]) -> Product:
        """The product of what `column` makes of each group. # (combination,) each"""
        ids = []
        for g, group in enumerate(self.groups):
            group.deadline()
            array = np.ascontiguousarray(column(group), float)
            key = blake2b(array.data, digest_size=16).digest()
            if key not in self._known[g]:
                self._known[g][key] = len(self.columns[g])
                self.columns[g].append(array)
            ids.append(self._known[g][key])
        return tuple(ids)

    def times(self, one: Product, other: Product) -> Product:
        """The product of two products, in columns of its own."""
        columns = {
            id(group): mine[i] * mine[j]
            for group, mine, i, j in zip(self.groups, self.columns, one, other, strict=True)
        }
        return self.of(lambda group: columns[id(group)])
