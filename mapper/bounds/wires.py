"""Bounds from below the hops of a word in the array below a level (docs/model.md, Network), whatever the chains.

A word goes right to the rightmost of the places that need it, and from there up and down in each of its columns. Both
have bounds that grow with the bounds on the axes:

- *Right.* Places that differ in dims that the tensor does not have need the same words, so a word goes as far as those
  dims reach. The others' digits turned around turn the groups around, so on average a word goes at least half as far as
  they reach.
- *Columns.* A group of places has as many columns as those dims have places along X. Dims of a window on different
  places of a diagonal need the same words: their places over the diagonals is the number of columns more.
- *Climbs.* The places of a group in one column are a cell. Cells of equal size divide the rows in use, so on average
  they climb no less than a row is from the middle. The cell of row 0 climbs at least from there, and each as far as the
  dims that the tensor does not have reach.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from ...arch import Architecture
from ...workloads import Rank, Tensor
from ..mapping import Bools, Floats, Ints, Mappings
from ..model import hops
from ..model.nests import distinct_sums
from .charges import MovementCost
from .dim_groups import DimGroup
from .kernels import take
from .products import Numbered, Product, Products, Shape, Value

Reach = tuple[float, Product, tuple[Product, ...]]  # hops of a step, the bound, the bounds inside it on its axis


@dataclass(frozen=True, eq=False)
class Hops:
    """At least so many hops per word: `right`, and in each of `across` columns a climb."""

    right: tuple[Reach, ...]
    across: Product
    climbs: "Climbs | None"  # None: the array has a single row

    def numbered(self, by: Numbered) -> "Hops":
        """The same, with columns by other numbers."""
        return Hops(_numbered(self.right, by), by(self.across), self.climbs and self.climbs.numbered(by))

    def least(self, value: Value, n: Shape) -> Floats:
        """The least hops of a word, for `n` sets of chains. # (set,)"""
        right = _reached(self.right, value, n)
        return right if self.climbs is None else right + value(self.across) * self.climbs.least(value, n)


@dataclass(frozen=True, eq=False)
class Climbs:
    """At least so many hops up and down in a column."""

    middle: float  # from row 0
    by_rows: Floats  # the least mean distance from the middle, with at most so many rows in use # (rows + 1,)
    of_diagonals: float  # where cells may differ in size
    equal: Product  # 1: cells have one size; else 0
    rows: Product  # 1 / rows in use
    cells: Product  # 1 / most cells in a column
    reach: tuple[Reach, ...]  # of the dims that the tensor does not have

    def numbered(self, by: Numbered) -> "Climbs":
        """The same, with columns by other numbers."""
        equal, rows, cells = by(self.equal), by(self.rows), by(self.cells)
        return replace(self, equal=equal, rows=rows, cells=cells, reach=_numbered(self.reach, by))

    def least(self, value: Value, n: Shape) -> Floats:
        """The least climb, for `n` sets of chains. # (set,)"""
        used = np.clip(np.rint(1.0 / value(self.rows)), 1, len(self.by_rows) - 1).astype(np.int64)
        mean = np.where(value(self.equal) > 0, take(self.by_rows, used), self.of_diagonals)
        return np.maximum(np.maximum(mean, self.middle * value(self.cells)), _reached(self.reach, value, n))


def word_pj(batch: Mappings, charge: MovementCost) -> Floats:
    """The energy of a word of a charge in each mapping, with its hops in the array that it enters. # (mapping,)"""
    pj = np.full(len(batch), charge.pj)
    if not charge.hop_pj:
        return pj
    assert charge.parent is not None, "words enter the array of a parent"
    return pj + charge.hop_pj * hops(batch, charge.parent, charge.tensor)


def hops_bound(products: Products, tensor: Tensor, level: int) -> Hops:
    """The bound for the array below `level`, its columns added to `products`."""
    array = _Array(products, tensor, level)
    climbs = None
    if array.height > 1:
        means = mean_distances(array.arch, level)
        climbs = Climbs(
            (array.height - 1) / 2,
            means,
            distance_of_unlike_cells(array.height),
            products.of(lambda g: (~array.stacked(g)).astype(float)),
            products.of(lambda g: 1.0 / array.bound(g, "Y", array.every)),
            products.of(lambda g: 1.0 / array.bound(g, "Y", array.own)),
            array.reach("Y", 0.0),
        )
    return Hops(array.reach("X", 0.5), products.of(array.across), climbs)


def shares(products: Products, tensor: Tensor, level: int) -> Iterator[tuple[str, float, Product]]:
    """Products that the hops of a word are not below, each: a name, what the product is multiplied by, the product."""
    array = _Array(products, tensor, level)
    if array.height == 1:
        return
    mean, unlike = mean_distances(array.arch, level)[-1], distance_of_unlike_cells(array.height)
    less = min(1.0, unlike / mean)
    yield "columns", mean, products.of(lambda g: array.across(g) * np.where(array.stacked(g), less, 1.0))
    yield "middle", (array.height - 1) / 2, products.of(lambda g: array.across(g) / array.bound(g, "Y", array.own))
    together = np.arange(1, array.height + 1)  # rows of a cell
    of_each = float((np.maximum(min(mean, unlike), together - 1) / together).min())
    yield "rows", of_each, products.of(lambda g: array.across(g) * array.bound(g, "Y", array.every - array.own))


def mean_distances(arch: Architecture, level: int) -> Floats:
    """The least mean distance of the rows in use from the middle, with at most so many rows. # (rows + 1,)

    On each axis along Y the first places are in use. With several such axes the least of all stands for any number.
    """
    sizes = [axis.size for axis in arch.levels[level].fanout if axis.mesh == "Y"]
    height = prod(sizes)
    total = np.abs(np.arange(height) - (height - 1) / 2).reshape(sizes or (1,))
    number = np.ones_like(total)
    for axis in range(total.ndim):
        total, number = total.cumsum(axis=axis), number.cumsum(axis=axis)
    means = (total / number).ravel()
    if len(sizes) > 1:
        means = np.full(height, means.min())
    least: Floats = np.minimum.accumulate(np.append(np.inf, means))
    return least


def distance_of_unlike_cells(height: int) -> float:
    """The least mean distance from the middle of any number of rows, row 0 among them."""
    distances = np.sort(np.abs(np.arange(1, height) - (height - 1) / 2))
    total = np.append(0.0, distances.cumsum()) + (height - 1) / 2
    return float((total / np.arange(1, height + 1)).min())


class _Array:
    """The array below a level, as one tensor sees it."""

    def __init__(self, products: Products, tensor: Tensor, level: int) -> None:
        self.products, self.tensor = products, tensor
        group = products.groups[0]
        self.arch, self.workload = group.arch, group.workload
        slots = [(s, slot) for s, slot in enumerate(self.arch.slots) if slot.level == level and slot.axis is not None]
        self.slots = {mesh: [s for s, slot in slots if slot.axis and slot.axis.mesh == mesh] for mesh in ("X", "Y")}
        self.inmost = max((s for s, _ in slots), default=0)
        self.sizes = {s: slot.axis.size for s, slot in slots if slot.axis}
        self.height = prod(self.sizes[s] for s in self.slots["Y"])
        self.every = frozenset(range(len(self.workload.dims)))
        self.own = frozenset(d for d in self.every if self.workload.dims[d] in tensor.dims)

    def bound(self, group: DimGroup, mesh: str, dims: frozenset[int]) -> Floats:
        """The product of the bounds of some dims along X or Y. # (combination,)"""
        product = np.ones(len(group))
        for s in self.slots[mesh]:
            for d in dims & set(group.dims):
                product = product * group.tables[d].bounds[group.rows[d], s]
        return product

    def reach(self, mesh: str, of_own: float) -> tuple[Reach, ...]:
        """How far the dims reach along X or Y; those of the tensor count by `of_own`."""
        reaches = []
        for i, s in enumerate(self.slots[mesh]):
            pitch = prod(self.sizes[inner] for inner in self.slots[mesh][i + 1 :])
            inside: tuple[Product, ...] = ()
            for d in sorted(self.every):
                if all((group.tables[d].bounds[:, s] == 1).all() for group in self.products.groups if d in group.dims):
                    continue
                bound = self.products.of(lambda g, s=s, d=d: self._of_dim(g, s, d))  # type: ignore[misc]
                step = pitch * (of_own if d in self.own else 1.0)
                if step:
                    reaches.append((step, bound, inside))
                inside = (*inside, bound)
        return tuple(reaches)

    def _of_dim(self, group: DimGroup, s: int, d: int) -> Floats:
        return group.tables[d].bounds[group.rows[d], s].astype(float) if d in group.rows else np.ones(len(group))

    def across(self, group: DimGroup) -> Floats:
        """The columns of a group of places, on average. # (combination,)"""
        columns = self.bound(group, "X", self.every - self.own)
        dims = [term.dim for rank in self.tensor.ranks for term in rank]
        if len(set(dims)) < len(dims):  # a dim of several ranks: no more is known
            return columns
        for rank in group.ranks(self.tensor):
            columns = columns * self._diagonals(group, rank)
        return columns

    def _diagonals(self, group: DimGroup, rank: Rank) -> Floats:
        """Places of a rank's dims over different tiles, where two of its dims are spread; else 1. # (combination,)"""
        terms = [(self.workload.dims.index(term.dim), term.coef) for term in rank]
        terms = [(d, coef) for d, coef in terms if d in group.rows]
        spread = {d: self._places(group, d) for d, _ in terms}
        number = sum((places > 1 for places in spread.values()), np.zeros(len(group), np.int64))
        ratios = np.ones(len(group))
        for i, (d, a) in enumerate(terms):
            for e, b in terms[i + 1 :]:
                steps = [coef * group.tables[f].strides[group.rows[f], self.inmost] for f, coef in ((d, a), (e, b))]
                tiles = distinct_sums(spread[d], spread[e], *steps)
                both = (spread[d] > 1) & (spread[e] > 1) & (number == 2) & ~self.stacked(group)
                ratios = np.where(both, spread[d] * spread[e] / tiles, ratios)
        return ratios

    def _places(self, group: DimGroup, d: int) -> Ints:
        return self.bound(group, "X", frozenset({d})).astype(np.int64) * self.bound(group, "Y", frozenset({d})).astype(
            np.int64
        )

    def stacked(self, group: DimGroup) -> Bools:
        """Where several dims of one rank are spread along Y, so that the cells of a column may differ in size."""
        stacked = np.zeros(len(group), bool)
        for rank in group.ranks(self.tensor):
            dims = {self.workload.dims.index(term.dim) for term in rank} & set(group.dims)
            stacked |= sum((self.bound(group, "Y", frozenset({d})) > 1 for d in dims), np.zeros(len(group), int)) > 1
        return stacked


def _numbered(steps: Sequence[Reach], by: Numbered) -> tuple[Reach, ...]:
    return tuple((step, by(bound), tuple(map(by, inside))) for step, bound, inside in steps)


def _reached(steps: Sequence[Reach], value: Value, n: Shape) -> Floats:
    total = np.zeros(n)
    for step, bound, inside in steps:
        total = total + step * (value(bound) - 1.0) * prod((value(inner) for inner in inside), start=np.ones(n))
    return total
