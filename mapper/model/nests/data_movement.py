"""What moves between two neighbouring keepers of a tensor: the sums of docs/model.md over a batch of mappings.

Words moved are the sizes of all tiles less what consecutive tiles share. Both sums factor: over the tensor's ranks
(ranks.py) and over the irrelevant dims (numbers of contexts, contexts.py). The second has one term per temporal loop
outside the child, for the increments of that loop; whether another dim's loop of the same level lies outside it is
all that loop order decides.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

from ....workloads import Tensor
from ...mapping import Bools, Ints, Numbers, take_rows
from .contexts import Prefixes, prefixes
from .nest_analysis import NestAnalysis
from .ranks import RankView

# Tables over all pairs of chains of a window's dims are built up to this many rows, else the batch's own pairs.
PAIR_LIMIT = 1 << 16
LEAST_WORK = 2000  # rows; fewer cost as much as these, in calls


@dataclass(eq=False)
class DataMovement:
    """Words of one tensor that move into boundary `child`.

    Without a parent: what all instances receive (rule 2). With one: what the parent level hands out, where
    identical sets for children of one instance count once (rule 3). `origin`: for the spatial origin alone.
    """

    nest: NestAnalysis
    tensor: Tensor
    child: int
    parent: int | None = None
    origin: bool = False
    # dims of windows whose places below the parent do not count but for the first: of fewer children, so fewer words
    still: frozenset[int] = frozenset()
    # per rank so many neighbouring indices count as one word: the blocks that move (arch/dram.py); of none, words
    box: tuple[int, ...] = ()

    @cached_property
    def irrelevant(self) -> list[tuple[int, Prefixes]]:
        """Dims without influence on the words: only coordinate 0 below the parent counts (multicast)."""
        hi = 0 if self.origin else self.child if self.parent is None else self.parent
        names = self.nest.batch.workload.dims
        dims = [d for d in self.nest.dims if names[d] not in self.tensor.dims]
        return [(d, self.nest.view(d, self.child, 0, hi)) for d in dims]

    @cached_property
    def ranks(self) -> "list[RankColumns]":
        """The sums of each rank of the tensor that has loops."""
        lo, hi = 0, self.child
        if self.origin:
            lo, hi = (0, 0) if self.parent is None else (self.parent, self.child)
        index = {dim: d for d, dim in enumerate(self.nest.batch.workload.dims)}
        columns = []
        for rank, block in zip(self.tensor.ranks, self.box or (1,) * len(self.tensor.ranks), strict=True):
            terms = [(index[t.dim], t.coef) for t in rank if index[t.dim] in self.nest.dims]
            if terms:
                places = Places(lo, hi, self.parent, self.still, block)
                columns.append(RankColumns.of(self.nest, terms, self.child, places))
        return columns

    @cached_property
    def distinct(self) -> Numbers:
        """Words of all tiles that differ: of an output, whose tiles are the same or have no word in common.
        # (mapping,)"""
        return self.nest.product(take_rows(rank.view.sizes, rank.row) for rank in self.ranks)

    def exact(self) -> Bools:
        """Where the count is the executor's. # (mapping,)"""
        exact: Bools = self.nest.xp.ones(len(self.nest.batch), dtype=bool)
        for rank in self.ranks:
            exact &= take_rows(rank.view.exact, rank.row)
        return exact

    def least_words(self) -> Numbers:
        """Words moved, or where `words` may be too many, at least as many: those of some of the children. # (mapping,)

        Of each window the children along one dim count, whose tiles cannot coincide; the dim that gives the most.
        """
        words = self.words()
        if not self.windows:
            return words
        least, dims = self.nest.zeros(), frozenset(d for dims in self.windows for d in dims)
        for spread in product(*self.windows):
            least = self.nest.xp.maximum(least, replace(self, still=dims - {*spread}).words())
        bounded: Numbers = self.nest.xp.where(self.exact(), words, least)
        return bounded

    @property
    def windows(self) -> list[tuple[int, ...]]:
        """The dims of each window whose words may be too many in some mapping."""
        return [rank.dims for rank in self.ranks if not rank.view.exact.all()]

    def words(self) -> Numbers:
        """Words moved. # (mapping,)"""
        nest = self.nest
        contexts = nest.product(take_rows(view.times[self.child], nest.row(d)) for d, view in self.irrelevant)
        total = self.distinct * contexts
        if self.child < self.nest.levels:  # MACs hold nothing between steps
            for level in range(self.child):
                for d in self.nest.loops(level):
                    total -= self.stays(level, d)
        return total

    def stays(self, level: int, d: int) -> Numbers | int:
        """Words that stay in place at the increments of the loop of dim d at `level`. # (mapping,)"""
        nest = self.nest
        own = next((rank for rank in self.ranks if d in rank.dims), None)
        if own is not None and len(own.dims) == 1:
            return 0  # the tile moves by at least its own length
        times = [
            nest.at_cut(view, view.times[level : level + 2], nest.row(e), level, e, d) for e, view in self.irrelevant
        ]
        if not any(rank.view.shared for rank in self.ranks):
            return nest.product([*times, *(rank.words(nest, level, d) for rank in self.ranks)])
        sums = {}
        for name in ("words", "kept", "kept_by_all"):
            picked = [rank.pick(nest, level, d, name) for rank in self.ranks]
            sums[name] = nest.product([*times, *picked])
        return sums["words"] + sums["kept_by_all"] - sums["kept"]


@dataclass(frozen=True)
class Places:
    """The coordinates that the sums of a rank run over: those of levels lo..hi-1; children of `parent` may share words,
    and of the dims `still` only the first below it counts. So many indices of a `block` count as one."""

    lo: int
    hi: int
    parent: int | None
    still: frozenset[int] = frozenset()
    block: int = 1

    def of(self, d: int) -> tuple[int, int]:
        """The levels whose coordinates of dim d count."""
        return self.lo, self.hi if d not in self.still or self.parent is None else self.parent


@dataclass(eq=False)
class RankColumns:
    """A rank's sums with, per mapping, the row to take."""

    view: RankView
    dims: tuple[int, ...]
    row: Ints  # (mapping,)

    @classmethod
    def of(cls, nest: NestAnalysis, terms: list[tuple[int, int]], child: int, places: Places) -> "RankColumns":
        """The sums of the rank with `terms` (dim, coefficient), from the tables' cache where they are known."""
        dims = tuple(d for d, _ in terms)
        coefs = tuple(coef for _, coef in terms)
        tables, shape, row = nest.combinations(dims, child)
        places = replace(places, still=places.still & {*dims})
        may_share = len(dims) == 2 and not places.still and places.block == 1
        shared = _shared_level(nest, child, places.parent) if may_share else None

        def view(combinations: tuple[Ints, ...], shared: int | None) -> RankView:
            arch, every = nest.batch.arch, zip(dims, tables, strict=True)
            parts = tuple(prefixes(table, arch, child, *places.of(d), shared) for d, table in every)
            return RankView(coefs, parts, combinations, places.parent, places.block)

        def best(combinations: tuple[Ints, ...]) -> RankView:
            plain = view(combinations, None)
            return view(combinations, shared) if shared is not None and plain.meets.any() else plain

        # in the first table's cache, whose own identity the key therefore leaves out: the cache would hold its table
        key = ("rank", nest.batch.arch.axes, tables[1:], coefs, child, places, dims if places.still else ())
        cache, every = tables[0].cache, prod(shape)
        known = cache.get(key, 0)
        if isinstance(known, RankView):
            return cls(known, dims, row)
        assert isinstance(known, int)
        # A table of all combinations pays once as much work has gone into the combinations of single batches
        work = known + max(len(row), LEAST_WORK)
        if nest.xp is np and len(dims) > 1 and (every > PAIR_LIMIT or work < every):
            cache[key] = work
            pairs, row = np.unique(row, return_inverse=True)
            return cls(best(np.unravel_index(pairs, shape)), dims, row)
        whole = best(np.unravel_index(np.arange(every), shape))
        cache[key] = whole
        return cls(whole, dims, row)

    def words(self, nest: NestAnalysis, level: int, d: int) -> Numbers:
        """Overlaps at the increments of dim d's loop at `level`. # (mapping,)"""
        if len(self.dims) > 1:
            return self.pick(nest, level, d, "words")
        (e,) = self.dims
        return nest.at_cut(self.view, self.view.overlap(None, level).words, self.row, level, e, d)

    def pick(self, nest: NestAnalysis, level: int, d: int, name: str) -> Numbers:
        """One of the sums of an Overlap, for the increments of dim d's loop at `level`. # (mapping,)"""
        moving = self.dims.index(d) if d in self.dims else None
        other_dims = tuple(e for e in self.dims if e != d)
        columns: Numbers = getattr(self.view.overlap(moving, level), name)
        return take_rows(columns.reshape(-1), nest.positions.which(level, other_dims, d) * columns.shape[1] + self.row)


def _shared_level(nest: NestAnalysis, child: int, parent: int | None) -> int | None:
    """The innermost level with a fanout between parent and child."""
    if parent is None:
        return None
    levels = nest.batch.arch.levels
    return next((level for level in range(child - 1, parent - 1, -1) if levels[level].fanout), None)
