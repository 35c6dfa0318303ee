"""Chains of the dims that a window ties together, one row per combination, with what each says about the words moved.

A tensor's words depend on the dims one by one, except that the dims of a window (P and R of P*stride + R*dilation)
act together. A DimGroup holds such dims, or a single one; whatever the model needs is then a product of one column per
group.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from math import prod
from typing import Any, override

import numpy as np

from ...arch import Architecture
from ...workloads import Rank, Tensor, Workload
from ..mapping import Bools, ChainTable, Floats, Ints
from ..model.nests import Prefixes, prefixes
from ..runtime import Deadline, no_deadline
from .charges import MovementCost
from .rank_words import RankTiles, RankWords, Terms

BLOCK = 2**15  # combinations


def grouped(workload: Workload) -> list[tuple[int, ...]]:
    """The dims of size over 1, those of one window together."""
    groups = [{d} for d, size in enumerate(workload.sizes) if size > 1]
    for tensor in workload.tensors:
        for rank in tensor.ranks:
            dims = {workload.dims.index(term.dim) for term in rank}
            tied = [group for group in groups if group & dims]
            groups = [group for group in groups if not group & dims] + ([set().union(*tied)] if tied else [])
    return sorted((tuple(sorted(group)) for group in groups), key=lambda group: group[0])


@dataclass(eq=False)
class DimGroup:
    """All combinations of the chains of `dims`. Columns are arrays # (combination,)."""

    arch: Architecture
    workload: Workload
    tables: Mapping[int, ChainTable]  # of each of `dims`
    dims: tuple[int, ...]
    deadline: Deadline = no_deadline
    rows: dict[int, Ints] = field(default_factory=dict)  # per dim, the chain # (combination,); empty: every combination
    # the tiles of groups with the same chains, as P with R and Q with S often have: one for all of a layer
    known_tiles: dict[object, RankTiles] = field(default_factory=dict)
    _words: dict[object, RankWords] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.rows:
            shape = [len(self.tables[d].bounds) for d in self.dims]
            grid = np.unravel_index(np.arange(prod(shape)), shape)
            self.rows = dict(zip(self.dims, grid, strict=True))

    @override
    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs: not what is kept for speed, nor a deadline, which is of this process."""
        state = {name: value for name, value in vars(self).items() if name not in ("_cut", "_chains")}
        return state | {"deadline": no_deadline, "known_tiles": {}, "_words": {}}

    def __len__(self) -> int:
        return len(self.rows[self.dims[0]])

    def take(self, combinations: Ints) -> "DimGroup":
        """The group of some combinations, with tables of their chains alone."""
        tables, rows = {}, {}
        for d, of_group in self.rows.items():
            chains, rows[d] = np.unique(of_group[combinations], return_inverse=True)
            table = self.tables[d]
            size = table.size if isinstance(table.size, int) else table.size[chains]
            tables[d] = ChainTable(size, table.bounds[chains], table.numbers)
        return DimGroup(self.arch, self.workload, tables, self.dims, self.deadline, rows)

    @property
    def blocks(self) -> "list[DimGroup]":
        """Its combinations in turn, so many at once as a processor's cache holds columns of."""
        return [self] if len(self) <= BLOCK else self._cut

    @cached_property
    def _cut(self) -> "list[DimGroup]":
        cuts = [np.arange(start, min(start + BLOCK, len(self))) for start in range(0, len(self), BLOCK)]
        return [replace(self.take(cut), known_tiles=self.known_tiles) for cut in cuts]

    def bound(self, slot: int) -> Ints:
        """The product of the dims' bounds at a slot."""
        product = np.ones(len(self), np.int64)
        for d, rows in self.rows.items():
            product = product * self.tables[d].bounds[rows, slot]
        return product

    def loops(self, slot: int) -> Ints:
        """How many of the dims have a loop at a slot."""
        return sum((self.repeats(d, slot).astype(np.int64) for d in self.dims), np.zeros(len(self), np.int64))

    def repeats(self, d: int, slot: int) -> Bools:
        """Where dim `d` has a loop at a slot."""
        repeated: Bools = self.tables[d].bounds[self.rows[d], slot] > 1
        return repeated

    def view(self, d: int, c: int, lo: int, hi: int, shared: int | None = None) -> Prefixes:
        return prefixes(self.tables[d], self.arch, c, lo, hi, shared)

    def steps(self, c: int) -> Floats:
        """Steps of the temporal loops outside boundary `c` with work at the spatial origin."""
        return self._product(lambda d: self.view(d, c, 0, 0).number_at(c))

    def instances(self, level: int) -> Floats:
        """Active instances of a level."""
        return self._product(lambda d: self.view(d, level, 0, level).number_at(0))

    def active(self, charge: MovementCost) -> Floats:
        """Distinct words of an output at the level of a charge: sizes of its own dims, coordinates of the others. Of
        bursts and rows those of all its tiles."""
        tensor, level, blocks = charge.tensor, charge.level, bool(charge.unit.box)
        distinct = self._product(
            lambda d: (
                np.full(len(self.tables[d].bounds), 1 if blocks else self.tables[d].size)
                if self.workload.dims[d] in tensor.dims
                else self.view(d, level, 0, level).number_at(0)
            )
        )
        for rank in self.ranks(tensor) if blocks else ():
            distinct = distinct * self.words(charge, rank).sizes
        return distinct

    def tile(self, tensor: Tensor, level: int) -> Floats:
        """Words of the largest tile along this group's ranks; of the whole tensor at level 0."""
        words = np.ones(len(self))
        for rank in self.ranks(tensor):
            length = np.ones(len(self))
            for term in rank:
                d = self.workload.dims.index(term.dim)
                if d in self.rows:
                    extent = np.minimum(self.view(d, level, 0, 0).tile, self.tables[d].size)
                    length = length + term.coef * (extent[self.rows[d]] - 1)
            words = words * length
        return words

    def ranks(self, tensor: Tensor) -> list[Rank]:
        """The ranks of `tensor` that the dims appear in."""
        return [rank for rank in tensor.ranks if any(self.workload.dims.index(term.dim) in self.rows for term in rank)]

    def contexts(self, charge: MovementCost, d: int, cut: int) -> Ints:
        """N: contexts at `cut` of a dim that the charge's tensor does not have."""
        hi = charge.child if charge.parent is None else charge.parent
        numbers: Ints = self.view(d, charge.child, 0, hi).number_at(cut)[self.rows[d]]
        return numbers

    def words(self, charge: MovementCost, rank: Rank) -> RankWords:
        """What moves along one rank."""
        block = charge.unit.box[charge.tensor.ranks.index(rank)] if charge.unit.box else 1
        key = (rank, charge.child, charge.parent, charge.mean, block)
        if key not in self._words:
            every = ((self.workload.dims.index(t.dim), t.coef) for t in rank)
            terms = tuple((d, coef) for d, coef in every if d in self.rows)
            tiles = self._tiles(terms, charge.child)
            self._words[key] = RankWords(terms, tiles, charge.parent, mean=charge.mean, block=block)
        return self._words[key]

    def _tiles(self, terms: Terms, child: int) -> RankTiles:
        """The tiles of a child along some terms of a rank."""
        key = tuple((self.dims.index(d), coef) for d, coef in terms), child, self._chains
        if key not in self.known_tiles:
            tables, rows = [self.tables[d] for d, _ in terms], [self.rows[d] for d, _ in terms]
            coefs = tuple(coef for _, coef in terms)
            self.known_tiles[key] = RankTiles.of(coefs, child, self.arch, tables, rows, self.deadline)
        return self.known_tiles[key]

    @cached_property
    def _chains(self) -> bytes:
        """A hash of all its combinations of chains."""
        digest = blake2b(digest_size=16)
        for d in self.dims:
            table = self.tables[d]
            for numbers in (np.asarray(table.size), table.bounds, self.rows[d]):
                digest.update(str((numbers.shape, table.numbers)).encode())
                digest.update(np.ascontiguousarray(numbers, np.int64).data)
        return digest.digest()

    def on(self, arch: Architecture, workload: Workload) -> "DimGroup":
        """The same combinations on a machine, and of a layer, that differ in what is resident or adds up alone."""
        return replace(self, arch=arch, workload=workload)

    def forget(self) -> None:
        """Drop what other choices of kept tensors would have used again."""
        for block in self.__dict__.pop("_cut", [self]):
            block._words.clear()
        self.known_tiles.clear()

    def _product(self, column: Callable[[int], Ints]) -> Floats:
        product = np.ones(len(self))
        for d, rows in self.rows.items():
            product = product * column(d)[rows]
        return product
