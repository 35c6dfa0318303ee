"""Rules out chains of a set of combinations by weighted products, before a tree is grown over those that are left."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from ...mapping import Floats, Ints
from ...model.bounds import ROUNDING, Factors, Geometric

LOOKS = 2  # weighted products that remain in use after ruling out rows
SHRINKS = 0.9  # a further product is computed while fewer than this share of the rows is left


@dataclass(frozen=True, eq=False)
class Narrowed:
    """The rows of each group that weighted products leave, and these products."""

    rows: tuple[Ints, ...]  # per group # (row left,)
    products: tuple[Factors, ...] = ()  # the last, over the rows left
    looks: tuple[dict[str, float], ...] = ()  # the weights that ruled rows out, in turn
    ruled_out: int = 0  # combinations
    least: float = -np.inf  # the lower bound of all combinations left

    @property
    def number(self) -> int:
        """The number of combinations left."""
        return prod(map(len, self.rows))

    def weights(self, g: int, columns: int) -> Floats:
        """Return what each of the `columns` of group g counts in the last product. # (column,)"""
        last = self.products[-1].columns if self.products else ()
        return last[g] if last else np.zeros(columns)


def narrowed(rows: Sequence[Ints], geometric: Geometric | None, limit: float) -> Narrowed:
    """Rule out the rows whose combinations with `rows` of the other groups all have a bound of at least `limit`."""
    left, products, looks, least = list(rows), list[Factors](), list[dict[str, float]](), -np.inf
    while geometric is not None and all(map(len, left)):
        before = sum(map(len, left))
        product = geometric.factors(left)
        least = max(least, product.least)
        looks += [product.weights] if product.weights else []
        with np.errstate(over="ignore"):  # beyond all floats there is no mapping
            stay = [product.least * factors < limit * (1 - ROUNDING) for factors in product.factors]
        left = [mine[these] for mine, these in zip(left, stay, strict=True)]
        products = [replace(each, factors=tuple(f[s] for f, s in zip(each.factors, stay, strict=True)))
                    for each in [*products, product]][-LOOKS:]  # fmt: skip
        if sum(map(len, left)) > SHRINKS * before:
            break
    ruled_out = prod(map(len, rows)) - prod(map(len, left))
    return Narrowed(tuple(left), tuple(products), tuple(looks), ruled_out, least)
