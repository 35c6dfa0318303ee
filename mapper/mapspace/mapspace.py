"""The mapspace: every mapping of a workload on an architecture that the constraints allow, counted and numbered.

It is the product of three sub-spaces: factorization (a chain of bounds per dim), permutation (a loop order per level)
and bypass (which tensors a level keeps). docs/mapspace.md has the definitions and the equations.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import log10
from typing import override

import numpy as np

from ...arch import Architecture, of_stacks, stacked
from ...workloads import Workload
from ..mapping import Bools, ChainTable, Ints, MappingBatch
from .chain_tables import ChainTables
from .constraints import Rules, even_limits, limits, temporal_stacks
from .construction import Construction
from .integers import SAFE, below, different_below
from .keep_choices import KeepChoices
from .lazy_batch import LazyBatch
from .orders import Order, Orders, level_orders
from .parts import Parts
from .presets import Preset


@dataclass(frozen=True, slots=True)
class Size:
    """The number of mappings: total = factorization * permutation * axes * bypass.

    `axes` is 1: every fanout axis is a slot with bounds of its own, so the ways to spread the dims over the axes are
    part of the factorization. When only distinct orders count, their number depends on the chains; factorization is
    then the number of pairs of chains and orders, and permutation is 1. With uneven placement factorization is the sum
    over the patterns of what is kept (parts.py), each with a part of the choices: the total is less than the product.
    """

    factorization: int
    permutation: int
    axes: int
    bypass: int
    total: int

    @property
    def log10(self) -> float:
        return log10(self.total)

    @override
    def __str__(self) -> str:
        """The total as a person reads it: `9,261`, or `1.3e+21` where digits no longer help."""
        if self.total < 10**12:
            return f"{self.total:,}"
        exponent = len(str(self.total)) - 1
        return f"{self.total / 10**exponent:.1f}e+{exponent}"


class Mapspace:
    """The mappings of `workload` on `arch`.

    `preset` says where bounds need not divide what they are applied to: a name, or a flag per slot of `arch`; `reason`
    says why. With `distinct`, loop orders that differ only in the place of loops of bound 1 count once; `even` is the
    part of an uneven one with all loops of a memory below its tensors. Raises InputError naming the constraints that
    exclude each other.
    """

    def __init__(
        self,
        arch: Architecture,
        workload: Workload,
        preset: Preset | tuple[bool, ...] = "ruby-s",
        *,
        distinct: bool = False,
        even: bool = False,
    ):
        self.arch, self.workload, self.distinct = stacked(arch, workload), workload, distinct
        self._construction = Construction(self.arch, workload, distinct)
        flags = preset if isinstance(preset, str) else of_stacks(preset, arch, self.arch)
        self.remainders, self.reason = self._construction.remainders(flags)
        self._construction.check_names()
        arch, temporal = self.arch, tuple(index for index, slot in enumerate(self.arch.slots) if not slot.spatial)
        patterned = tuple(slot for slots in temporal_stacks(arch) for slot in slots[:-1])
        every = limits(arch, workload) + (even_limits(arch, workload) if even else ())
        plain = Rules(arch.slots, workload.sizes, self.remainders, every, patterned=patterned)
        self.orders = Orders(level_orders(arch, workload, plain.loops), temporal, distinct)
        self.rules = replace(plain, distinct=self.orders.free(len(self.arch.slots))) if distinct else plain
        self.chains = self._construction.chains(self.rules)
        self.keep_choices = KeepChoices(arch, workload, even=even)
        orders = 1 if distinct else self.orders.count
        patterns = self.keep_choices.patterns
        slots = [pattern.slots(temporal) for pattern in patterns]
        joints = self._construction.joints(self.rules, self.chains, orders, slots)
        self._parts = Parts.of(joints, [pattern.choices for pattern in patterns])

    @property
    def imperfect(self) -> tuple[str, ...]:
        """The names of the slots that may have remainders."""
        flags = zip(self.arch.slots, self.remainders, strict=True)
        return tuple(dict.fromkeys(slot.name for slot, flag in flags if flag))

    # Sizes

    @cached_property
    def size(self) -> Size:
        """How many mappings there are, in exact integers."""
        permutation, bypass = 1 if self.distinct else self.orders.count, self.keep_choices.number
        joints, total = self._parts.joints, self._parts.total
        return Size(sum(joint.total for joint in joints) // permutation, permutation, 1, bypass, total)

    def prepare(self) -> None:
        """Make the tables that samples and numbers need, now rather than at first use.

        Raises InputError where large axes or distinct orders make them too large: `size` is known, but nothing can be
        drawn.
        """
        for joint in self._parts.joints:
            self._construction.prepare(joint)

    # Mappings by number

    def __getitem__(self, index: int) -> MappingBatch:
        """Mapping number `index`, as a batch of one."""
        return self.at([index])

    def at(self, indices: Iterable[int] | Ints) -> MappingBatch:
        """The mappings of these numbers, each in 0..size-1; IndexError otherwise."""
        numbers = np.array(list(indices), dtype=object)
        if len(numbers) and not (numbers.min() >= 0 and numbers.max() < self.size.total):
            raise IndexError(f"a mapping's number must be in 0..{self.size.total - 1}")
        if self.size.total < SAFE:
            numbers = numbers.astype(np.int64)
        groups, ranks, order, keep = self._parts.unrank(numbers)
        tables, rows = self._tables.rows(groups, ranks)
        orders = self.orders.unrank(order, self.orders.over_one(tables, rows))
        return MappingBatch(self.arch, self.workload, tables, rows, orders, keep)

    def index(self, batch: MappingBatch) -> list[int]:
        """The number of each mapping of `batch`; ValueError if one is not in the mapspace."""
        bounds = [table.bounds[batch.rows[:, d]] for d, table in enumerate(batch.tables)]
        ranked = [space.rank(chain) for space, chain in zip(self.chains, bounds, strict=True)]
        over_one = self.orders.over_one(batch.tables, batch.rows)
        order = self.orders.rank(batch.order, over_one)
        groups, ranks = np.stack([group for group, _ in ranked], axis=1), [rank for _, rank in ranked]
        return [int(i) for i in self._parts.rank(groups, ranks, order, batch.keep)]

    def batches(self, start: int = 0, stop: int | None = None, size: int = 16384) -> Iterator[MappingBatch]:
        """Mappings start, start+1, ... before `stop` (the end if None), `size` at a time."""
        stop = self.size.total if stop is None else min(stop, self.size.total)
        for first in range(start, stop, size):
            yield self.at(range(first, min(first + size, stop)))

    def every_keep(self) -> Bools:
        """Every choice of what is kept. # (choice, level, tensor)"""
        return self.keep_choices.every()

    # Mappings by chance

    def sample(self, rng: np.random.Generator, n: int) -> MappingBatch:
        """`n` mappings, each drawn uniformly from the whole mapspace and independently of the others."""
        return self.sample_lazily(rng, n).arranged()

    def sample_lazily(self, rng: np.random.Generator, n: int, *, alike: bool = False) -> LazyBatch:
        """The same, but the last random numbers, of the loop orders, are drawn when first needed: `rng` is used up.

        `alike`: where there are stacks of levels all keep the same.
        """
        groups, part = self._parts.sample(rng, n, alike=alike)
        ranks = [
            # one chain in each group takes no random numbers
            below(rng, space.counts[groups[:, d]]) if space.counts.max() > 1 else np.zeros(n, np.int64)
            for d, space in enumerate(self.chains)
        ]
        tables, rows = self._tables.rows(groups, ranks)

        @cache
        def drawn() -> Order:
            return self.orders.draw(rng, n, self.orders.over_one(tables, rows))

        def digits(places: Ints) -> Order:
            return drawn().take(places, axis=1) if len(places) else np.empty((self.orders.digits, 0), np.int8)

        if self.keep_choices.number > 1:
            drawn()  # what is kept is drawn after them
        keep = self._parts.sample_keep(rng, part, alike=alike and bool(self.keep_choices.stacks))
        return LazyBatch(self.arch, self.workload, tables, rows, keep, self.orders, digits)

    def sample_distinct_indices(self, rng: np.random.Generator, n: int) -> list[int]:
        """`n` different numbers of mappings, every set of n equally likely, in random order."""
        total = self.size.total
        if n > total:
            raise ValueError(f"the mapspace has {total} mappings; {n} different ones were asked for")
        return different_below(rng, total, n)

    # Tables of chains

    @cached_property
    def _tables(self) -> ChainTables:
        return ChainTables(self.chains)

    @property
    def listed(self) -> bool:
        """Whether all batches share their tables; else each has some of its own."""
        return self._tables.shared

    def table(self, d: int) -> ChainTable:
        """All chains of dim d, which have to be LISTED at most (chain_tables.py)."""
        return self._tables.table(d)
