"""The columns of which bounds are products, for given kept tensors: docs/optimal.md, section 3, implemented again.

Every figure is a product of one column per group of dims; a column has an entry per combination of the group's chains.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from ....workloads import Rank, Tensor
from ...mapping import Bools, Floats, Ints
from .chains import Chains, Group
from .charges import Charge, charges, flows, leakage_pj, refresh_pj
from .contexts import number
from .problem import Problem
from .wires import Array, Hops
from .words import RankWords

Product = tuple[int, ...]  # the number of a column, per group


@dataclass(frozen=True, eq=False)
class Words:
    """Lower bounds of the words that a charge moves: each product is one."""

    charge: Charge
    always: Product
    changing: tuple[Mapping[int, Product], ...]  # per level outside the child, by the rank that changes inside
    innermost: tuple[Mapping[int, Product], ...]  # per level, by the dim of its innermost loop
    first: Product | None  # one over the distinct words
    hops: Hops | None = None  # of a word
    crossing: Mapping[str, tuple[float, Product]] = field(default_factory=dict)  # words times hops: each is a bound

    def terms(self, flow: str = "") -> Iterator[tuple[str, Product]]:
        """Yield the name and product of each bound that holds for all loop orders; those of a flow begin with it."""
        name = f"{flow}:{self.charge.name}" if flow else self.charge.name
        yield f"{name}:always", self.always
        for level, by_rank in enumerate(self.changing):
            yield from ((f"{name}:{level}.{rank}", product) for rank, product in by_rank.items())


class Columns:
    """Products for words moved, cycles and limits, where levels keep the tensors of `keep` # (level, tensor).

    `coarse`: of the words those that move in any order alone, and no wires: these are quick, and enough for a weighted
    product that rules out most of very many chains.
    """

    def __init__(self, problem: Problem, keep: Bools, *, coarse: bool = False) -> None:
        self.problem, self.keep, self.coarse = problem, keep, coarse
        self.arch, self.workload, self.groups = problem.arch, problem.workload, problem.groups
        self.columns: list[list[Floats]] = [[] for _ in self.groups]  # per group # (row,) each
        self._known: list[dict[bytes, int]] = [{} for _ in self.groups]
        self.macs_pj = self.workload.macs * problem.table.compute.mac_pj(self.workload)
        self.leak_pj = refresh_pj(problem.arch)
        if problem.costs.leakage:
            self.leak_pj += leakage_pj(problem.arch, problem.table)
        macs = len(self.arch.levels)
        self.cycles = self.product(partial(_steps, boundary=macs), "steps")
        self.starts = {
            f"start:{memory.storage.of_memory}": (
                memory.storage.start_cycles,
                self.product(partial(_steps, boundary=memory.levels[0]), "steps", memory.levels[0]),
            )
            for memory in problem.memories
            if memory.storage.start_cycles
        }
        words = [self._words(charge) for charge in charges(problem, keep)]
        self.words = words if coarse else [_with_wires(self, own) for own in words]
        self.flows = {
            name: [self._words(charge) for charge in flow_charges]
            for name, flow_charges in flows(problem, keep).items()
        }
        self._limits()
        if coarse:
            return
        self.idle = [self.product(partial(_idle, level=level), "idle", level) for level in range(macs)]
        self.loops = [self._innermost(level) for level in range(macs)]

    def product(self, column: Callable[[Group], Floats], *what: object) -> Product:
        """Add a column of each group, unless it is there; `what` identifies it for any choice of kept tensors."""
        ids = []
        for g, (name, array) in enumerate(self.problem.columns(what, column)):
            ids.append(self._known[g].setdefault(name, len(self.columns[g])))
            if ids[-1] == len(self.columns[g]):
                self.columns[g].append(array)
        return tuple(ids)

    def times(self, one: Product, other: Product) -> Product:
        """Add the column of each group that two products make together."""
        names = [list(known) for known in self._known]  # in the order of their numbers
        both = [(keys[i], keys[j]) for keys, i, j in zip(names, one, other, strict=True)]
        products = [columns[i] * columns[j] for columns, i, j in zip(self.columns, one, other, strict=True)]
        return self.product(lambda group: products[self.groups.index(group)], "times", *both)

    def _words(self, charge: Charge) -> Words:
        levels, dims = len(self.arch.levels), len(self.workload.dims)
        first = None
        if charge.first_pj:
            key = "first", charge.tensor.name, charge.below, charge.mean, charge.box and (charge.child, charge.box)
            first = self.product(partial(self._first, charge=charge), *key)
        if charge.child == levels:  # the MACs keep no word from one step to the next
            return Words(charge, self._moved(charge, [levels] * dims), (), (), first)
        if self.coarse:
            return Words(charge, self._moved(charge, [0] * dims), (), (), first)
        ranks = [r for r, rank in enumerate(charge.tensor.ranks) if any(self._in_groups(term.dim) for term in rank)]
        changing, innermost = [], []
        for level in range(charge.child):
            changing.append({r: self._moved(charge, [level] * dims, r) for r in ranks})
            at = {d: r for r in ranks for d in self._dims_of(charge.tensor.ranks[r]) if self._ever_loops(d, level)}
            innermost.append({d: self._moved(charge, self._inside(d, level), r, (d, level)) for d, r in at.items()})
        return Words(charge, self._moved(charge, [0] * dims), tuple(changing), tuple(innermost), first)

    def _inside(self, d: int, level: int) -> list[int]:
        """Return the cuts where dim d has the innermost loop of a level: its other loops are outside the cut."""
        return [level + (e != d) for e in range(len(self.workload.dims))]

    def _moved(
        self, charge: Charge, cuts: Sequence[int], changing: int | None = None, loop: tuple[int, int] | None = None
    ) -> Product:
        """Bound the words moved from below, where rank number `changing` changes inside the cuts.

        With `loop`, a dim and a level: for the chains that have that loop; inf for others.
        """

        def column(group: Group) -> Floats:
            entries = 1.0 / _shared_by(group, charge)
            for d in group.dims:
                if self.workload.dims[d] not in charge.tensor.dims:
                    dim, rows = group.of(d)
                    entries = entries * number(dim, charge.child, cuts[d], charge.below)[rows]
            for r, rank in enumerate(charge.tensor.ranks):
                dims = tuple(d for d in self._dims_of(rank) if d in group.dims)
                if dims:
                    words = self._rank_words(group, charge, r)
                    at = tuple(cuts[d] for d in dims)
                    entries = entries * (words.again(at) if r == changing else words.once(at))
            if loop is not None and loop[0] in group.dims:
                dim, rows = group.of(loop[0])
                entries = np.where((dim.time[:, loop[1]] > 1)[rows], entries, np.inf)
            return entries

        key = charge.tensor.name, charge.child, charge.parent, charge.mean, charge.box, tuple(cuts), changing, loop
        return self.product(column, "moved", *key)

    def _first(self, group: Group, charge: Charge) -> Floats:
        """Compute 1 / the distinct words of an output at the level that takes them: the factor of a group. # (row,)"""
        below = charge.below
        relevant = {d for d in group.dims if self.workload.dims[d] in charge.tensor.dims}
        own = 1 if charge.box else None  # blocks come by ranks: all that its tiles touch, for each of them
        distinct = _over_dims(
            group,
            lambda d, dim: np.full(len(dim), own or dim.size) if d in relevant else number(dim, below, 0, below),
        )
        for r, rank in enumerate(charge.tensor.ranks if charge.box else ()):
            if {*self._dims_of(rank)} & relevant:
                distinct = distinct * self._rank_words(group, charge, r).sizes
        return _shared_by(group, charge) / distinct

    def _rank_words(self, group: Group, charge: Charge, r: int) -> RankWords:
        """Return the words that a charge moves along rank number r of its tensor, or the blocks."""
        block = charge.box[r] if charge.box else 1
        rank = charge.tensor.ranks[r]
        return self.problem.words(group, rank, charge.child, charge.parent, mean=charge.mean, block=block)

    def _dims_of(self, rank: Rank) -> list[int]:
        return [self.workload.dims.index(term.dim) for term in rank]

    def _in_groups(self, dim: str) -> bool:
        return any(self.workload.dims.index(dim) in group.dims for group in self.groups)

    def _ever_loops(self, d: int, level: int) -> bool:
        return any((group.of(d)[0].time[:, level] > 1).any() for group in self.groups if d in group.dims)

    def _innermost(self, level: int) -> dict[int, Product]:
        """Make a product per dim that can loop at a level: 1 where the chain has a loop there, inf elsewhere."""
        dims = [d for group in self.groups for d in group.dims if self._ever_loops(d, level)]
        return {d: self.product(partial(_looping, d=d, level=level), "loop", d, level) for d in dims}

    def _limits(self) -> None:
        """List the limits: tiles in capacities, bounds on axes, numbers of loops; none at empty levels of a memory."""
        self.capacities, self.axes, self.most_loops = [], [], []
        for memory in self.problem.memories:
            storage = memory.storage
            if storage.capacity_bits is not None:
                tiles = [tile for level in memory.levels for tile in self._tiles(level)]
                self.capacities.append((storage.capacity_bits // storage.multiple_buffering, tiles))
        for most, levels in _loop_limits(self):
            if most is not None:
                self.most_loops.append((most, self.product(partial(_power, levels=levels), "loops", levels)))
        for s, slot in enumerate(self.arch.slots):
            if slot.axis is not None:
                spread = self.product(partial(_spread, slot=s), "spread", s)
                inverse = self.product(partial(_inverse, slot=s), "inverse", s)
                self.axes.append((f"axis:{slot.name}", slot.axis.size, slot.least, spread, inverse))

    def _tiles(self, level: int) -> list[tuple[str, int, Product]]:
        """List name, bits per word and words of the largest tile, of each tensor kept at a level."""
        storage, tiles = self.arch.levels[level], []
        for v, tensor in enumerate(self.workload.tensors):
            if self.keep[level, v]:
                tile = self.product(partial(self._tile, tensor=tensor, level=level), "tile", tensor.name, level)
                tiles.append((f"tile:{storage.name}:{tensor.name}", storage.bits(tensor.name, tensor.word_bits), tile))
        return tiles

    def _tile(self, group: Group, tensor: Tensor, level: int) -> Floats:
        """Compute the words of the largest tile, of a resident tensor all: the factor of a group. # (row,)"""
        words = np.ones(len(group))
        level = 0 if tensor.name in self.arch.levels[level].resident else level
        for rank in tensor.ranks:
            length = np.ones(len(group))
            for term in rank:
                d = self.workload.dims.index(term.dim)
                if d in group.dims:
                    dim, rows = group.of(d)
                    length = length + term.coef * (np.minimum(dim.tile(level), dim.size)[rows] - 1)
            words = words * length
        return words


def _loop_limits(columns: Columns) -> Iterator[tuple[int | None, tuple[int, ...]]]:
    """List how many loops there may be at levels together: all, those of a memory, those without tensors."""
    yield columns.arch.max_loops, tuple(range(len(columns.arch.levels)))
    for memory in columns.problem.memories:
        yield memory.storage.temporal.max_loops, memory.levels
        yield from ((0, (level,)) for level in memory.levels[:-1] if not columns.keep[level].any())


def _with_wires(columns: Columns, words: Words) -> Words:
    """Add what bounds the wires that the words of a charge pass."""
    charge = words.charge
    if not charge.hop_pj:
        return words
    array = Array(columns.arch, columns.workload, charge.tensor, charge.below, columns.product)
    shares = array.shares().items()
    crossing = {
        f"{name}*{share}": (figure, columns.times(product, hops))
        for name, product in words.terms()
        for share, (figure, hops) in shares
    }
    return replace(words, hops=array.hops(), crossing=crossing)


def _shared_by(group: Group, charge: Charge) -> Floats:
    """Count the instances over which a flow takes the mean, 1 of other charges: the factor of a group. # (row,)"""
    if not charge.mean:
        return np.ones(len(group))
    return _over_dims(group, lambda _, dim: number(dim, charge.below, 0, charge.below))


def _over_dims(group: Group, column: Callable[[int, Chains], Ints]) -> Floats:
    """Multiply a column of chains over the dims of a group. # (row,)"""
    entries = np.ones(len(group))
    for d in group.dims:
        dim, rows = group.of(d)
        entries = entries * column(d, dim)[rows]
    return entries


def _loops(group: Group, level: int) -> Bools:
    """Mark the dims that have a temporal loop at a level. # (dim of the group, row)"""
    pairs = (group.of(d) for d in group.dims)
    return np.stack([(dim.time[:, level] > 1)[rows] for dim, rows in pairs])


def _idle(group: Group, level: int) -> Floats:
    """Return 1 where no dim has a loop at a level, inf elsewhere. # (row,)"""
    return _where(~_loops(group, level).any(axis=0))


def _looping(group: Group, d: int, level: int) -> Floats:
    """Return 1 where dim d has a loop at a level, or is not in the group; inf elsewhere. # (row,)"""
    return _where(_loops(group, level)[group.dims.index(d)]) if d in group.dims else np.ones(len(group))


def _power(group: Group, levels: tuple[int, ...]) -> Floats:
    """Compute 2 to the number of loops at some levels, so that products count loops. # (row,)"""
    loops: Ints = sum((_loops(group, level).sum(axis=0) for level in levels), np.zeros(len(group), np.int64))
    return (2**loops).astype(float)


def _spread(group: Group, slot: int) -> Floats:
    """Multiply the bounds of the group's dims at a slot. # (row,)"""
    return _over_dims(group, lambda _, dim: dim.bounds[:, slot])


def _inverse(group: Group, slot: int) -> Floats:
    """Compute 1 / the product of the bounds at a slot. # (row,)"""
    return 1.0 / _spread(group, slot)


def _steps(group: Group, boundary: int) -> Floats:
    """Count the steps of the temporal loops outside a boundary in which the spatial origin has work. # (row,)"""
    return _over_dims(group, lambda _, dim: number(dim, boundary, boundary, 0))


def _where(holds: Bools) -> Floats:
    return np.where(holds, 1.0, np.inf)
