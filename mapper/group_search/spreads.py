"""Every way to spread the dims of a layer over the axes of a machine, as far as they can be filled."""

from collections.abc import Sequence
from functools import lru_cache
from math import prod

import numpy as np

from ...arch import Architecture
from ...workloads import Workload
from ..mapping import Ints

MOST_SPREADS = 20_000  # ways to spread dims over all axes that are tried; with more, MACs over MAC units bound cycles


def spreads_over_axes(arch: Architecture, layer: Workload) -> Ints | None:
    """Every largest spread of the dims over all axes # (spread, dim); None where there are too many to try."""
    axes = tuple(
        (slot.axis.size, tuple(d for d, dim in enumerate(layer.dims) if _may(slot.constraint.dims, dim)))
        for slot in arch.slots
        if slot.axis is not None and slot.axis.size > 1
    )
    return _spreads(axes, layer.sizes)


@lru_cache(maxsize=64)
def _spreads(axes: tuple[tuple[int, tuple[int, ...]], ...], sizes: tuple[int, ...]) -> Ints | None:
    """The same for axes of some sizes, each with the dims that may be spread over it; not to be written to."""
    spreads = np.ones((1, len(sizes)), np.int64)
    for size, allowed in axes:
        dims = [d for d in allowed if sizes[d] > 1]
        own = np.ones((1, len(sizes)), np.int64)
        if dims:
            listed = _largest(size, [min(size, sizes[d]) for d in dims])
            if len(listed) * len(spreads) > MOST_SPREADS:
                return None
            own = np.ones((len(listed), len(sizes)), np.int64)
            own[:, dims] = listed
        spreads = _not_below((spreads[:, None, :] * own[None]).reshape(-1, len(sizes)))
    spreads.flags.writeable = False
    return spreads


def _not_below(spreads: Ints) -> Ints:
    """The spreads # (spread, dim) without those that another is at least as large as along every dim."""
    order = np.argsort(-spreads.prod(axis=1), kind="stable")
    kept = np.zeros((0, spreads.shape[1]), np.int64)
    for spread in spreads[order]:
        if not (kept >= spread).all(axis=1).any():
            kept = np.concatenate([kept, spread[None]])
    return kept


def _may(dims: tuple[str, ...] | None, dim: str) -> bool:
    return dims is None or dim in dims


def _largest(size: int, most: Sequence[int]) -> list[tuple[int, ...]]:
    """The bounds of dims that fill an axis as far as they can: none can be raised alone."""
    if not most:
        return [()]
    head, rest = min(most[0], size), most[1:]
    listed = [(bound, *tail) for bound in range(1, head + 1) for tail in _largest(size // bound, rest)]
    return [own for own in listed if not any(_raised(own, i, size, most) for i in range(len(own)))]


def _raised(own: Sequence[int], i: int, size: int, most: Sequence[int]) -> bool:
    """Whether one bound can be raised alone."""
    return own[i] < most[i] and prod(own) // own[i] * (own[i] + 1) <= size
