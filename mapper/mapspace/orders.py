"""Loop orders: permutations of the loops whose place at a level is free, by number and by chance."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

from ...arch import Architecture
from ...workloads import Workload
from ..mapping import Bools, ChainTable, Ints, take_rows
from .integers import SAFE, BigInts, divide

Order = NDArray[np.int8]
BITS = 3  # of a place below MOST_FREE


@dataclass(frozen=True, slots=True)
class LevelOrder:
    """The loop order at one level: `outermost`, loops that are never over 1, `free` ones, `innermost`."""

    outermost: tuple[int, ...]
    idle: tuple[int, ...]
    free: tuple[int, ...]
    innermost: tuple[int, ...]

    @property
    def dims(self) -> int:
        return len(self.outermost) + len(self.idle) + len(self.free) + len(self.innermost)


def level_orders(arch: Architecture, workload: Workload, loops: tuple[frozenset[int], ...]) -> tuple[LevelOrder, ...]:
    """List the orders that each level allows; `loops` are the dims that may have a bound over 1, per slot."""
    orders = []
    for slot, members in zip(arch.slots, loops, strict=True):
        if slot.axis is None:
            outermost, innermost = (
                tuple(workload.dims.index(dim) for dim in names if dim in workload.dims)
                for names in (slot.constraint.outermost, slot.constraint.innermost)
            )
            rest = [d for d in range(len(workload.dims)) if d not in outermost + innermost]
            idle, free = (tuple(d for d in rest if (d in members) == over_one) for over_one in (False, True))
            orders.append(LevelOrder(outermost, idle, free, innermost))
    return tuple(orders)


MOST_FREE = 8  # loops, whose orders are listed: 40,320 of them


class Positions:
    """Where the loops of one level stand, from the digits of its order # (digit, mapping).

    A table holds, for the number of an order, the place of each free loop: one gather for all of them, where making the
    order and looking for each loop in it takes some twenty operations a loop.
    """

    def __init__(self, orders: LevelOrder, digits: Order) -> None:
        self.orders, self.n, self.xp = orders, digits.shape[1], digits.__array_namespace__()
        number, m = self.xp.zeros(self.n, dtype=np.int32), len(orders.free)
        for i in range(m - 1):  # the last digit is 0
            number = number * np.int32(m - i) + digits[i]
        self._places = take_rows(_listed_places(m), number) if m > 1 else number

    def of(self, d: int) -> Order:
        """Of dim d, 0 outermost. # (mapping,)"""
        orders, first = self.orders, len(self.orders.outermost + self.orders.idle)
        if d in orders.free:
            place = self._places >> np.int32(BITS * orders.free.index(d)) & np.int32(2**BITS - 1)
            return place.astype(np.int8) + np.int8(first)
        fixed = orders.outermost + orders.idle
        where = fixed.index(d) if d in fixed else first + len(orders.free) + orders.innermost.index(d)
        position: Order = self.xp.full(self.n, where, dtype=np.int8)
        return position


@cache
def _listed_places(m: int) -> NDArray[np.int32]:
    """Of each order of m loops, by number: the place of loop i in bits BITS*i on. # (order,)"""
    rest, digits = np.arange(factorial(m)), list[Order]()
    for radix in range(1, m + 1):
        rest, digit = np.divmod(rest, radix)
        digits.insert(0, digit.astype(np.int8))
    loops = _places(digits)
    packed = [np.int32(place) << (BITS * loop.astype(np.int32)) for place, loop in enumerate(loops)]
    places: NDArray[np.int32] = np.bitwise_or.reduce(packed)
    return places


class Orders:
    """All loop orders of all levels, whose temporal loops stand in the slots `temporal`.

    With `distinct`, free loops of bound 1 stay in front, the others are permuted.

    A permutation of m loops is m digits: digit i, below m - i, says which of the loops not yet placed comes next.
    """

    def __init__(self, levels: tuple[LevelOrder, ...], temporal: tuple[int, ...], distinct: bool):
        self.levels, self.temporal, self.distinct = levels, temporal, distinct

    @property
    def count(self) -> int:
        """The number of orders of all levels together, when none is equivalent to another."""
        return prod(factorial(len(level.free)) for level in self.levels)

    @property
    def digits(self) -> int:
        """How many digits all levels have together."""
        return sum(len(level.free) for level in self.levels)

    def free(self, slots: int) -> tuple[frozenset[int], ...]:
        """The dims whose loops are ordered freely, for each of so many slots."""
        free = {slot: frozenset(level.free) for slot, level in zip(self.temporal, self.levels, strict=True)}
        return tuple(free.get(slot, frozenset()) for slot in range(slots))

    def over_one(self, tables: Sequence[ChainTable], rows: Ints) -> Bools | None:
        """With `distinct`, which temporal loops have a bound over 1 # (mapping, level, dim); else None.

        `tables` has the chains of each dim, `rows` # (mapping, dim) the row of each mapping.
        """
        if not self.distinct:
            return None
        slots = list(self.temporal)
        return np.stack([t.bounds[rows[:, d]][:, slots] > 1 for d, t in enumerate(tables)], axis=2)

    def sample(self, rng: np.random.Generator, n: int, over_one: Bools | None) -> Order:
        """`n` uniform orders # (mapping, level, position); `over_one` # (mapping, level, dim) with `distinct`."""
        return self.arrange(self.draw(rng, n, over_one), n, over_one)

    def draw(self, rng: np.random.Generator, n: int, over_one: Bools | None) -> Order:
        """The digits of `n` uniform orders, level by level. # (digit, mapping)"""
        radices = [limit for radix in self._radices(over_one) for limit in radix]
        digits = np.empty((len(radices), n), np.int8)
        for place, radix in enumerate(radices):
            # the same numbers, but for an array of limits they take four times as long
            digits[place] = rng.integers(0, int(radix[0]) if len(radix) == 1 else radix, n, np.int8)
        return digits

    def unrank(self, index: BigInts, over_one: Bools | None) -> Order:
        """The orders number `index`, level 0 the most significant. # (mapping, level, position)"""
        n, radices = len(index), [limit for radix in self._radices(over_one) for limit in radix]
        digits = np.zeros((len(radices), n), np.int8)
        for place in range(len(radices) - 1, -1, -1):
            index, digits[place] = divide(index, radices[place])
        return self.arrange(digits, n, over_one)

    def nearest(self, order: Order) -> Order:
        """Each order # (mapping, level, position) with the loops whose place is given put there, the others in turn."""
        every = []
        for level, orders in enumerate(self.levels):
            own = order[:, level]
            free = own[np.isin(own, orders.free)].reshape(len(own), len(orders.free))
            front, back = (np.tile(np.array(dims, np.int8), (len(own), 1))
                           for dims in (orders.outermost + orders.idle, orders.innermost))  # fmt: skip
            every.append(np.concatenate([front, free, back], axis=1))
        return np.stack(every, axis=1)

    def rank(self, order: Order, over_one: Bools | None) -> BigInts:
        """The number of each order; ValueError for one that the constraints exclude."""
        index: BigInts = np.zeros(len(order), np.int64 if self.count < SAFE else object)
        for level, radix in enumerate(self._radices(over_one)):
            block, base = self._free_block(level, order[:, level]), self._base(level, len(order), over_one)
            if not len(radix):
                continue
            if over_one is not None:
                block = _units_as_in(base, block, over_one[:, level])
            place = (block[:, :, None] == base[:, None, :]).argmax(axis=2)  # (mapping, position)
            for i, limit in enumerate(radix):
                digit = place[:, i] - (place[:, :i] < place[:, i : i + 1]).sum(axis=1)
                index = index * limit + digit
        return index

    def _radices(self, over_one: Bools | None) -> list[Ints]:
        """Per level, how many values each digit takes: 1 for loops that stay in front. # (position, mapping or 1)"""
        radices = []
        for level, orders in enumerate(self.levels):
            radix = np.arange(len(orders.free), 0, -1)[:, None]
            if over_one is not None:
                radix = np.where(radix > over_one[:, level, orders.free].sum(axis=1), 1, radix)
            radices.append(radix)
        return radices

    def _base(self, level: int, n: int, over_one: Bools | None) -> Order:
        """The free dims in the order of digits 0. # (mapping, position)"""
        free = np.array(self.levels[level].free, np.int8)
        if over_one is None:
            return np.broadcast_to(free, (n, len(free)))
        return free[np.argsort(over_one[:, level][:, free], axis=1, kind="stable")]

    def arrange(self, digits: Order, n: int, over_one: Bools | None = None) -> Order:
        """Orders from their digits # (digit, mapping), in the array library of the digits. # (mapping, level, position)

        They lie in memory position by position, which is how they are read.
        """
        xp = digits.__array_namespace__()
        rest, columns = iter(digits), []
        for level, orders in enumerate(self.levels):
            place = _places(list(islice(rest, len(orders.free))))
            if over_one is None:
                free = [_nth(orders.free, position) for position in place]
            else:
                base = self._base(level, n, over_one)
                chosen = np.stack(place, axis=1) if place else np.empty((n, 0), np.int8)
                free = list(np.take_along_axis(base, chosen.astype(np.int64), axis=1).T)
            fixed = {d: xp.full(n, d, dtype=np.int8) for d in orders.outermost + orders.idle + orders.innermost}
            front, back = orders.outermost + orders.idle, orders.innermost
            columns += [*(fixed[d] for d in front), *free, *(fixed[d] for d in back)]
        order: Order = xp.stack(columns).reshape(len(self.levels), self.levels[0].dims, n).transpose(2, 0, 1)
        return order

    def positions(self, digits: Order, level: int) -> "Positions | None":
        """Where the loops of a level stand, from the digits of all levels; None where that takes the order itself."""
        orders = self.levels[level]
        if self.distinct or len(orders.free) > MOST_FREE:
            return None
        first = sum(len(above.free) for above in self.levels[:level])
        return Positions(orders, digits[first : first + len(orders.free)])

    def _free_block(self, level: int, order: Order) -> Order:
        """The free dims in their order # (mapping, position), after a check of the dims around them."""
        orders, n = self.levels[level], len(order)
        moving = order[~np.isin(order, orders.idle)].reshape(n, -1)
        first, last = len(orders.outermost), moving.shape[1] - len(orders.innermost)
        block = moving[:, first:last]
        fits = (moving[:, :first] == orders.outermost).all(axis=1) & (moving[:, last:] == orders.innermost).all(axis=1)
        if not (fits & (np.sort(block, axis=1) == np.array(orders.free, np.int8)).all(axis=1)).all():
            raise ValueError(f"a loop order at level {level} is not in the mapspace")
        return block


def _units_as_in(base: Order, block: Order, over_one: Bools) -> Order:
    """`block` # (mapping, position) with its loops of bound 1 moved to the front, in the order of `base`."""
    unit = ~np.take_along_axis(over_one, block.astype(np.int64), axis=1)
    ordered = np.take_along_axis(block, np.argsort(~unit, axis=1, kind="stable"), axis=1)
    return np.where(np.arange(block.shape[1]) < unit.sum(axis=1)[:, None], base, ordered)


def _places(digits: list[Order]) -> list[Order]:
    """Permutations of 0..m-1 from their digits, digit i saying which of the rest comes next. # (mapping,) each"""
    place = digits.copy()
    for i in range(len(place) - 2, -1, -1):
        for j in range(i + 1, len(place)):
            place[j] = place[j] + (place[j] >= place[i]).astype(np.int8)
    return place


def _nth(ascending: tuple[int, ...], place: Order) -> Order:
    """ascending[place], by arithmetic: steps of 1 cost less than a gather. # (mapping,)"""
    value = place + np.int8(ascending[0])
    for i, (before, after) in enumerate(pairwise(ascending), 1):
        if after - before > 1:
            value = value + np.int8(after - before - 1) * (place >= i).astype(np.int8)
    return value
