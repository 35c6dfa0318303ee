"""Chains of the dims that a window ties together, one row per combination, with what each says about the words moved.

A tensor's words depend on the dims one by one, except that the dims of a window (P and R of P*stride + R*dilation)
act together. A DimGroup holds such dims, or a single one; whatever the model needs is then a product of one column per
group.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any, override

import numpy as np

from ...arch import Architecture
from ...workloads import Rank, Tensor, Workload
from ..mapping import Bools, ChainTable, Floats, Ints
from ..model.nests import Prefixes, RankView, level_slots, prefixes
from ..runtime import Deadline, no_deadline
from .charges import MovementCost

BLOCK = 2**15  # combinations

Cuts = tuple[int, ...]  # per dim of the workload, the cut of its loops


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
    _words: dict[object, "RankWords"] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.rows:
            shape = [len(self.tables[d].bounds) for d in self.dims]
            grid = np.unravel_index(np.arange(prod(shape)), shape)
            self.rows = dict(zip(self.dims, grid, strict=True))

    @override
    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs: not what is kept for speed, nor a deadline, which is of this process."""
        state = {name: value for name, value in vars(self).items() if name != "_cut"}
        tables = {d: ChainTable(table.size, table.bounds, table.numbers) for d, table in self.tables.items()}
        return state | {"tables": tables, "deadline": no_deadline, "_words": {}}

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
        return [self.take(np.arange(start, min(start + BLOCK, len(self)))) for start in range(0, len(self), BLOCK)]

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

    def steps(self) -> Floats:
        """Temporal steps with work at the spatial origin."""
        c = len(self.arch.levels)
        return self._product(lambda d: self.view(d, c, 0, 0).number_at(c))

    def instances(self, level: int) -> Floats:
        """Active instances of a level."""
        return self._product(lambda d: self.view(d, level, 0, level).number_at(0))

    def active(self, tensor: Tensor, level: int) -> Floats:
        """Distinct words of an output at a level: sizes of its own dims, coordinates of the others."""
        return self._product(
            lambda d: (
                np.full(len(self.tables[d].bounds), self.tables[d].size)
                if self.workload.dims[d] in tensor.dims
                else self.view(d, level, 0, level).number_at(0)
            )
        )

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

    def words(self, charge: MovementCost, rank: Rank) -> "RankWords":
        """What moves along one rank."""
        key = (rank, charge.child, charge.parent, charge.mean)
        if key not in self._words:
            terms = [(self.workload.dims.index(t.dim), t.coef) for t in rank]
            self._words[key] = RankWords(self, [t for t in terms if t[0] in self.rows], charge)
        return self._words[key]

    def on(self, arch: Architecture, workload: Workload) -> "DimGroup":
        """The same combinations on a machine, and of a layer, that differ in what is resident or adds up alone."""
        return replace(self, arch=arch, workload=workload)

    def forget(self) -> None:
        """Drop what other choices of kept tensors would have used again."""
        for block in self.__dict__.pop("_cut", [self]):
            block._words.clear()

    def _product(self, column: Callable[[int], Ints]) -> Floats:
        product = np.ones(len(self))
        for d, rows in self.rows.items():
            product = product * column(d)[rows]
        return product


class RankWords:
    """Words along one rank: of a pass over its tiles, and of a repeated pass.

    Where tiles of children may coincide in ways that the closed form does not see (Counts.exact), the words that
    some of the children need stand for all: a parent hands out no less for more children. They also do where a mean
    over instances is asked for and children may coincide: at the origin all those on a diagonal do, at the last
    instance perhaps not, so that the mean would be above the origin.
    """

    def __init__(self, group: DimGroup, terms: Sequence[tuple[int, int]], charge: MovementCost) -> None:
        child, parent = charge.child, charge.parent
        self.dims = tuple(d for d, _ in terms)
        self.group, self.child = group, child
        self._coefs = tuple(coef for _, coef in terms)
        self._views: list[tuple[RankView, Bools]] = []  # with where each holds
        self._overlaps: dict[tuple[RankView, int, int], Floats] = {}  # by dim and level
        plain = self._view(parent, {}, None)
        everywhere = np.ones(len(group), bool)
        if parent is None or not plain.meets.any():
            self._views = [(plain, everywhere)]
            return
        shared = next((lv for lv in range(child - 1, parent - 1, -1) if group.arch.levels[lv].fanout), None)
        full = self._view(parent, {}, shared if len(terms) == 2 else None)
        self._views = [(full, full.exact & ~plain.meets if charge.mean else full.exact)]
        self._views += [(self._view(None, {d: parent for d in self.dims if d != kept}, None), everywhere)
                        for kept in self.dims]  # fmt: skip

    def _view(self, parent: int | None, high: dict[int, int], shared: int | None) -> RankView:
        parts = tuple(self.group.view(d, self.child, 0, high.get(d, self.child), shared) for d in self.dims)
        return RankView(self._coefs, parts, tuple(self.group.rows[d] for d in self.dims), parent, self.group.deadline)

    def once(self, cuts: Cuts) -> Floats:
        """Words of one pass over the tiles of every context at `cuts`, each pass starting with nothing held."""
        return self._best(lambda view: view.sizes - self._kept(view, cuts, inner=True))

    def again(self, cuts: Cuts) -> Floats:
        """Words of a pass that follows an equal pass: less what its last tile shares with its first."""

        def words(view: RankView) -> Floats:
            held = view.wrap_words([cuts[d] for d in self.dims])
            if len(self.dims) > 1:
                held = held + self._kept(view, cuts, inner=False)
            return view.sizes - self._kept(view, cuts, inner=True) - held

        return self._best(words)

    def _kept(self, view: RankView, cuts: Cuts, inner: bool) -> Floats:
        """Overlaps at the increments of the rank's own loops inside `cuts`, or of those outside."""
        kept = np.zeros(len(self.group))
        if len(self.dims) > 1:
            for i, d in enumerate(self.dims):
                for level in range(cuts[d], self.child) if inner else range(cuts[d]):
                    if level_slots(self.group.tables[d], self.group.arch)[level].repeats:
                        kept = kept + self._overlap(view, i, level)
        return kept

    def _overlap(self, view: RankView, i: int, level: int) -> Floats:
        """The most that increments of the rank's own loop overlap, whichever loops of that level stand outside."""
        key = (view, i, level)
        if key not in self._overlaps:
            self._overlaps[key] = view.overlap(i, level).words.max(axis=0)
        return self._overlaps[key]

    def _best(self, words: Callable[[RankView], Floats]) -> Floats:
        best = np.zeros(len(self.group))
        for view, holds in self._views:
            best = np.maximum(best, np.where(holds, words(view), 0.0))
        return best
