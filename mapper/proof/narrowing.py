"""Rules out chains of a set of combinations by weighted products, before a tree is grown over those that are left."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from ..bounds import Factors, Geometric
from ..mapping import Floats, Ints
from ..problem import ROUNDING
from .incumbents import BestIncumbent, Incumbents

LOOKS = 2  # weighted products, of each of the powers, that remain in use after ruling out rows
SHRINKS = 0.9  # a further product is computed while fewer than this share of the rows is left


@dataclass(frozen=True, eq=False)
class Narrowed:
    """The rows of each group that weighted products leave, and these products."""

    rows: tuple[Ints, ...]  # per group # (row left,)
    products: tuple[Factors, ...] = ()  # the last, over the rows left; those of different powers in turn
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


def narrowed(rows: Sequence[Ints], weighing: Sequence[Geometric], incumbents: Incumbents) -> Narrowed:
    """Rule out the rows whose combinations with `rows` of the other groups are all no better than `incumbents`.

    `weighing` has a product for each of the powers that these weigh; none: nothing is ruled out.
    """
    remaining, products, looks, least = list(rows), list[Factors](), list[dict[str, float]](), -np.inf
    while weighing and all(map(len, remaining)):
        before, limit = sum(map(len, remaining)), incumbents.cutoff * (1 - ROUNDING)
        new_products = weighed(remaining, weighing, incumbents)
        least = max(least, bound_of_all(new_products, incumbents))
        looks += [product.weights for product in new_products if product.weights]
        with np.errstate(over="ignore"):  # beyond all floats there is no mapping
            stay = [
                _bound_values([product.least * product.factors[g] for product in new_products], incumbents) < limit
                for g in range(len(remaining))
            ]
        remaining = [group_rows[mask] for group_rows, mask in zip(remaining, stay, strict=True)]
        products = [replace(product, factors=tuple(f[s] for f, s in zip(product.factors, stay, strict=True)))
                    for product in [*products, *new_products]][-LOOKS * len(weighing):]  # fmt: skip
        if sum(map(len, remaining)) > SHRINKS * before:
            break
    ruled_out = prod(map(len, rows)) - prod(map(len, remaining))
    return Narrowed(tuple(remaining), tuple(products), tuple(looks), ruled_out, least)


def weighed(rows: Sequence[Ints], weighing: Sequence[Geometric], incumbents: Incumbents) -> list[Factors]:
    """Bound all combinations of `rows` by a product for each of the powers, no better than rules them out."""
    alone = isinstance(incumbents, BestIncumbent) and len(weighing) == 1
    enough = incumbents.cutoff * (1 - ROUNDING) if alone else np.inf
    return [geometric.factors(rows, enough) for geometric in weighing]


def bound_of_all(products: Sequence[Factors], incumbents: Incumbents) -> float:
    """Return the bound value of the whole that a product for each of the powers bounds."""
    return float(_bound_values([np.array([product.least]) for product in products], incumbents)[0])


def _bound_values(values: Sequence[Floats], incumbents: Incumbents) -> Floats:
    """Convert bounds of products alone to bound values. # (bound,)"""
    # nothing else is known: energy and cycles of 0, but the reach of a point needs their ratio
    energy_pj, cycles = np.zeros(len(values[0])), np.full(len(values[0]), np.finfo(float).tiny)
    return incumbents.bound_value(energy_pj, cycles, values)
