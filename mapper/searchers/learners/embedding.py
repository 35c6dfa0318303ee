"""Mappings as points of a space in which near ones are alike, for models that compute distances.

Loop orders are either importance scores, by which loops are sorted (NAAS, Lin et al. 2021), or categories: the choice
that Matmap leaves open.
"""

import numpy as np

from ...mapping import Floats, Ints, unique_rows
from ...mapspace import Mapspace
from ...search.variation import Individuals
from .nests import NO_LOOP, flat, loops_in_order

EMBEDDINGS = ("scores", "categories")


def embedded(space: Mapspace, individuals: Individuals, orders: str) -> Floats:
    """Embed mappings: log2 of bounds over log2 of sizes, orders, kept tensors. # (individual, column)

    Points of two calls are comparable with scores only: the columns of categories are those of the orders given.
    """
    code = {"scores": _scores, "categories": _categories}[orders]
    return np.concatenate([log_bounds(space, individuals), code(space, individuals), keeps(individuals)], axis=1)


def log_bounds(space: Mapspace, individuals: Individuals) -> Floats:
    """Scale log2 of each bound to 1 at the size of its dim. # (individual, slot * dim)"""
    sizes = np.maximum(np.log2(np.array(space.workload.sizes, float)), 1.0)
    shares: Floats = flat(np.log2(individuals.bounds.astype(float)) / sizes)
    return shares


def keeps(individuals: Individuals) -> Floats:
    """Convert what is kept to numbers. # (individual, level * tensor)"""
    return flat(individuals.keep).astype(float)


def order_scores(space: Mapspace, individuals: Individuals) -> Floats:
    """Score the loops of each level by importance: from 1 for the outermost to 1/m for the innermost of m.

    A loop of bound 1 has 0. # (individual, level, dim)
    """
    listed = loops_in_order(space, individuals)
    number = (listed != NO_LOOP).sum(axis=2, keepdims=True)  # of loops
    scores = np.maximum(0.0, (number - np.arange(listed.shape[2])) / np.maximum(number, 1))
    at: Floats = np.zeros((*listed.shape[:2], listed.shape[2] + 1))
    np.put_along_axis(at, listed, scores, axis=2)  # what is no loop goes to the last column
    return at[:, :, :-1]


def _scores(space: Mapspace, individuals: Individuals) -> Floats:
    return flat(order_scores(space, individuals))


def _categories(space: Mapspace, individuals: Individuals) -> Floats:
    """Mark which of the orders found at each level a mapping has; two orders are at distance 1."""
    listed, columns = loops_in_order(space, individuals), []
    for level in range(listed.shape[1]):
        which: Ints
        orders, which = unique_rows(listed[:, level])
        columns.append(np.eye(len(orders))[which] / np.sqrt(2))
    return np.concatenate(columns, axis=1)
