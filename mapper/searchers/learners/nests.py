"""The loop nests of mappings: their loops in order, and keys by which equal nests are known."""

from math import prod

import numpy as np
from numpy.typing import NDArray

from ...mapping import Bools, Ints
from ...mapspace import Mapspace
from ...search.variation import Individuals

Keys = NDArray[np.uint64]
NO_LOOP = -1  # the dim at a position of a nest without a loop
_WEIGHTS = 0x5EED  # the seed of the weights of keys; keys are part of states on disk


def flat[Number: np.generic](genes: NDArray[Number]) -> NDArray[Number]:
    """Make one row of what each mapping has, which may be no mapping. # (mapping, column)"""
    return genes.reshape(len(genes), prod(genes.shape[1:]))


def loops_in_order(space: Mapspace, individuals: Individuals) -> Ints:
    """List the dims of the temporal loops of each level, outermost first; loops of bound 1 are none.

    # (individual, level, position), NO_LOOP after the last
    """
    order = individuals.order.astype(np.int64)
    loops: Bools = np.take_along_axis(individuals.bounds[:, list(space.orders.temporal)] > 1, order, axis=2)
    places = np.argsort(~loops, axis=2, kind="stable")
    listed: Ints = np.take_along_axis(np.where(loops, order, NO_LOOP), places, axis=2)
    return listed


def keys_of(space: Mapspace, individuals: Individuals) -> Keys:
    """Compute a number for each mapping; mappings that differ only in loops of bound 1 have the same. # (individual,)

    Two others have the same with a chance of about 2**-64.
    """
    parts = (individuals.bounds, loops_in_order(space, individuals), individuals.keep)
    genes = np.concatenate([flat(part).astype(np.int64) for part in parts], axis=1).view(np.uint64)
    rng = np.random.default_rng(_WEIGHTS)
    weights = rng.integers(0, 2**64, genes.shape[1], np.uint64) | np.uint64(1)
    keys: Keys = (genes * weights).sum(axis=1, dtype=np.uint64)  # modulo 2**64
    return keys


def fresh(keys: Keys, seen: Keys) -> Ints:
    """Find the mappings whose key is not among those `seen`; of equal mappings the first. # (fresh,)"""
    _, first = np.unique(keys, return_index=True)
    first.sort()
    return first[~np.isin(keys[first], seen)]
