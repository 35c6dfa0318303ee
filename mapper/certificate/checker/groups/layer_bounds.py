"""Lower bounds of a stage as a layer of many sizes at once, by the checker's own columns.

Every figure is a product of one column per group of dims. Here the chains of a dim are those of all its sizes, and of a
column there remains the least entry for each size: so a layer of any sizes has its bound from a product of entries.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from math import prod
from typing import override

import numpy as np

from .....arch import Architecture
from .....energy import EnergyTable
from .....workloads import Workload
from ....mapping import Floats, Ints
from ....problem import Charges
from ..bounds import LeastCosts
from ..chains import Chains, Group, TooManyChains, every_chain, tied_dims
from ..charges import leakage_pj
from ..columns import Columns, Product
from ..memories import expanded
from ..problem import Problem, Refused

AT_ONCE = 1 << 14  # layers bounded at once
MOST_SPREADS = 20_000


@dataclass(eq=False)
class ProblemOfSizes(Problem):
    """A layer of many sizes. Columns have the least entry for each variant of the loop that moves their group."""

    variants: Sequence[Sequence[dict[str, int]]] = ()  # per shared loop the sizes of the dims that it moves

    @cached_property
    def of_sizes(self) -> list[tuple[Group, int | None, Ints]]:
        """Each group of dims with the loop that moves it, and the variant of each row."""
        listed = []
        largest = Workload(
            self.workload.name, self.workload.dims, tuple(max(2, size) for size in self.workload.sizes),
            self.workload.tensors,
        )  # fmt: skip
        for dims in tied_dims(largest):
            names = [self.workload.dims[d] for d in dims]
            loops = [i for i, own in enumerate(self.variants) if own and any(dim in own[0] for dim in names)]
            loop = loops[0] if loops else None
            sizes = [{}] if loop is None else list(self.variants[loop])
            listed.append((*self._group(dims, sizes), loop))
        return [(group, loop, owner) for group, owner, loop in listed]

    def _group(self, dims: tuple[int, ...], variants: Sequence[dict[str, int]]) -> tuple[Group, Ints]:
        tables: list[dict[int, Chains]] = []
        for d in dims:
            dim = self.workload.dims[d]
            sizes = {own.get(dim, self.workload.sizes[d]) for own in variants}
            try:
                tables.append({size: every_chain(self.arch, size, dim, self.remainders) for size in sorted(sizes)})
            except TooManyChains as error:
                raise Refused(str(error)) from None
        starts = [dict(zip(own, np.cumsum([0, *map(len, own.values())]).tolist(), strict=False)) for own in tables]
        rows: list[list[Ints]] = [[] for _ in dims]
        owner = []
        for number, variant in enumerate(variants):
            ranges = []
            for d, own, start in zip(dims, tables, starts, strict=True):
                size = variant.get(self.workload.dims[d], self.workload.sizes[d])
                ranges.append(np.arange(start[size], start[size] + len(own[size])))
            grid = np.meshgrid(*ranges, indexing="ij")
            for part, axis in zip(rows, grid, strict=True):
                part.append(axis.ravel())
            owner.append(np.full(grid[0].size, number))
        chains = tuple(
            Chains(
                self.arch,
                np.concatenate([np.full(len(one), size, np.int64) for size, one in own.items()]),
                np.concatenate([one.bounds for one in own.values()]),
            )
            for own in tables
        )
        return Group(dims, chains, tuple(map(np.concatenate, rows))), np.concatenate(owner)

    @cached_property
    @override
    def groups(self) -> tuple[Group, ...]:
        """The groups of dims, with the chains of all sizes."""
        return tuple(group for group, _, _ in self.of_sizes)

    @override
    def columns(self, what: object, column: Callable[[Group], Floats]) -> list[tuple[bytes, Floats]]:
        """Return the name and the least entries of column `what` of each group, for each variant. # (variant,) each"""
        if what not in self._columns:
            self._columns[what] = []
            for group, loop, owner in self.of_sizes:
                least = np.full(1 if loop is None else len(self.variants[loop]), np.inf)
                np.minimum.at(least, owner, np.asarray(column(group), float))
                name = blake2b(least.data, digest_size=16).digest()
                self._columns[what].append((name, self._arrays.setdefault(name, least)))
        return self._columns[what]


@dataclass(frozen=True, eq=False)
class StageBounds:
    """A stage on a machine with resident tensors, of all combinations of the variants of each shared loop."""

    arch: Architecture  # with the whole capacity of the keeper
    layer: Workload  # its sizes are those of dims that no loop moves
    table: EnergyTable
    remainders: Sequence[str]  # slots
    costs: Charges
    variants: Sequence[Sequence[dict[str, int]]]

    def bounds(self) -> tuple[Floats, Floats]:
        """Bound energy and cycles; inf where no mapping can be valid. # (variant of each loop, ...) each"""
        arch, table = expanded(self.arch, self.table, self.layer)
        flags = [slot.name in self.remainders for slot in arch.slots]
        problem = ProblemOfSizes(arch, self.layer, table, flags, self.costs, variants=self.variants)
        shape = tuple(map(len, self.variants))
        energy, cycles = np.full(prod(shape), np.inf), np.full(prod(shape), np.inf)
        mac_pj, leak_pj = table.compute.mac_pj(self.layer), leakage_pj(arch, table) if self.costs.leakage else 0.0
        for _, keep in problem.every_keep():
            columns = Columns(problem, keep)
            columns.macs_pj = columns.leak_pj = 0.0
            for part in np.array_split(np.arange(prod(shape)), max(1, -(-prod(shape) // AT_ONCE))):
                at = np.unravel_index(part, shape) if shape else ()
                least = LeastCosts(columns, _value(columns, problem, at, len(part)), len(part))
                sizes = self._sizes(at, len(part))
                took = np.maximum(least.cycles, least_steps(arch, self.layer, sizes))
                pj = least.energy_pj + mac_pj * sizes.prod(axis=1, dtype=float) + leak_pj * took
                took = np.where(np.isfinite(pj), took, np.inf)
                energy[part], cycles[part] = np.minimum(energy[part], pj), np.minimum(cycles[part], took)
        return energy.reshape(shape), cycles.reshape(shape)

    def _sizes(self, at: Sequence[Ints], number: int) -> Ints:
        """The sizes of all dims at some combinations of variants. # (combination, dim)"""
        sizes = np.tile(np.array(self.layer.sizes, np.int64), (number, 1))
        for own, which in zip(self.variants, at, strict=True):
            for dim in own[0]:
                sizes[:, self.layer.dims.index(dim)] = np.array([variant[dim] for variant in own])[which]
        return sizes


def _value(columns: Columns, problem: ProblemOfSizes, at: Sequence[Ints], number: int) -> Callable[[Product], Floats]:
    known: dict[Product, Floats] = {(): np.ones(number)}

    def value(product: Product) -> Floats:
        if product not in known:
            g = len(product) - 1
            loop = problem.of_sizes[g][1]
            entries = columns.columns[g][product[g]]
            known[product] = value(product[:-1]) * (entries[0] if loop is None else entries[at[loop]])
        return known[product]

    return value


def least_steps(arch: Architecture, layer: Workload, sizes: Ints) -> Floats:
    """The fewest cycles of layers of these sizes # (layer, dim), however dims are spread over the axes. # (layer,)"""
    macs = sizes.prod(axis=1, dtype=float)
    least = np.ceil(macs / arch.instances(len(arch.levels)))
    spreads = _spreads(arch, layer, sizes.max(axis=0))
    if spreads is None:
        return least
    fewest = np.full(len(sizes), np.inf)
    for spread in spreads:
        fewest = np.minimum(fewest, (-(-sizes // spread)).prod(axis=1, dtype=float))
    most: Floats = np.maximum(least, fewest)
    return most


def _spreads(arch: Architecture, layer: Workload, largest: Ints) -> Ints | None:
    """Ways to spread dims over all axes # (way, dim): no other way is wider than all of them. None: too many."""
    ways = np.ones((1, len(layer.dims)), np.int64)
    for slot in arch.slots:
        if slot.axis is not None and slot.axis.size > 1:
            allowed = [
                int(largest[d]) if slot.constraint.dims is None or dim in slot.constraint.dims else 1
                for d, dim in enumerate(layer.dims)
            ]
            own = np.array(list(_filled(slot.axis.size, allowed)), np.int64)
            if len(own) * len(ways) > MOST_SPREADS:
                return None
            ways = _widest((ways[:, None] * own[None]).reshape(-1, len(layer.dims)))
    return ways


def _filled(places: int, most: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield bounds of dims up to `most` whose product is at most `places`, the last of them as large as it can be."""
    if len(most) == 1:
        yield (max(1, min(places, most[0])),)
        return
    for bound in range(1, max(1, min(places, most[0])) + 1):
        yield from ((bound, *rest) for rest in _filled(places // bound, most[1:]))


def _widest(ways: Ints) -> Ints:
    """Leave out ways that another is at least as wide as along every dim."""
    kept: list[Ints] = []
    for way in ways[np.argsort(-ways.sum(axis=1), kind="stable")]:
        if not any((other >= way).all() for other in kept):
            kept.append(way)
    return np.array(kept)
