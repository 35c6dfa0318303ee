"""Lower bounds of the energy and cycles of a stage, for layers of all sizes that its boxes may have at once.

The relaxation of a proof (bounds/relaxation.py) is made of products of one column per group of dims, an entry for each
chain. Here the chains of a dim are those of all its sizes, and of each column the least entry stands for a size: so a
layer of any combination of sizes has its bound by a few products. Cycles are no fewer than those of the best use of the
axes, whatever the loops in time.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

import numpy as np

from ...arch import Architecture, stacked
from ...energy import EnergyTable, stacked_table
from ...workloads import InputError, Workload
from ..bounds import DimGroup, RankTiles, Relaxation, Terms, grouped
from ..mapping import ChainTable, Floats, Ints, unique_rows
from ..mapspace import Frame, KeepChoices, MapspaceTooLargeError, Preset, every_chain
from ..problem import Charges
from .spreads import spreads_over_axes

# chains of a dim of some size on these slots, beside dims of other sizes # (chain, slot)
Chains = dict[tuple[str, int, tuple[str, ...], tuple[int, ...]], Ints]
Sizes = dict[str, int]  # of the dims that a shared loop moves

SHORT = 2**14  # numbers in a list of chains
AT_ONCE = 2**14  # layers


@dataclass(frozen=True, eq=False)
class SizedGroup:
    """The chains of a group of dims, of all sizes that a shared loop gives them; alike variants have them once."""

    group: DimGroup
    loop: int | None  # the shared loop that moves its dims
    sizes: Ints  # which of the sizes each row is of # (row,)
    variants: Ints  # which of the sizes each variant of the loop has # (variant,)

    def least(self, column: Floats) -> Floats:
        """Take the least entry for each variant; inf where it has no chains. # (variant,)"""
        entries = np.full(int(self.variants.max()) + 1, np.inf)
        begins, sizes = self._begins
        if len(begins):
            entries[sizes] = np.minimum.reduceat(column, begins)
        least: Floats = entries[self.variants]
        return least

    @cached_property
    def _begins(self) -> tuple[Ints, Ints]:
        """Where the rows of each size begin, and which sizes have rows: those of a size stand together."""
        begins = np.flatnonzero(np.diff(self.sizes, prepend=-1))
        return begins, self.sizes[begins]


@dataclass(frozen=True, eq=False)
class Listed:
    """What is listed of a stage, the same whatever is kept and whether it adds up; by the names of the slots."""

    # by dim and size, too, its chains # (chain, slot)
    chains: dict[tuple[str, int, tuple[str, ...]], Ints] = field(default_factory=dict)
    groups: dict[tuple[str, ...], tuple[list[SizedGroup], Terms]] = field(default_factory=dict)
    # of short lists, for other groups with the same layer: nobody forgets them
    lasting: Chains = field(default_factory=dict)
    check: Callable[[], None] = lambda: None  # called now and then; it may raise

    def forget(self) -> None:
        """Drop all: large dims take gigabytes."""
        for sized, _ in self.groups.values():
            for own in sized:
                own.group.forget()
        self.chains.clear()
        self.groups.clear()


@dataclass(frozen=True, eq=False)
class StageProblem:
    """A stage on the machine with its resident tensors, of many sizes."""

    arch: Architecture  # with the whole capacity of the keeper
    layer: Workload  # of the largest sizes
    table: EnergyTable
    charges: Charges
    preset: Preset
    variants: tuple[tuple[Sizes, ...], ...]  # per shared loop the sizes that it may give the dims that it moves
    listed: "Listed"
    fine_rows: int  # combinations of chains of some dims up to which bounds are as sharp as can be

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many variants there are of each shared loop."""
        return tuple(map(len, self.variants))

    def bounds(self) -> tuple[Floats, Floats]:
        """Bound energy and cycles of every combination of variants; inf where no mapping is valid. # (variant, ...)"""
        energy, cycles = np.full(self.shape, np.inf), np.full(self.shape, np.inf)
        relaxed = []
        for own in self._relaxed():
            self.listed.check()
            relaxed.append(own)
        for part in _parts(self.shape):
            self.listed.check()
            shape = energy[part].shape
            which = np.meshgrid(*(np.arange(n)[own] for n, own in zip(self.shape, part, strict=True)), indexing="ij")
            sizes = self._sizes([loop.ravel() for loop in which], prod(shape))
            least = self._least_steps(sizes).reshape(shape)
            macs = np.prod(sizes.astype(float), axis=1).reshape(shape)
            for relaxation, loops in relaxed:
                bound = relaxation.bound(_pick(relaxation.columns, loops, part), shape)
                taken = np.where(bound.possible, np.maximum(bound.cycles, least), np.inf)
                energy_pj = bound.energy_pj + macs * relaxation.table.compute.mac_pj(self.layer)
                leak_pj = self.charges.leak_pj_per_cycle(relaxation.arch, relaxation.table)
                energy_pj = np.where(bound.possible, energy_pj + (leak_pj * taken if leak_pj else 0.0), np.inf)
                energy[part], cycles[part] = np.minimum(energy[part], energy_pj), np.minimum(cycles[part], taken)
        return energy, cycles

    def _sizes(self, which: Sequence[Ints], n: int) -> Ints:
        """The sizes of all dims of some combinations of variants. # (combination, dim)"""
        sizes = np.tile(np.array(self.layer.sizes, np.int64), (n, 1))
        for loop, variants in zip(which, self.variants, strict=True):
            for dim in variants[0]:
                sizes[:, self.layer.dims.index(dim)] = np.array([own[dim] for own in variants])[loop]
        return sizes

    def _relaxed(self) -> "Iterator[tuple[Relaxation, list[int | None]]]":
        """Yield the relaxation of each choice of kept tensors, whose columns have the least entries of each variant."""
        arch = stacked(self.arch, self.layer)
        slots = tuple(slot.name for slot in arch.slots)
        if slots not in self.listed.groups:
            sized = list(self._groups())
            coarse = max(len(own.group) for own in sized) > self.fine_rows
            terms = Terms([own.group for own in sized], coarse=coarse, least=lambda g, column: sized[g].least(column))
            self.listed.groups[slots] = sized, terms
        sized, terms = self.listed.groups[slots]
        groups = [own.group.on(arch, self.layer) for own in sized]
        table, charges = stacked_table(self.table, arch), replace(self.charges, leakage=False)
        for keep in KeepChoices(arch, self.layer, even=False).every():
            relaxation = Relaxation(groups, table, keep, charges, terms.coarse, terms)
            relaxation.compute_pj = 0.0
            yield relaxation, [own.loop for own in sized]

    def _groups(self) -> Iterator[SizedGroup]:
        """Yield the groups of dims with the chains of all sizes."""
        known_tiles = dict[object, RankTiles]()
        mover = {dim: loop for loop, variants in enumerate(self.variants) for dim in variants[0]}
        for dims in _grouped(self.layer):
            moved = {mover[self.layer.dims[d]] for d in dims if self.layer.dims[d] in mover}
            if len(moved) > 1:
                raise ValueError("two shared loops move one window")
            yield self._sized(dims, next(iter(moved), None), known_tiles)

    def _sized(self, dims: tuple[int, ...], loop: int | None, known_tiles: dict[object, RankTiles]) -> SizedGroup:
        """Make a group of dims with the chains of all sizes that a loop gives them; `known_tiles` serve all groups."""
        variants: Sequence[Sizes] = [{}] if loop is None else self.variants[loop]
        every = [tuple(own.get(self.layer.dims[d], self.layer.sizes[d]) for d in dims) for own in variants]
        number = {sizes: i for i, sizes in enumerate(dict.fromkeys(every))}
        tables = [self._table(d, [sizes[i] for sizes in number]) for i, d in enumerate(dims)]
        rows, of_sizes = _rows([starts for _, starts in tables], len(number))
        by_dim = dict(zip(dims, (table for table, _ in tables), strict=True))
        arch, rows_by_dim = stacked(self.arch, self.layer), dict(zip(dims, rows, strict=True))
        group = DimGroup(arch, self.layer, by_dim, dims, rows=rows_by_dim, known_tiles=known_tiles)
        return SizedGroup(group, loop, of_sizes, np.array([number[sizes] for sizes in every]))

    def _table(self, d: int, sizes: Sequence[int]) -> tuple[ChainTable, Ints]:
        """The chains of a dim of all these sizes in one table, and where those of each size begin. # (size + 1,)"""
        known = {size: self._chains_of(d, size) for size in dict.fromkeys(sizes)}
        numbers = [len(known[size]) for size in sizes]
        table = ChainTable(np.repeat(sizes, numbers), np.concatenate([known[size] for size in sizes]))
        return table, np.cumsum([0, *numbers])

    def _chains_of(self, d: int, size: int) -> Ints:
        """The chains of a dim of some size # (chain, slot); there are none where constraints exclude each other."""
        slots = tuple(slot.name for slot in stacked(self.arch, self.layer).slots)
        key = self.layer.dims[d], size, slots
        beside = tuple(own for i, own in enumerate(self.layer.sizes) if i != d)
        if (*key, beside) in self.listed.lasting:
            return self.listed.lasting[*key, beside]
        if key not in self.listed.chains:
            sizes = tuple(size if i == d else own for i, own in enumerate(self.layer.sizes))
            try:
                frame = Frame.of(self.arch, replace(self.layer, sizes=sizes), self.preset, distinct=True)
                self.listed.chains[key] = every_chain(frame.chains(d)).bounds
            except MapspaceTooLargeError:
                raise  # there may be chains
            except InputError:
                self.listed.chains[key] = np.zeros((0, len(slots)), np.int64)
            if self.listed.chains[key].size <= SHORT:
                self.listed.lasting[*key, beside] = self.listed.chains[key]
        return self.listed.chains[key]

    def _least_steps(self, sizes: Ints) -> Floats:
        """The fewest cycles of layers of these sizes # (layer, dim): the best spread over the axes. # (layer,)"""
        units = self.arch.instances(len(self.arch.levels))
        least = np.ceil(np.prod(sizes.astype(float), axis=1) / units)
        spreads = spreads_over_axes(self.arch, self.layer)
        if spreads is None:
            return least
        dims = np.flatnonzero((spreads > 1).any(axis=0))
        unspread = [d for d in range(sizes.shape[1]) if d not in dims]
        outside = np.prod(sizes[:, unspread].astype(float), axis=1)
        if not len(dims):
            return np.maximum(least, outside)
        own, index = unique_rows(sizes[:, dims])
        steps = np.full(len(own), np.inf)
        for spread in spreads[:, dims]:
            np.minimum(steps, np.prod(-(-own // spread), axis=1, dtype=float), out=steps)
        fewest: Floats = np.maximum(least, outside * steps[index])
        return fewest


def _parts(shape: tuple[int, ...]) -> Iterator[tuple[slice, ...]]:
    """Cut a shape into parts of AT_ONCE entries at most, along its first axes."""
    if prod(shape) <= AT_ONCE or not shape:
        yield tuple(slice(None) for _ in shape)
        return
    rest = prod(shape[1:])
    if rest > AT_ONCE:
        yield from ((slice(i, i + 1), *part) for i in range(shape[0]) for part in _parts(shape[1:]))
        return
    step = max(1, AT_ONCE // rest)
    for start in range(0, shape[0], step):
        yield (slice(start, start + step), *(slice(None) for _ in shape[1:]))


def _pick(
    columns: Sequence[Sequence[Floats]], loops: Sequence[int | None], part: tuple[slice, ...]
) -> Callable[[int, int], Floats]:
    """The least entries of a column along the axis of the loop that moves its group, for a part of all variants."""

    def pick(g: int, column: int) -> Floats:
        axes, loop = [1] * len(part), loops[g]
        if loop is None:
            return columns[g][column].reshape(axes)
        least = columns[g][column][part[loop]]
        axes[loop] = len(least)
        return least.reshape(axes)

    return pick


def _grouped(layer: Workload) -> list[tuple[int, ...]]:
    """The groups of dims that a window ties together; dims of size 1 alone, as another variant may be larger."""
    groups = grouped(replace(layer, sizes=tuple(max(size, 2) for size in layer.sizes)))
    return groups or [(0,)]


def _rows(starts: Sequence[Ints], number: int) -> tuple[list[Ints], Ints]:
    """All combinations of the chains of some dims, sizes by sizes: rows of each dim's table, and which sizes they are.

    `starts` # (sizes + 1,) says where the chains of each of the sizes begin in the table of a dim.
    """
    parts: list[list[Ints]] = [[] for _ in starts]
    of_sizes = []
    for place in range(number):
        ranges = [np.arange(own[place], own[place + 1]) for own in starts]
        grid = np.meshgrid(*ranges, indexing="ij")
        for part, axis in zip(parts, grid, strict=True):
            part.append(axis.ravel())
        of_sizes.append(np.full(grid[0].size, place))
    return [np.concatenate(part) for part in parts], np.concatenate(of_sizes)
