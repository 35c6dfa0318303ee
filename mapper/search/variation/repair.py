"""Repairs individuals: changed bounds become chains of the mapspace, and too large tiles are made to fit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from ...mapping import Bools, ChainTable, Ints, MappingBatch, unique_rows
from ...mapspace import SAFE, Mapspace, SharedLimit, divisors
from ...model.nests import NestAnalysis, TileSizes
from .individuals import Individuals

LISTED = 50_000  # chains of a dim in a table; with more, columns for all of them would delay the first result
TABULATED = 512  # sizes whose divisors are looked up in a table


class Repair:
    """The limits of a mapspace, as they apply to arrays of bounds # (individual, slot, dim)."""

    def __init__(self, space: Mapspace) -> None:
        self.space = space
        self.sizes = space.workload.sizes
        rules = [space.rules.of_dim(d) for d in range(len(self.sizes))]
        self.low = np.array([[rule.lo for rule in own] for own in rules]).T  # (slot, dim)
        self.high = np.array([[rule.hi for rule in own] for own in rules]).T
        self._outside = _outside(self.high)
        self.divides = np.array([[not rule.remainders for rule in own] for own in rules]).T
        self._level = np.array([slot.level for slot in space.arch.slots])  # (slot,)
        self._shared = [limit for limit in space.rules.shared if _limiting(limit)]
        self._products = [(d, rule) for d in range(len(self.sizes)) for rule in space.rules.products(d)]
        self._stacks = _stacked(space)
        self._divisors = [_Divisors(size) for size in self.sizes]
        self._lists = _listed(space)

    def canonical(self, bounds: Ints) -> Bools:
        """Change `bounds` in place to near chains; mark those that keep to every dim's limits. # (individual,)"""
        return self.canonical_by_dim(bounds).all(axis=1)

    def canonical_by_dim(self, bounds: Ints) -> Bools:
        """Change `bounds` in place to near chains, inner to outer; mark those within limits. # (individual, dim)

        A bound is clipped at its limits and at what is left of the dim, and raised to what slots outside cannot take;
        where it must divide what is left, the largest divisor up to it is taken. The outermost slot takes the rest.
        """
        within = np.ones((len(bounds), len(self.sizes)), bool)
        for d, size in enumerate(self.sizes):
            remaining = np.full(len(bounds), size)
            for slot in range(len(self.low) - 1, 0, -1):
                low, high = self.low[slot, d], self.high[slot, d]
                if high == 1:
                    bounds[:, slot, d] = 1
                    continue
                least = np.maximum(low, -(-remaining // self._outside[slot, d]))
                bound = np.clip(bounds[:, slot, d], least, np.minimum(high, remaining))
                if self.divides[slot, d]:
                    bound = self._divisors[d].largest(remaining, bound)
                within[:, d] &= (low <= bound) & (low <= remaining)
                bounds[:, slot, d] = bound
                remaining = -(-remaining // bound)
            bounds[:, 0, d] = remaining
            within[:, d] &= (self.low[0, d] <= remaining) & (remaining <= self.high[0, d])
        for d, rule in self._products:
            product = bounds[:, rule.slots, d].prod(axis=1)
            within[:, d] &= (rule.lo <= product) & (product <= rule.hi)
        return within

    def chained(self, individuals: Individuals) -> tuple[Individuals, Bools]:
        """Make the bounds of `individuals` the nearest chains, with no loops in empty levels of stacks; mark the
        mappings of the mapspace, whether their tiles fit or not."""
        individuals, within = self._chained(individuals)
        for shared in self._shared:
            within &= _amount(shared, individuals.bounds) <= shared.most
        return individuals, within & self._enough(individuals.bounds)

    def _chained(self, individuals: Individuals) -> tuple[Individuals, Bools]:
        """The same, but mark those that keep to every dim's own limits."""
        bounds = individuals.bounds.copy()
        for level, slot in self._stacks:
            bounds[~individuals.keep[:, level].any(axis=1), slot] = 1
        within = self.canonical(bounds)
        individuals = replace(individuals, bounds=bounds)
        return individuals, within & _inside(self._stacks, individuals)

    def fitted(self, individuals: Individuals, rng: np.random.Generator, rounds: int) -> Individuals:
        """Make `individuals` valid: while a level or axis overflows, halve one of the bounds inside it, drawn at
        random.

        Returns those that fit after so many rounds.
        """
        return self.fitted_each(individuals, rng, rounds)[0]

    def fitted_each(self, individuals: Individuals, rng: np.random.Generator, rounds: int) -> tuple[Individuals, Ints]:
        """The same, and which of `individuals` each was. # (fit,)"""
        individuals, within = self._chained(individuals)
        individuals, who = individuals.take(within), np.flatnonzero(within)
        fit, places = [], []
        for _ in range(rounds + 1):
            over, inside = self._overflow(individuals)
            enough = self._enough(individuals.bounds)
            fit.append(individuals.take(~over & enough))
            places.append(who[~over & enough])
            over &= enough
            individuals, who, inside = individuals.take(over), who[over], inside[over]
            if not len(individuals):
                break
            can = inside[:, :, None] & (individuals.bounds > self.low)
            chance = (rng.random(can.shape) * can).reshape(len(individuals), -1)
            place, bounds = chance.argmax(axis=1), individuals.bounds.copy()
            own, rows = bounds.reshape(len(individuals), -1), np.arange(len(individuals))
            own[rows, place] = np.maximum(own[rows, place] // 2, 1)
            hope = self.canonical(bounds) & (chance[rows, place] > 0)
            individuals = replace(individuals, bounds=bounds)
            hope &= _inside(self._stacks, individuals)
            individuals, who = individuals.take(hope), who[hope]
        return Individuals.joined(fit), np.concatenate(places)

    def batch(self, individuals: Individuals) -> MappingBatch:
        """Make the batch of some individuals; dims whose chains are listed share their tables."""
        tables, rows = [], np.empty((len(individuals), len(self.sizes)), np.int64, order="F")
        for d, (size, listed) in enumerate(zip(self.sizes, self._lists, strict=True)):
            if listed is None:
                chains, rows[:, d] = unique_rows(individuals.bounds[:, :, d])
                tables.append(ChainTable(size, chains))
            else:
                tables.append(listed.table)
                rows[:, d] = listed.rows(individuals.bounds[:, :, d])
        return MappingBatch(
            self.space.arch, self.space.workload, tuple(tables), rows, individuals.order, individuals.keep
        )

    def _enough(self, bounds: Ints) -> Bools:
        """Mark those that use as much of each axis as constraints ask for. # (individual,)"""
        enough = np.ones(len(bounds), bool)
        for shared in self._shared:
            if shared.least:
                enough &= _amount(shared, bounds) >= shared.least
        return enough

    def _overflow(self, individuals: Individuals) -> tuple[Bools, Bools]:
        """Mark the individuals in which a level or axis overflows # (individual,), and the slots inside the first that
        does, whose bounds may shrink # (individual, slot)."""
        inside, over = np.zeros((len(individuals), len(self._level)), bool), np.zeros(len(individuals), bool)
        for shared in self._shared:
            more = (_amount(shared, individuals.bounds) > shared.most) & ~over
            inside[np.ix_(more, shared.slots)] = True
            over |= more
        tiles = TileSizes(NestAnalysis(self.batch(individuals)))
        for levels in self.space.arch.stacks:
            storage = self.space.arch.levels[levels[0]]
            if storage.capacity_bits is not None:
                more = (tiles.memory_bits(levels) > storage.capacity_bits // storage.multiple_buffering) & ~over
                inside[more] = self._level >= levels[0]
                over |= more
        inside[:, 0] = False  # it takes what the others leave
        return over, inside


def _outside(high: Ints) -> Ints:
    """The most that all slots outside each can take, of bounds that are at most `high` # (slot, dim)."""
    return np.array([[min(prod(own[:slot]), int(SAFE)) for own in high.T.tolist()] for slot in range(len(high))])


def _limiting(shared: SharedLimit) -> bool:
    """Whether bounds can be over a shared limit; others only tell how many distinct orders there are."""
    return shared.kind == "product" or bool(shared.more) or shared.most < len(shared.members)


def _stacked(space: Mapspace) -> list[tuple[int, int]]:
    """The levels that have no loops where they keep nothing, and their slots."""
    return [(level, space.orders.temporal[level]) for levels in space.arch.stacks for level in levels[:-1]]


class _Divisors:
    """The divisors of what may be left of a dim."""

    def __init__(self, size: int) -> None:
        self._of: dict[int, Ints] = {}
        self._table: Ints | None = None  # (number, limit): the largest divisor of the number up to the limit
        if size <= TABULATED:
            self._table = np.ones((size + 1, size + 1), np.int64)
            for divisor in range(2, size + 1):
                self._table[divisor::divisor, divisor:] = divisor

    def largest(self, numbers: Ints, limits: Ints) -> Ints:
        """Find the largest divisor of each number up to its limit. # (individual,)"""
        if self._table is not None:
            return self._table[numbers, limits]
        largest = np.empty(len(numbers), np.int64)
        different, which = np.unique(numbers, return_inverse=True)
        for i, number in enumerate(different.tolist()):
            own = self._of.get(number)
            if own is None:
                own = self._of[number] = divisors(number)
            rows = np.flatnonzero(which == i)
            largest[rows] = own[np.searchsorted(own, limits[rows], "right") - 1]
        return largest


@dataclass(frozen=True, eq=False)
class _ChainList:
    """All chains of a dim, and where each is in their table."""

    table: ChainTable
    weights: Ints  # (slot,) of the bounds in a chain's key
    keys: Ints  # (chain,) ascending
    places: Ints  # (chain,) the row of the table with that key

    @classmethod
    def of(cls, table: ChainTable) -> "_ChainList | None":
        """Sort the chains of `table`; None where keys would not fit in 64 bits."""
        radices = (table.widest + 1).tolist()
        if prod(radices) >= SAFE:
            return None
        weights = np.array([prod(radices[slot + 1 :]) for slot in range(len(radices))])
        keys = table.bounds @ weights
        places = np.argsort(keys)
        return cls(table, weights, keys[places], places)

    def rows(self, bounds: Ints) -> Ints:
        """Find the rows of chains # (individual, slot), which must all be listed. # (individual,)"""
        keys = bounds @ self.weights
        at = np.searchsorted(self.keys, keys)
        assert (self.keys[np.minimum(at, len(self.keys) - 1)] == keys).all(), "a chain of the mapspace is listed"
        return self.places[at]


def _amount(shared: SharedLimit, bounds: Ints) -> Ints:
    """Compute what the dims share at a slot. # (individual,)"""
    own = bounds[:, shared.slots][:, :, sorted(shared.members)]
    amount: Ints = own.prod(axis=(1, 2)) if shared.kind == "product" else (own > 1).sum(axis=(1, 2))
    return amount


def _inside(stacks: Sequence[tuple[int, int]], individuals: Individuals) -> Bools:
    """Mark those without loops in empty levels of stacks, where chains may have put them. # (individual,)"""
    inside = np.ones(len(individuals), bool)
    for level, slot in stacks:
        inside &= individuals.keep[:, level].any(axis=1) | (individuals.bounds[:, slot] == 1).all(axis=1)
    return inside


def _listed(space: Mapspace) -> list[_ChainList | None]:
    """The list of the chains of each dim that has few enough."""
    every = enumerate(space.chains)
    return [_ChainList.of(space.table(d)) if chains.total <= LISTED else None for d, chains in every]
