"""The mapspace: every mapping of a workload on an architecture that the constraints allow, counted and numbered.

It is the product of three sub-spaces: factorization (a chain of bounds per dim), permutation (a loop order per level)
and bypass (which tensors a level keeps). docs/mapspace.md has the definitions and the equations.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log10
from operator import mul
from typing import Self, override

import numpy as np

from ...arch import Architecture
from ...workloads import Workload
from ..mapping import Bools, ChainTable, Ints, MappingBatch
from .chain_tables import ChainTables
from .draws import Draws, different
from .frame import Frame
from .integers import SAFE
from .keep_choices import KeepChoices
from .lazy_batch import LazyBatch
from .parts import Parts
from .presets import Preset


@dataclass(frozen=True, slots=True)
class Size:
    """The number of mappings: total = factorization * permutation * axes * bypass.

    `axes` is 1: every fanout axis is a slot with bounds of its own, so the ways to spread the dims over the axes are
    part of the factorization. When only distinct orders count, their number depends on the chains; factorization is
    then the number of pairs of chains and orders, and permutation is 1. With uneven placement factorization is the sum
    over the patterns of what is kept (parts.py), each with a part of the choices: the total is less than the product.

    Where axes are so large that bounds are counted in classes (bound_classes.py), `factorization` and `total` are upper
    limits, and there are `least` mappings at least; else `least` is `total`.
    """

    factorization: int
    permutation: int
    axes: int
    bypass: int
    total: int
    least: int

    @classmethod
    def of(cls, most: Sequence[int], least: Sequence[int], permutation: int, keep: KeepChoices) -> Self:
        """The size where each pattern of `keep` has so many combinations of chains and orders, at most and at least."""
        choices = [pattern.choices.number for pattern in keep.patterns]
        totals = [sum(map(mul, counts, choices)) for counts in (most, least)]
        return cls(sum(most) // permutation, permutation, 1, keep.number, *totals)

    @property
    def log10(self) -> float:
        return log10(self.total)

    @override
    def __str__(self) -> str:
        """The total as a person reads it: `9,261`, `1.3e+21` where digits no longer help, or its limits."""
        return short(self.total) if self.exact else f"{short(self.least)} to {short(self.total)}"

    @property
    def exact(self) -> bool:
        """Whether `total` is the number of mappings and not just a limit."""
        return self.least == self.total


def short(number: int) -> str:
    """A number as a person reads it."""
    if number < 10**12:
        return f"{number:,}"
    exponent = len(str(number)) - 1
    return f"{number / 10**exponent:.1f}e+{exponent}"


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
        frame = Frame.of(arch, workload, preset, distinct=distinct, even=even)
        self.arch, self.workload, self.distinct = frame.arch, workload, distinct
        self._construction, self.reason, self.orders, self.rules = (
            frame.construction, frame.reason, frame.orders, frame.rules,
        )  # fmt: skip
        self.remainders = frame.rules.remainders
        self.keep_choices = KeepChoices(self.arch, workload, even=even)
        patterns = self.keep_choices.patterns
        self._patterns = [pattern.slots(frame.temporal) for pattern in patterns]
        self._combined = self._construction.combined(self.rules, self.common_orders, self._patterns)
        self.chains, self.width = self._combined.chains, self._combined.width
        self._parts = Parts.of(self._combined.joints, [pattern.choices for pattern in patterns])
        # numbers of mappings are below `numbers`; `gapless`: every number has one, so it is the size
        self.numbers, self.gapless = self._parts.total, self._combined.alone

    @override
    def __repr__(self) -> str:
        return _line(self)

    @property
    def common_orders(self) -> int:
        """The number of loop orders of every combination of chains: 1 where distinct orders differ in number."""
        return 1 if self.distinct else self.orders.count

    @property
    def imperfect(self) -> tuple[str, ...]:
        """The names of the slots that may have remainders."""
        flags = zip(self.arch.slots, self.remainders, strict=True)
        return tuple(dict.fromkeys(slot.name for slot, flag in flags if flag))

    # Sizes

    @cached_property
    def size(self) -> Size:
        """How many mappings there are, in exact integers; a range of them where bounds are counted in classes."""
        orders = self.common_orders
        totals = self._construction.totals(self._combined, self.rules, orders, self._patterns)
        return Size.of(*totals, orders, self.keep_choices)

    def prepare(self) -> None:
        """Make the tables that samples and numbers need and that may be too large, now rather than at first use.

        Raises InputError where distinct orders make them too large: `size` is known, but nothing can be drawn.
        """
        for joint in self._parts.joints:
            self._construction.prepare(joint)

    # Mappings by number

    def __getitem__(self, index: int) -> MappingBatch:
        """Mapping number `index`, as a batch of one."""
        return self.at([index])

    def at(self, indices: Iterable[int] | Ints) -> MappingBatch:
        """The mappings of these numbers, each in 0..numbers-1; IndexError otherwise, or where one has none."""
        numbers = [int(i) for i in indices]
        if numbers and not 0 <= min(numbers) <= max(numbers) < self.numbers:
            raise IndexError(f"a mapping's number must be in 0..{self.numbers - 1}")
        batch = self._numbered(numbers)
        if not (within := self._draws.within(batch)).all():
            raise IndexError(f"no mapping has the number {numbers[within.argmin()]}: it is beyond an axis")
        return batch

    def _numbered(self, numbers: Sequence[int]) -> MappingBatch:
        """What has these numbers, within the axes or not."""
        dtype = np.int64 if self.numbers < SAFE else object
        groups, ranks, order, keep = self._parts.unrank(np.array(numbers, dtype))
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
        """Mappings start, start+1, ... before `stop` (the end if None), `size` numbers at a time."""
        stop = self.numbers if stop is None else min(stop, self.numbers)
        for first in range(start, stop, size):
            batch = self._numbered(range(first, min(first + size, stop)))
            yield batch if self.gapless else batch.take(np.flatnonzero(self._draws.within(batch)))

    def every_keep(self) -> Bools:
        """Every choice of what is kept. # (choice, level, tensor)"""
        return self.keep_choices.every()

    # Mappings by chance

    def sample(self, rng: np.random.Generator, n: int) -> MappingBatch:
        """`n` mappings, each drawn uniformly from the whole mapspace and independently of the others."""
        return self.sample_lazily(rng, n).arranged()

    def sample_lazily(self, rng: np.random.Generator, n: int, *, same_keep: bool = False) -> LazyBatch:
        """The same, but the last random numbers, of the loop orders, are drawn when first needed: `rng` is used up.

        `same_keep`: where there are stacks of levels all keep the same.
        """
        return self._draws.batch(rng, n, same_keep=same_keep)

    def sample_distinct_indices(self, rng: np.random.Generator, n: int) -> list[int]:
        """`n` different numbers of mappings, every set of n equally likely, in random order."""
        if n > self.size.least:
            raise ValueError(f"the mapspace has {self.size} mappings; {n} different ones were asked for")
        return different(rng, n, self.numbers, lambda numbers: self._draws.within(self._numbered(numbers)))

    # Tables of chains

    @cached_property
    def _draws(self) -> Draws:
        axes = () if self.gapless else [limit for limit in self.rules.shared if limit.kind == "product"]
        return Draws(self.arch, self.workload, self._parts, self._tables, self.orders, self.keep_choices, axes)

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


def _line(space: Mapspace) -> str:
    """The mapspace in a line: how many mappings, valid or not, and where remainders may be."""
    remainders = f"remainders at {', '.join(space.imperfect)}" if space.imperfect else "no remainders"
    number = str(space.size) if space.gapless else f"up to {short(space.numbers)}"  # what is known at once
    return f"<Mapspace of {space.workload.name} on {space.arch.name}: {number} mappings, {remainders}>"
