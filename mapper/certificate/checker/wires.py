"""Lower bounds of the hops of a word in the array below a level: docs/optimal.md, section 3, implemented again.

The rows in use, and the tiles of dims that share a window, are listed and counted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from math import prod

import numpy as np

from ....arch import Architecture
from ....workloads import Tensor, Workload
from ...mapping import Bools, Floats, Ints, unique_rows
from .chains import Group

Product = tuple[int, ...]
Value = Callable[[Product], Floats]  # the least value of a product over each set # (set,)
Column = Callable[[Group], Floats]
Make = Callable[..., Product]  # adds the columns of all groups: a Column, and what identifies it
Step = tuple[
    float, Product, Product
]  # of a dim on an axis: hops of a step to the next place, its bound, places between


@dataclass(frozen=True, eq=False)
class Hops:
    """Lower bounds of hops: to the right, and up and down in the columns of the places that need a word."""

    right: Sequence[Step]
    columns: Product
    climbs: "Climbs | None"

    def least(self, value: Value, n: int) -> Floats:
        """Bound the hops of a word, for each set. # (set,)"""
        hops = _reached(self.right, value, n)
        return hops if self.climbs is None else hops + value(self.columns) * self.climbs.least(value)


@dataclass(frozen=True, eq=False)
class Climbs:
    """Lower bounds of the mean climb of the cells: the places in one column that need the same word."""

    height: int
    arch: Architecture
    level: int
    same_size: Product  # 1 where all cells have one size, else 0
    idle: Product  # 1 / rows in use
    single: Product  # 1 / rows in which the tensor's own dims differ
    up: Sequence[Step]

    def least(self, value: Value) -> Floats:
        """Bound the climb, for each set. # (set,)"""
        means = np.array(mean_climbs(self.arch, self.level))
        rows = np.round(1.0 / value(self.idle)).astype(np.int64)
        climb = np.where(
            value(self.same_size) == 1.0, means[np.clip(rows, 1, self.height) - 1], unlike_climb(self.height)
        )
        climb = np.maximum(climb, (self.height - 1) / 2 * value(self.single))
        return np.maximum(climb, _reached(self.up, value, len(climb)))


def _reached(steps: Sequence[Step], value: Value, n: int) -> Floats:
    """Bound how far places are reached along an axis. # (set,)"""
    return sum((hops * value(between) * (value(bound) - 1.0) for hops, bound, between in steps), np.zeros(n))


def _distances(height: int) -> list[float]:
    return [abs(row - (height - 1) / 2) for row in range(height)]


@cache
def mean_climbs(arch: Architecture, level: int) -> tuple[float, ...]:
    """List the least mean distance from the middle of at most 1, 2, ... rows in use, the first ones of each axis."""
    sizes = [axis.size for axis in arch.levels[level].fanout if axis.mesh == "Y"]
    distances = np.array(_distances(prod(sizes))).reshape(sizes)
    if len(sizes) == 1:
        means = [float(distances[:used].mean()) for used in range(1, sizes[0] + 1)]
        return tuple(min(means[:used]) for used in range(1, sizes[0] + 1))
    every = product(*(range(1, size + 1) for size in sizes))
    least = min(float(distances[tuple(slice(used) for used in counts)].mean()) for counts in every)
    return (least,) * prod(sizes)


@cache
def unlike_climb(height: int) -> float:
    """Return the least mean distance from the middle of row 0 and any number of other rows."""
    distances = sorted(_distances(height)[1:])
    return min((sum(distances[:number]) + (height - 1) / 2) / (number + 1) for number in range(height))


@dataclass(eq=False)
class Array:
    """The array below a level with axes, and the words of one tensor in it."""

    arch: Architecture
    workload: Workload
    tensor: Tensor
    level: int
    make: Make

    @cached_property
    def height(self) -> int:
        """The number of rows."""
        return prod(axis.size for axis in self.arch.levels[self.level].fanout if axis.mesh == "Y")

    def hops(self) -> Hops:
        """Make the bounds for sets of chains."""
        climbs = self._climbs() if self.height > 1 else None
        return Hops(self._steps("X", own=0.5), self._made(self.columns, "columns"), climbs)

    def shares(self) -> dict[str, tuple[float, Product]]:
        """Make products that are no more than the hops of a word, each with what it is multiplied by."""
        if self.height == 1:
            return {}
        mean, unlike = min(mean_climbs(self.arch, self.level)), unlike_climb(self.height)
        cells = [max(min(mean, unlike), rows - 1) / rows for rows in range(1, self.height + 1)]
        return {
            "columns": (mean, self._made(lambda g: self.columns(g) * self._if_unlike(g, unlike / mean), "climbing")),
            "middle": ((self.height - 1) / 2, self._made(lambda g: self.columns(g) / self._rows(g, True), "from 0")),
            "rows": (min(cells), self._made(lambda g: self.columns(g) * self._rows(g, False), "in cells")),
        }

    def _climbs(self) -> Climbs:
        return Climbs(
            self.height,
            self.arch,
            self.level,
            self._made(lambda g: (~self.unlike(g)).astype(float), "alike"),
            self._made(lambda g: 1.0 / (self._rows(g, True) * self._rows(g, False)), "rows"),
            self._made(lambda g: 1.0 / self._rows(g, True), "own rows"),
            self._steps("Y", own=0.0),
        )

    def _made(self, column: Column, what: str) -> Product:
        return self.make(column, "wires", what, self.tensor.name, self.level)

    def _slots(self, mesh: str) -> list[int]:
        return [
            s
            for s, slot in enumerate(self.arch.slots)
            if slot.level == self.level and slot.axis is not None and slot.axis.mesh == mesh
        ]

    def _own(self, d: int) -> bool:
        return any(term.dim == self.workload.dims[d] for rank in self.tensor.ranks for term in rank)

    def _steps(self, mesh: str, own: float) -> list[Step]:
        """List the steps of every dim on every axis along X or Y; those of the tensor's own dims count by `own`."""
        steps, pitch = list[Step](), 1
        for s in reversed(self._slots(mesh)):
            for d in range(len(self.workload.dims)):
                hops = pitch * (own if self._own(d) else 1.0)
                if hops:
                    bound = self.make(lambda g, s=s, d=d: _spread(g, s, [d]), "bound", s, d)
                    between = self.make(lambda g, s=s, d=d: _spread(g, s, range(d)), "between", s, d)
                    steps.append((hops, bound, between))
            axis = self.arch.slots[s].axis
            pitch *= axis.size if axis else 1
        return steps

    def _rows(self, group: Group, own: bool) -> Floats:
        """Count the rows in which dims differ: the tensor's own, or the others. # (row,)"""
        dims = [d for d in group.dims if self._own(d) == own]
        return np.prod([np.ones(len(group)), *(_spread(group, s, dims) for s in self._slots("Y"))], axis=0)

    def columns(self, group: Group) -> Floats:
        """Count the columns of places that need the same words, on average: the factor of a group. # (row,)"""
        other_dims = [d for d in group.dims if not self._own(d)]
        factor = np.prod([np.ones(len(group)), *(_spread(group, s, other_dims) for s in self._slots("X"))], axis=0)
        named = [term.dim for rank in self.tensor.ranks for term in rank]
        if len(named) == len(set(named)):
            for rank in self.tensor.ranks:
                terms = [(self.workload.dims.index(term.dim), term.coef) for term in rank]
                factor = factor * self._per_tile(group, [(d, coef) for d, coef in terms if d in group.dims])
        return factor

    def _per_tile(self, group: Group, terms: Sequence[tuple[int, int]]) -> Floats:
        """Count the places per tile, where just two dims of a rank are spread and not both along Y. # (row,)"""
        if len(terms) < 2:
            return np.ones(len(group))
        dims = [group.of(d) for d, _ in terms]
        bounds = np.stack([dim.space[rows, self.level] for dim, rows in dims], axis=1)
        moves = [coef * dim.space_step[rows, self.level] for (_, coef), (dim, rows) in zip(terms, dims, strict=True)]
        two = ((bounds > 1).sum(axis=1) == 2) & ~self.unlike(group)
        distinct, which = unique_rows(np.concatenate([bounds, np.stack(moves, axis=1)], axis=1)[two])
        places = np.ones(len(group))
        places[two] = np.array([_places_per_tile(row) for row in distinct.tolist()])[which] if two.any() else 1.0
        return places

    def unlike(self, group: Group) -> Bools:
        """Mark where cells may differ in size: several dims of one rank are spread along Y. # (row,)"""
        differ = np.zeros(len(group), bool)
        for rank in self.tensor.ranks:
            dims = [self.workload.dims.index(term.dim) for term in rank]
            spread = [
                np.any([_spread(group, s, [d]) > 1 for s in self._slots("Y")], axis=0) for d in dims if d in group.dims
            ]
            differ |= np.sum(spread, axis=0, dtype=np.int64) > 1
        return differ

    def _if_unlike(self, group: Group, factor: float) -> Floats:
        return np.where(self.unlike(group), min(factor, 1.0), 1.0)


def _spread(group: Group, slot: int, dims: Sequence[int]) -> Floats:
    """Multiply the bounds of some dims at a slot: the factor of a group. # (row,)"""
    factor = np.ones(len(group))
    for d in dims:
        if d in group.dims:
            dim, rows = group.of(d)
            factor = factor * dim.bounds[rows, slot]
    return factor


def _places_per_tile(row: Sequence[int]) -> float:
    """Divide the places of a rank's dims by their distinct tiles; `row`: the bounds, then how far a step moves."""
    half = len(row) // 2
    starts: Ints = np.zeros(1, np.int64)
    for bound, move in zip(row[:half], row[half:], strict=True):
        starts = np.add.outer(starts, np.arange(bound) * move).ravel()
    return len(starts) / len(np.unique(starts))
