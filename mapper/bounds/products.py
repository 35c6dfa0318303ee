"""Products of one column per group of dims: what every bound is written in."""

from collections.abc import Callable, Sequence
from hashlib import blake2b

import numpy as np

from ..mapping import Floats
from .dim_groups import DimGroup

Product = tuple[int, ...]  # a column per group
Numbered = Callable[[Product], Product]  # the same columns by other numbers
Value = Callable[[Product], Floats]  # of a product, for each set of chains looked at
Shape = int | tuple[int, ...]  # how many sets of chains are looked at, in a row or a grid

Least = Callable[[int, Floats], Floats]  # (group, column) -> the least entry of each set of its combinations

COLUMN_STEPS, ROWS_A_STEP = 40, 25  # steps of a column: for itself, and for so many rows one


class Products:
    """The columns of each group of dims, a number per combination of its chains.

    Where they are `merged` equal columns stand once; otherwise their places are the same for any combinations. With
    `least` a column is what that makes of it and the number of its group: its least entries, in sets of combinations.
    """

    def __init__(self, groups: Sequence[DimGroup], *, merged: bool = True, least: Least | None = None) -> None:
        self.groups, self.merged, self.least = groups, merged, least
        self.columns: list[list[Floats]] = [[] for _ in groups]  # per group
        self._known: list[dict[bytes, int]] = [{} for _ in groups]  # per group, the column with a hash

    def of(self, column: Callable[[DimGroup], Floats]) -> Product:
        """The product of what `column` makes of each group. # (combination,) each"""
        ids = []
        for g, group in enumerate(self.groups):
            parts = []
            for block in group.blocks:
                group.deadline(COLUMN_STEPS + len(block) // ROWS_A_STEP)
                parts.append(np.asarray(column(block), float))
            ids.append(self._add(g, parts[0] if len(parts) == 1 else np.concatenate(parts)))
        return tuple(ids)

    def _add(self, g: int, column: Floats) -> int:
        """Return the number of a column of group g, which is added if it is new."""
        column = column if self.least is None else self.least(g, column)
        return self._placed(g, column)

    def _placed(self, g: int, column: Floats) -> int:
        if not self.merged:
            self.columns[g].append(column)
            return len(self.columns[g]) - 1
        column = np.ascontiguousarray(column)
        key = blake2b(column.data, digest_size=16).digest()
        if key not in self._known[g]:
            self._known[g][key] = len(self.columns[g])
            self.columns[g].append(column)
        return self._known[g][key]

    def times(self, one: Product, other: Product) -> Product:
        """The product of two products, in columns of its own."""
        pairs = zip(self.columns, one, other, strict=True)
        return tuple(self._placed(g, columns[i] * columns[j]) for g, (columns, i, j) in enumerate(pairs))


class OwnColumns:
    """Some of the columns of products that others use too, by numbers of its own; none is copied."""

    def __init__(self, products: Products) -> None:
        self.columns: list[list[Floats]] = [[] for _ in products.groups]  # per group
        self._every = products.columns
        self._numbers: list[dict[int, int]] = [{} for _ in products.groups]  # per group, by the number there

    def numbered(self, product: Product) -> Product:
        """The product by the numbers here; columns not met before are added."""
        return tuple(self._number(g, column) for g, column in enumerate(product))

    def _number(self, g: int, column: int) -> int:
        if column not in self._numbers[g]:
            self._numbers[g][column] = len(self.columns[g])
            self.columns[g].append(self._every[g][column])
        return self._numbers[g][column]
