"""Lists every chain of bounds that the mapspace allows a dim, and groups the dims that share a sliding window.

Implemented again for the checker, from docs/mapspace.md section 1 alone: read a chain from the innermost slot
outwards, with N = size at first; a slot with bound P, 1 <= P <= N, leaves ceil(N / P); the outermost slot takes the
rest. Where a slot may have no remainders, P divides N.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from ....arch import Architecture, LoopConstraint, Slot
from ....workloads import Workload
from ...mapping import Bools, Ints
from .memories import memories


@dataclass(frozen=True, eq=False)
class Chains:
    """All chains of one dim in lexicographic order, with products of their bounds. Level 0 is the outermost.

    A level's fanout axes count as one spatial loop, whose bound is the product of theirs.
    """

    arch: Architecture
    size: int | Ints  # of the dim; of chains of several sizes that of each # (chain,)
    bounds: Ints  # (chain, slot)

    def __len__(self) -> int:
        return len(self.bounds)

    def _of_level(self, level: int, *, spatial: bool) -> list[int]:
        slots = enumerate(self.arch.slots)
        return [s for s, slot in slots if slot.level == level and slot.spatial == spatial]

    @cached_property
    def time(self) -> Ints:
        """The bounds of the temporal loops. # (chain, level)"""
        return self._products(spatial=False)

    @cached_property
    def space(self) -> Ints:
        """The bounds of the spatial loops. # (chain, level)"""
        return self._products(spatial=True)

    def _products(self, *, spatial: bool) -> Ints:
        levels = [self.bounds[:, self._of_level(i, spatial=spatial)] for i in range(len(self.arch.levels))]
        return np.stack([bounds.prod(axis=1) for bounds in levels], axis=1)

    @cached_property
    def space_step(self) -> Ints:
        """How far a step of each spatial loop moves the tile: the extent of all loops inside it. # (chain, level)"""
        inner = (self.time * self.space)[:, ::-1].cumprod(axis=1)[:, ::-1]
        return np.concatenate([inner[:, 1:], np.ones((len(self), 1), np.int64)], axis=1)

    @cached_property
    def time_step(self) -> Ints:
        """How far a step of each temporal loop moves the tile. # (chain, level)"""
        return self.space_step * self.space

    def tile(self, boundary: int) -> Ints:
        """Compute the extent of a full tile at level `boundary`; len(levels) means the MACs. # (chain,)"""
        return self.space_step[:, boundary - 1] if boundary else self.time[:, 0] * self.time_step[:, 0]

    def last(self, step: Ints, bound: Ints) -> Ints:
        """Compute the index of a loop at the last element of the dim. # (chain,)"""
        return (self.size - 1) // step % bound

    def take(self, which: Ints) -> "Chains":
        """Return the chains number `which` alone."""
        size = self.size if isinstance(self.size, int) else self.size[which]
        return Chains(self.arch, size, self.bounds[which])


MOST_CHAINS = 1 << 21  # of one dim


class TooManyChains(Exception):
    """A dim has more chains than MOST_CHAINS."""


def every_chain(arch: Architecture, size: int, dim: str, remainders: Sequence[bool]) -> Chains:
    """List all chains of `dim` that the slots' constraints allow. Raises TooManyChains."""
    tiles, chains = np.array([size]), np.zeros((1, 0), np.int64)
    for s in range(len(arch.slots) - 1, -1, -1):
        slot = arch.slots[s]
        several = slot.axis is None and arch.levels[slot.level].memory != ""
        low, high = _limits(slot, dim, size, several=several)
        if s == 0:
            stay = (low <= tiles) & (tiles <= high)
            chains = np.column_stack([tiles, chains])[stay]
            return Chains(arch, size, _sorted(chains[_within(arch, dim, size, chains)]))
        if len(tiles) > MOST_CHAINS or min(size, high) > MOST_CHAINS:
            raise TooManyChains(f"more than {MOST_CHAINS:,} chains of {dim}")
        owner, bound = _choices(tiles, low, high, remainders=remainders[s])
        chains, tiles = np.column_stack([bound, chains[owner]]), -(-tiles[owner] // bound)
    raise ValueError("an architecture has a level at least")


def _limits(slot: Slot, dim: str, size: int, *, several: bool) -> tuple[int, int]:
    """Compute the least and the largest bound of `dim` that the constraints of a slot allow.

    `several`: it is one of several of a memory, whose bounds the constraints on factors are about together.
    """
    high = size if slot.axis is None else min(size, slot.axis.size)
    low, high = _factors(slot.constraint, dim, size, high)
    low = 1 if several else low  # the other factors of a product may make it
    if slot.constraint.dims is not None and dim not in slot.constraint.dims:
        high = min(high, 1)
    return low, high


def _factors(constraint: LoopConstraint, dim: str, size: int, most: int) -> tuple[int, int]:
    """Compute the least and the largest product of loops over `dim` that the rules on factors allow, up to `most`."""
    low, high = 1, most
    for rule in constraint.factors:
        if rule.dim == dim:
            value = size if rule.value is None else rule.value
            low = max(low, value) if rule.op != "<=" else low
            high = min(high, value) if rule.op != ">=" else high
    return low, high


def _within(arch: Architecture, dim: str, size: int, chains: Ints) -> Bools:
    """Mark the chains # (chain, slot) whose bounds at the slots of each memory with several levels meet its rules on
    factors together. # (chain,)"""
    within = np.ones(len(chains), bool)
    for memory in memories(arch):
        if memory.several:
            slots = [s for s, slot in enumerate(arch.slots) if slot.axis is None and slot.level in memory.levels]
            low, high = _factors(memory.storage.temporal, dim, size, size ** len(slots))
            together = chains[:, slots].prod(axis=1)
            within &= (low <= together) & (together <= high)
    return within


def _choices(tiles: Ints, low: int, high: int, *, remainders: bool) -> tuple[Ints, Ints]:
    """List the bounds that each number of tiles in `tiles` allows: per bound the index in `tiles`, and the bound."""
    values, which = np.unique(tiles, return_inverse=True)
    by_number = [_bounds(int(n), low, high, remainders=remainders) for n in values]
    numbers = np.array([len(options) for options in by_number], np.int64)
    owner = np.repeat(np.arange(len(tiles)), numbers[which])
    bounds = [by_number[i] for i in which.tolist()]
    return owner, np.concatenate(bounds) if bounds else np.zeros(0, np.int64)


def _bounds(n: int, low: int, high: int, *, remainders: bool) -> Ints:
    every = np.arange(low, min(n, high) + 1)
    return every if remainders else every[n % every == 0]


def _sorted(bounds: Ints) -> Ints:
    return bounds[np.lexsort(bounds.T[::-1])]


def tied_dims(workload: Workload) -> list[tuple[int, ...]]:
    """Group the dims of size over 1: dims that one rank of a tensor adds up are together. If there are none: dim 0."""
    groups = [{d} for d, size in enumerate(workload.sizes) if size > 1]
    for tensor in workload.tensors:
        for rank in tensor.ranks:
            rank_dims = {workload.dims.index(term.dim) for term in rank if workload.size(term.dim) > 1}
            tied = set().union(*(group for group in groups if group & rank_dims))
            groups = [group for group in groups if not group & rank_dims] + ([tied] if tied else [])
    return [tuple(sorted(group)) for group in sorted(groups, key=min)] or [(0,)]


@dataclass(frozen=True, eq=False)
class Group:
    """Dims that share a window, or a single dim, with a row for each combination of their chains.

    In the numbering of rows the last dim's chain changes fastest. With `chosen` it has these rows alone.
    """

    dims: tuple[int, ...]
    chains: tuple[Chains, ...]  # per dim
    chosen: tuple[Ints, ...] | None = None  # per dim, the chain of each row # (row,) each

    def __len__(self) -> int:
        return prod(map(len, self.chains)) if self.chosen is None else len(self.chosen[0])

    @cached_property
    def rows(self) -> dict[int, Ints]:
        """The chain of each row, per dim. # (row,) each"""
        every = self.chosen or np.unravel_index(np.arange(len(self)), [len(chains) for chains in self.chains])
        return dict(zip(self.dims, every, strict=True))

    def take(self, rows: Ints) -> "Group":
        """Return the same dims with some of the rows alone, and with the chains that these have."""
        used = [np.unique(self.rows[d][rows], return_inverse=True) for d in self.dims]
        chains = tuple(own.take(which) for own, (which, _) in zip(self.chains, used, strict=True))
        return Group(self.dims, chains, tuple(places for _, places in used))

    def of(self, d: int) -> tuple[Chains, Ints]:
        """Return the chains of dim d, and the index of each row's chain. # (row,)"""
        return self.chains[self.dims.index(d)], self.rows[d]
