"""The mapspace: every mapping of a workload on an architecture that the constraints allow, counted and numbered.

It is the product of three sub-spaces: factorization (a chain of bounds per dim), permutation (a loop order per level)
and bypass (which tensors a level keeps). docs/mapspace.md has the definitions and the equations.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import log10, prod

import numpy as np

from ...arch import Architecture
from ...workloads import Fault, InputError, Workload
from ..mapping import Bools, ChainTable, Ints, MappingBatch
from .chains import SAFE, BigInts, ChainSpace, TooLargeError, divide
from .constraints import Limit, Rules, conflict, limits
from .coupling import Joint
from .lazy_batch import LazyBatch
from .orders import Order, Orders, level_orders
from .presets import Preset, remainders

LISTED = 2**17  # chains of one dim kept in one table; beyond that each batch has a table of its own
MOST_STATES = 2**22  # of what the dims share; more would take minutes and gigabytes


@dataclass(frozen=True, slots=True)
class Size:
    """The number of mappings: total = factorization * permutation * axes * bypass.

    `axes` is 1: every fanout axis is a slot with bounds of its own, so the ways to spread the dims over the axes are
    part of the factorization. When only distinct orders count, their number depends on the chains; factorization is
    then the number of pairs of chains and orders, and permutation is 1.
    """

    factorization: int
    permutation: int
    axes: int
    bypass: int
    total: int

    @property
    def log10(self) -> float:
        return log10(self.total)

    def __str__(self) -> str:
        """The total as a person reads it: `9,261`, or `1.3e+21` where digits no longer help."""
        if self.total < 10**12:
            return f"{self.total:,}"
        exponent = len(str(self.total)) - 1
        return f"{self.total / 10**exponent:.1f}e+{exponent}"


class Mapspace:
    """The mappings of `workload` on `arch`.

    `preset` says where bounds need not divide what they are applied to: a name, or a flag per slot; `reason` says why
    these were chosen. With `distinct`, loop orders that differ only in the place of loops of bound 1 count once.
    Raises InputError naming the constraints that exclude each other.
    """

    def __init__(
        self,
        arch: Architecture,
        workload: Workload,
        preset: Preset | tuple[bool, ...] = "ruby-s",
        *,
        distinct: bool = False,
    ):
        self.arch, self.workload, self.distinct = arch, workload, distinct
        self.remainders, self.reason = self._remainders(preset)
        self._check_names()
        temporal = tuple(index for index, slot in enumerate(arch.slots) if not slot.spatial)
        plain = Rules(arch.slots, workload.sizes, self.remainders, limits(arch, workload))
        self.orders = Orders(level_orders(arch, workload, plain.loops), temporal, distinct)
        self.rules = self._distinct_rules(plain) if distinct else plain
        self.chains = self._chains(self.rules)
        self._joint = self._combine(self.rules, self.chains)

    @property
    def imperfect(self) -> tuple[str, ...]:
        """The names of the slots that may have remainders."""
        return tuple(slot.name for slot, flag in zip(self.arch.slots, self.remainders, strict=True) if flag)

    # Sizes

    @cached_property
    def size(self) -> Size:
        """How many mappings there are, in exact integers."""
        permutation = 1 if self.distinct else self.orders.count
        bypass = 2 ** len(self._choice)
        return Size(self._joint.total // permutation, permutation, 1, bypass, self._joint.total * bypass)

    def prepare(self) -> None:
        """Make the tables that samples and numbers need, now rather than at first use.

        Raises InputError where large axes or distinct orders make them too large: `size` is known, but nothing can be
        drawn.
        """
        try:
            _ = self._joint.steps
        except TooLargeError as error:
            raise self._error([f"drawing {self._what} here needs {error}; {self._choices}"]) from None

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
        numbers, keep = divide(numbers, self.size.bypass)
        groups, ranks, order = self._joint.unrank(numbers)
        tables, rows = self._rows(groups, ranks)
        over_one = self.orders.over_one(tables, rows)
        kept = self._kept((keep.astype(self._places.dtype)[:, None] & self._places).astype(bool))
        return MappingBatch(self.arch, self.workload, tables, rows, self.orders.unrank(order, over_one), kept)

    def index(self, batch: MappingBatch) -> list[int]:
        """The number of each mapping of `batch`; ValueError if one is not in the mapspace."""
        bounds = [table.bounds[batch.rows[:, d]] for d, table in enumerate(batch.tables)]
        ranked = [space.rank(chain) for space, chain in zip(self.chains, bounds, strict=True)]
        over_one = self.orders.over_one(batch.tables, batch.rows)
        order = self.orders.rank(batch.order, over_one)
        index = self._joint.rank(np.stack([group for group, _ in ranked], axis=1), [rank for _, rank in ranked], order)
        bits = batch.keep[:, self._choice[:, 0], self._choice[:, 1]]
        if (batch.keep & ~self._may_keep | ~batch.keep & self._must_keep).any():
            raise ValueError("a choice of kept tensors is not in the mapspace")
        keep = bits @ self._places
        return [int(i) * self.size.bypass + int(k) for i, k in zip(index, keep, strict=True)]

    def batches(self, start: int = 0, stop: int | None = None, size: int = 16384) -> Iterator[MappingBatch]:
        """Mappings start, start+1, ... before `stop` (the end if None), `size` at a time."""
        stop = self.size.total if stop is None else min(stop, self.size.total)
        for first in range(start, stop, size):
            yield self.at(range(first, min(first + size, stop)))

    def every_keep(self) -> Bools:
        """Every choice of what is kept. # (choice, level, tensor)"""
        return self._kept(np.arange(self.size.bypass)[:, None] & self._places > 0)

    # Mappings by chance

    def sample(self, rng: np.random.Generator, n: int) -> MappingBatch:
        """`n` mappings, each drawn uniformly from the whole mapspace and independently of the others."""
        return self.sample_lazily(rng, n).arranged()

    def sample_lazily(self, rng: np.random.Generator, n: int) -> LazyBatch:
        """The same, but the last random numbers, of the loop orders, are drawn when first needed: `rng` is used up."""
        groups = self._joint.sample(rng, n)
        ranks = [
            # one chain in each group takes no random numbers
            below(rng, space.counts[groups[:, d]]) if space.counts.max() > 1 else np.zeros(n, np.int64)
            for d, space in enumerate(self.chains)
        ]
        tables, rows = self._rows(groups, ranks)
        parts = self.arch, self.workload, tables, rows

        @cache
        def drawn() -> Order:
            return self.orders.draw(rng, n, self.orders.over_one(tables, rows))

        def digits(places: Ints) -> Order:
            return drawn().take(places, axis=1) if len(places) else np.empty((self.orders.digits, 0), np.int8)

        if not len(self._choice):
            return LazyBatch(*parts, self._kept(np.empty((n, 0), bool)), self.orders, digits)
        drawn()  # what is kept is drawn after them
        keep = self._kept(rng.integers(0, 2, (n, len(self._choice)), np.int8).astype(bool))
        return LazyBatch(*parts, keep, self.orders, digits)

    def sample_distinct_indices(self, rng: np.random.Generator, n: int) -> list[int]:
        """`n` different numbers of mappings, every set of n equally likely, in random order."""
        total = self.size.total
        if n > total:
            raise ValueError(f"the mapspace has {total} mappings; {n} different ones were asked for")
        if total < SAFE:
            return [int(i) for i in rng.choice(total, n, replace=False)]
        found: dict[int, None] = {}
        while len(found) < n:
            found.update(dict.fromkeys(map(int, below(rng, np.full(n - len(found), total, dtype=object)))))
        return list(found)

    # Parts of a mapping

    def _rows(self, groups: Ints, ranks: Sequence[BigInts]) -> tuple[tuple[ChainTable, ...], Ints]:
        """The tables of all dims and the row in each # (mapping, dim), from the group and the number within it."""
        tables, rows = [], np.empty(groups.shape, np.int64, order="F")  # dim by dim, as they are read
        for d, (space, listed) in enumerate(zip(self.chains, self._listed, strict=True)):
            if listed is None:
                tables.append(ChainTable(space.size, space.unrank(groups[:, d], ranks[d])))
                rows[:, d] = np.arange(len(groups))
            else:
                table, first = listed
                tables.append(table)
                rows[:, d] = first[groups[:, d]] + ranks[d]
        return tuple(tables), rows

    @cached_property
    def _listed(self) -> list[tuple[ChainTable, Ints] | None]:
        """Per dim, all its chains and the first row of each group; None where there are too many."""
        listed: list[tuple[ChainTable, Ints] | None] = []
        for space in self.chains:
            if space.total > LISTED:
                listed.append(None)
                continue
            counts = space.counts.astype(np.int64)
            listed.append((every_chain(space), np.cumsum(counts) - counts))
        return listed

    @property
    def listed(self) -> bool:
        """Whether all batches share their tables; else each has some of its own."""
        return None not in self._listed

    def table(self, d: int) -> ChainTable:
        """All chains of dim d, which have to be LISTED at most."""
        listed = self._listed[d]
        assert listed is not None
        return listed[0]

    @cached_property
    def _must_keep(self) -> Bools:
        """What is kept in every mapping. # (level, tensor)"""
        must = np.array([[tensor.name in level.keep for tensor in self.workload.tensors] for level in self.arch.levels])
        must[0] = True
        return must

    @cached_property
    def _may_keep(self) -> Bools:
        """What is kept in some mapping. # (level, tensor)"""
        tensors = self.workload.tensors
        return np.array([[tensor.name not in level.bypass for tensor in tensors] for level in self.arch.levels])

    @cached_property
    def _choice(self) -> Ints:
        """The level and tensor of each free choice to keep or bypass. # (choice, 2)"""
        return np.argwhere(self._may_keep & ~self._must_keep)

    @cached_property
    def _places(self) -> BigInts:
        """The weight of each choice in a mapping's number. # (choice,)"""
        count = len(self._choice)
        return np.array([1 << i for i in reversed(range(count))], dtype=np.int64 if count < 62 else object)

    def _kept(self, choices: Bools) -> Bools:
        """What each mapping keeps # (mapping, level, tensor) from its choices # (mapping, choice)."""
        if not len(self._choice):
            return np.broadcast_to(self._must_keep, (len(choices), *self._must_keep.shape))
        keep = np.repeat(self._must_keep[None], len(choices), axis=0)
        keep[:, self._choice[:, 0], self._choice[:, 1]] = choices
        return keep

    # Construction

    def _remainders(self, preset: Preset | tuple[bool, ...]) -> tuple[tuple[bool, ...], str]:
        """Which slots may have remainders, and why."""
        if not isinstance(preset, str):
            return tuple(preset), "remainders given slot by slot"
        try:
            return remainders(self.arch, self.workload, preset)
        except TooLargeError as error:
            raise self._error([f"choosing a mapspace: {error}; choose one by name"]) from None

    def _check_names(self) -> None:
        """Contradictions between names alone: loop orders and kept tensors."""
        faults = []
        for slot in self.arch.slots:
            named = [d for d in slot.constraint.outermost + slot.constraint.innermost if d in self.workload.dims]
            for dim in sorted({d for d in named if named.count(d) > 1}):
                faults.append(f"the loop order of {slot.name} places {dim} more than once")
        for level in self.arch.levels:
            bypass = level.bypass & {tensor.name for tensor in self.workload.tensors}
            for tensor in sorted(bypass & level.keep):
                faults.append(f"{level.name} must both keep and bypass {tensor}")
            if level is self.arch.levels[0]:
                faults += [f"{level.name} is the outermost level and cannot bypass {t}" for t in sorted(bypass)]
        if faults:
            raise self._error(faults)

    def _distinct_rules(self, plain: Rules) -> Rules:
        free: list[frozenset[int]] = [frozenset()] * len(self.arch.slots)
        for slot, level in zip(self.orders.temporal, self.orders.levels, strict=True):
            free[slot] = frozenset(level.free)
        return replace(plain, distinct=tuple(free))

    def _chains(self, rules: Rules) -> tuple[ChainSpace, ...]:
        """The chains of each dim; InputError with every dim that has too many, or with the conflict of each without."""
        spaces, faults = [], []
        for d, size in enumerate(self.workload.sizes):
            try:
                spaces.append(ChainSpace(size, rules.of_dim(d)))
            except TooLargeError as error:
                faults.append(f"{self.workload.dims[d]}={size}: {error}; {self._choices}")
        if faults:
            raise self._error(faults)
        for d, space in enumerate(spaces):
            if not space.total:

                def possible(trial: Rules, d: int = d) -> bool:
                    return ChainSpace(self.workload.sizes[d], trial.of_dim(d)).total > 0

                found = conflict(rules, lambda limit, d=d: limit.dim == d, possible)  # type: ignore[misc]
                anywhere = replace(
                    rules, remainders=tuple(slot.constraint.remainders is not False for slot in rules.slots)
                )
                hint = "; with remainders it could (mapspace ruby)" if possible(anywhere) else ""
                faults.append(f"{self.workload.dims[d]}={space.size} cannot meet {_and(found)}{hint}")
        if faults:
            raise self._error(faults)
        return tuple(spaces)

    def _combine(self, rules: Rules, spaces: Sequence[ChainSpace]) -> Joint:
        """The dims together; InputError with what excludes every combination."""
        states = prod(len(one.values) for one in rules.shared)
        if states > MOST_STATES:
            rule = f"needs {states:,} joint states, more than {MOST_STATES:,}"
            raise self._error([f"counting {self._what} here {rule}; {self._choices}"])
        orders = 1 if self.distinct else self.orders.count
        joint = Joint(spaces, rules.shared, orders)
        if joint.total:
            return joint

        def possible(trial: Rules) -> bool:
            chains = [ChainSpace(size, trial.of_dim(d)) for d, size in enumerate(self.workload.sizes)]
            return Joint(chains, trial.shared).total > 0

        found = conflict(rules, lambda limit: limit.kind != "size", possible)
        axes = {limit.slot: self.arch.slots[limit.slot].axis for limit in found}
        sizes = [f"the {axis.size} places of {self.arch.slots[slot].name}" for slot, axis in axes.items() if axis]
        raise self._error(
            [f"no mapping meets {_and(found)} together" + (f", within {', '.join(sizes)}" if sizes else "")]
        )

    @property
    def _what(self) -> str:
        return "distinct loop orders" if self.distinct else "mappings"

    @property
    def _choices(self) -> str:
        """What makes a mapspace smaller."""
        fewer = "constrain the loops of some levels, choose a mapspace with fewer remainders"
        return f"{fewer}, or take all loop orders" if self.distinct else f"{fewer}, or make the dim smaller"

    def _error(self, messages: Sequence[str]) -> InputError:
        source = f"{self.workload.name} on {self.arch.name}"
        return InputError(Fault(source, None, "", message) for message in messages)


def _and(found: Sequence[Limit]) -> str:
    return " and ".join(dict.fromkeys(limit.text for limit in found))


def every_chain(space: ChainSpace) -> ChainTable:
    """All chains of one dim, group by group."""
    counts = space.counts.astype(np.int64)
    first, group = np.cumsum(counts) - counts, np.repeat(np.arange(len(counts)), counts)
    return ChainTable(space.size, space.unrank(group, np.arange(len(group)) - first[group]))


def below(rng: np.random.Generator, high: BigInts) -> BigInts:
    """A uniform integer in 0..high-1 for each `high`, of any size."""
    if high.dtype != object:
        return rng.integers(0, high)
    return np.array([_below(rng, int(each)) for each in high], dtype=object)


def _below(rng: np.random.Generator, high: int) -> int:
    size = high.bit_length()
    while True:
        drawn = int.from_bytes(rng.bytes(size // 8 + 1), "little") & ((1 << size) - 1)
        if drawn < high:
            return drawn
