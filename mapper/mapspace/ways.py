"""How many ways there are to choose one chain per dim, when the dims share axes or limits on loops.

The state after some dims is what they share so far: the product of their bounds on each contended axis, the number of
loops at each limited level. `weights[d][state]` counts the ways to choose the chains of dims d, d+1, ... from there.
"""

from collections.abc import Iterator, Sequence
from math import factorial

import numpy as np

from ..mapping import Ints
from .chains import ChainSpace
from .constraints import Shared
from .integers import BigInts, compact, fitting


class Ways:
    """The number of combinations from every state, each combination counted `fixed_orders` times.

    `fixed_orders` is the number of loop orders of every combination; what is shared may multiply it (`Shared.orders`).
    """

    def __init__(self, spaces: Sequence[ChainSpace], shared: Sequence[Shared], fixed_orders: int) -> None:
        self.spaces = tuple(spaces)
        self.shared = tuple(shared) or (Shared("loops", 0, frozenset(), 0),)
        self._products = np.array([each.kind == "product" for each in self.shared])
        self.shapes = [state_shape(self.shared, dim) for dim in range(len(self.spaces) + 1)]
        self.weights = [self._last(fixed_orders)]
        for dim in reversed(range(len(self.spaces))):
            self.weights.insert(0, self._before(dim, self.weights[0]))
        self.total = int(self.weights[0].flat[0])

    def _added(self, dim: int) -> Ints:
        """What a group of `dim` adds to what is shared: a factor to a product, a loop. # (group, shared)"""
        signature, over_one = self.spaces[dim].signature, self.spaces[dim].over_one
        added = np.repeat(self._products.astype(np.int64)[None], len(signature), axis=0)
        for column, shared in enumerate(self.shared):
            if dim in shared.members and shared.kind == "product":
                added[:, column] = signature[:, shared.slot]
            elif dim in shared.members:
                added[:, column] = over_one[:, shared.slots].sum(axis=1)
        return added

    def counts(self, dim: int) -> BigInts:
        """The number of chains of each group of `dim`, in Python integers. # (group,)"""
        return self.spaces[dim].counts.astype(object)

    def _last(self, fixed_orders: int) -> BigInts:
        """The weight of each final state: its number of loop orders, 0 where an axis is used too little."""
        shape = self.shapes[-1]
        weight = np.full(shape, fixed_orders, dtype=object)
        for column, shared in enumerate(self.shared):
            if shared.kind == "product":
                values = [int(value >= shared.least) for value in shared.values]
            else:
                values = [factorial(value) if shared.orders else 1 for value in range(shape[column])]
                values[: shared.least] = [0] * min(shared.least, len(values))
            along = [-1 if axis == column else 1 for axis in range(len(shape))]
            weight = weight * np.array(values, dtype=object).reshape(along)
        return weight

    def moves(self, dim: int) -> Iterator[tuple[tuple[slice, ...], tuple[slice, ...]]]:
        """For each group of `dim`: the states that it fits, and in the same order the states it leads to."""
        for added in self._added(dim).tolist():
            here, there = [], []
            for before, after, value, product in zip(
                self.shapes[dim], self.shapes[dim + 1], added, self._products, strict=True
            ):
                fits = after // value if product else max(0, min(before, after - value))
                here.append(slice(fits))
                there.append(slice(value - 1, None, value) if product else slice(value, value + fits))
            yield tuple(here), tuple(there)

    def _before(self, dim: int, after: BigInts) -> BigInts:
        """weights[dim] from weights[dim + 1]: sum over groups of chains * weights[dim + 1][state with the group]."""
        counts = self.counts(dim)
        after = compact(after)
        after = fitting(after, float(after.max()) * float(counts.sum()))
        weight = np.zeros(self.shapes[dim], after.dtype)
        for count, (here, there) in zip(counts, self.moves(dim), strict=True):
            weight[here] += count * after[there]
        return weight


def state_shape(shared: Sequence[Shared], dim: int) -> tuple[int, ...]:
    """How many values each shared quantity may have before `dim`: no more loops than the dims before it."""
    return tuple(
        len(each.values) if each.kind == "product" else 1 + min(each.most, _loops_before(each, dim)) for each in shared
    )


def _loops_before(shared: Shared, dim: int) -> int:
    """The most loops that the dims before `dim` may have at the slots of `shared`."""
    return len(shared.slots) * sum(d < dim for d in shared.members)
