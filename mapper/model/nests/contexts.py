"""What one dim's chain says about tiles: how many there are, how large, and what changes from one to the next.

Everything is derived per chain of a ChainTable, vectorised over its rows, and kept in the table's cache.

Words used here. A *boundary* c is a storage level, or the MACs (c = number of levels); only slots of levels
outside it matter. A *cut* j splits the temporal slots outside the boundary: those of levels < j are outer,
those of levels j..c-1 inner. A *context* is a choice of all outer temporal indices and of the spatial
coordinates; its *sequence* are the tiles that its inner temporal loops step through, clipped at the dim's size.
The digits of size-1 (the last path) decide everything: a context that is below the last path in some outer
slot before any inner one runs its full sequence; at most a few kinds of context do not.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ....arch import Architecture
from ...mapping import ChainTable, Ints, Numbers
from .level_slots import LevelSlots, level_slots


@dataclass(frozen=True, eq=False)
class Range:
    """Neighbouring coordinates of the shared fanout group whose tiles behave alike within a context."""

    count: Ints  # (chain,) coordinates; 0 where the range does not occur
    offset: Ints  # (chain,) start of the last tile of the sequence less that of the first
    first: Ints  # (chain,) extent of the first tile
    last: Ints  # (chain,) extent of the last tile


@dataclass(frozen=True, eq=False)
class Context:
    """A kind of context: how many there are, and the ranges of coordinates in each, in order."""

    times: Ints  # (chain,)
    ranges: tuple[Range, ...]


@dataclass(eq=False)
class Prefixes:
    """One dim's tiles at boundary `c`, over the spatial coordinates of levels lo..hi-1 (the others stay at 0).

    `shared` names the level whose fanout group is kept apart in the ranges of a context (children of one
    parent that may be served together); None: every coordinate is a context of its own. It does not know its table,
    whose cache it is in: a batch's own tables are gone with the batch, and not some time later.
    """

    size: int | Ints  # of the dim
    chains: int
    slots: list[LevelSlots]
    c: int
    lo: int
    hi: int
    shared: int | None = None
    numbers: type = np.float64  # see ChainTable
    _contexts: dict[tuple[int, bool], tuple[Context, ...]] = field(default_factory=dict)
    _wraps: dict[tuple[int, int], Numbers] = field(default_factory=dict)
    _numbers: dict[int, Ints] = field(default_factory=dict)

    @cached_property
    def tile(self) -> Ints:
        """Extent of a full tile. # (chain,)"""
        if self.c == 0:
            return self.slots[0].stride * self.slots[0].bound
        last = self.slots[self.c - 1]
        return last.fanout_stride if last.fanout is not None else last.stride

    @cached_property
    def clip(self) -> Ints:
        """Extent of the tile that holds the last element. # (chain,)"""
        return (self.size - 1) % self.tile + 1

    def contexts(self, cut: int, moved: bool = False) -> tuple[Context, ...]:
        """The kinds of context at `cut`; with `moved` only those whose index at level cut-1 is not the first.

        A moved context is what an increment of the temporal loop of level cut-1 leads into.
        """
        if (cut, moved) not in self._contexts:
            self._contexts[cut, moved] = tuple(_Walk(self, cut, moved).contexts())
        return self._contexts[cut, moved]

    def ranges(self, cut: int) -> Iterator[tuple[Ints, Range]]:
        """Every (number of contexts x coordinates, range) at `cut`. They are not kept: what is made of them is."""
        for context in _Walk(self, cut, moved=False).contexts():
            for part in context.ranges:
                yield context.times * part.count, part

    @cached_property
    def number(self) -> Ints:
        """N(j), the number of active contexts, for every cut j = 0..c. # (cut, chain)"""
        return np.stack([self.number_at(cut) for cut in range(self.c + 1)])

    @cached_property
    def times(self) -> Numbers:
        """The same, to be multiplied. # (cut, chain)"""
        return self.number.astype(self.numbers)

    @cached_property
    def single(self) -> Numbers:
        """Contexts whose sequence is a single tile, for every cut j = 0..c. # (cut, chain)"""
        singles = np.zeros((self.c + 1, self.chains), np.int64)
        for cut in range(self.c + 1):
            for times, part in self.ranges(cut):
                singles[cut] += times * (part.offset == 0)
        return singles.astype(self.numbers)

    def number_at(self, cut: int) -> Ints:
        """N(cut) alone. # (chain,)"""
        if cut not in self._numbers:
            self._numbers[cut] = self._number(cut)
        return self._numbers[cut]

    def _number(self, cut: int) -> Ints:
        loose = np.zeros(self.chains, np.int64)
        tight = np.ones(self.chains, np.int64)
        for level, slots in enumerate(self.slots[: self.c]):
            outer = [(slots.bound, slots.digit, level < cut)]
            if slots.fanout is not None:
                outer.append((slots.fanout, slots.fanout_digit, self.lo <= level < self.hi))
            for bound, digit, counted in outer:
                if counted:
                    loose = loose * bound + tight * digit
                else:  # the index stays 0: below the last path unless the digit is 0 too
                    loose = loose + tight * (digit > 0)
                    tight = tight * (digit == 0)
        return loose + tight

    @cached_property
    def extents(self) -> Ints:
        """S, the sum of the extents of all tiles. # (chain,)"""
        return sum((n * part.last for n, part in self.ranges(self.c)), np.zeros(self.chains, np.int64))

    def lengths(self, coef: int) -> Numbers:
        """The sum of the lengths of all tiles along a rank coef * dim. # (chain,)"""
        number = self.number_at(self.c)
        return number + coef * (self.extents - number).astype(self.numbers)

    def wrap(self, coef: int, cut: int) -> Numbers:
        """Sum what the first and the last tile of each sequence share, along a rank coef * dim. # (chain,)"""
        if (coef, cut) not in self._wraps:
            total: Numbers = np.zeros(self.chains, self.numbers)
            for times, part in self.ranges(cut):
                first, last = coef * (part.first - 1) + 1, coef * (part.last - 1) + 1
                shared = np.maximum(np.minimum(last, first - coef * part.offset), 0)
                total = total + times.astype(self.numbers) * shared
            self._wraps[coef, cut] = total
        return self._wraps[coef, cut]

    def shift(self, level: int) -> Ints:
        """How far an increment of the temporal loop of `level` moves the tile: its stride less what the
        inner loops had moved. # (chain,)"""
        inner = (slots.stride * (slots.bound - 1) for slots in self.slots[level + 1 : self.c])
        return self.slots[level].stride - sum(inner, np.zeros(self.chains, np.int64))


class _Walk:
    """One pass over the slots, outermost first, that splits contexts by how they stand to the last path.

    While the indices equal the last path's the context is tight; below it everything inside runs in full;
    above it (possible for a coordinate inside an inner loop) the innermost inner loop before with a digit
    over 0 ends one iteration early, if there is one.
    """

    def __init__(self, dim: Prefixes, cut: int, moved: bool) -> None:
        self.dim, self.cut, self.moved = dim, cut, moved
        rows = dim.chains
        self.zero, self.one = np.zeros(rows, np.int64), np.ones(rows, np.int64)
        self.inner = range(cut, dim.c)
        self.full = self.zero  # contexts that run in full
        self.tight = self.one  # the context on the last path, 0 where it does not exist
        self.other_contexts: list[Context] = []

    def contexts(self) -> Iterator[Context]:
        shared_seen = False
        for level, slots in enumerate(self.dim.slots[: self.dim.c]):
            if level < self.cut:
                if shared_seen:
                    self._outer_inside_shared(slots, moved=self.moved and level == self.cut - 1)
                else:
                    self._outer(slots, moved=self.moved and level == self.cut - 1)
            if slots.fanout is None:
                continue
            if level == self.dim.shared:
                self._share(level, slots)
                shared_seen = True
            elif self.dim.lo <= level < self.dim.hi:
                self._coordinates(level, slots)
            else:
                self._stay(level, slots)
        if shared_seen:
            yield from self.other_contexts
            return
        yield Context(self.full, (self._loose(self.one, self.cut - 1),))
        yield from self.other_contexts
        yield Context(self.tight, (self._last(self.one),))

    def _outer(self, slots: LevelSlots, moved: bool) -> None:
        steps, before = (slots.bound - 1, np.maximum(slots.digit - 1, 0)) if moved else (slots.bound, slots.digit)
        self.full = self.full * steps + self.tight * before
        if moved:
            self.tight = self.tight * (slots.digit > 0)

    def _coordinates(self, level: int, slots: LevelSlots) -> None:
        assert slots.fanout is not None
        self.full = self.full * slots.fanout
        self.other_contexts = [Context(context.times * slots.fanout, context.ranges) for context in self.other_contexts]
        if level < self.cut:  # no inner loop yet: below the path runs in full, above it nothing runs
            self.full = self.full + self.tight * slots.fanout_digit
            return
        self.other_contexts.append(Context(self.tight * slots.fanout_digit, (self._loose(self.one, level),)))
        above = slots.fanout - 1 - slots.fanout_digit
        times, part = self._borrow(level)
        self.other_contexts.append(Context(self.tight * above * times, (part,)))

    def _stay(self, level: int, slots: LevelSlots) -> None:
        below = self.tight * (slots.fanout_digit > 0)
        self.tight = self.tight * (slots.fanout_digit == 0)
        if level < self.cut:
            self.full = self.full + below
        else:
            self.other_contexts.append(Context(below, (self._loose(self.one, level),)))

    def _share(self, level: int, slots: LevelSlots) -> None:
        """Turn coordinates of the shared group into ranges of their contexts; self.others is complete after it."""
        assert slots.fanout is not None
        whole = [Context(c.times, tuple(with_count(r, slots.fanout) for r in c.ranges)) for c in self.other_contexts]
        whole.append(Context(self.full, (self._loose(slots.fanout, self.cut - 1),)))
        borrowed, part = self._borrow(level)
        above = (slots.fanout - 1 - slots.fanout_digit) * borrowed
        last = self._last(self.one)
        below = self._loose(slots.fanout_digit, level)
        ranges = (*_split(below, last), with_count(part, above))
        self.other_contexts = [*whole, Context(self.tight, ranges)]

    def _outer_inside_shared(self, slots: LevelSlots, moved: bool) -> None:
        """An outer temporal loop inside the shared group: indices below, at and above the last path's."""
        *whole, at = self.other_contexts
        steps = slots.bound - 1 if moved else slots.bound
        first = 1 if moved else 0
        below, last = at.ranges[0], at.ranges[1]
        before = np.maximum(slots.digit - first, 0)
        whole = [Context(c.times * steps, c.ranges) for c in whole]
        everyone = with_count(below, below.count + last.count)
        whole.append(Context(at.times * before, (everyone,)))
        after = np.maximum(slots.bound - np.maximum(slots.digit + 1, first), 0)
        # coordinates strictly below the last path's own
        strictly = with_count(below, below.count + last.count - 1)
        whole.append(Context(at.times * after, (strictly,)))
        ranges = (*_split(strictly, last), with_count(last, self.zero))
        self.other_contexts = [*whole, Context(at.times * (slots.digit >= first), ranges)]

    def _loose(self, count: Ints, level: int) -> Range:
        """Indices on the last path through `level`, full inside it."""
        offset = self.zero
        for i in self.inner:
            slots = self.dim.slots[i]
            offset = offset + slots.stride * (slots.digit if i <= level else slots.bound - 1)
        return Range(count, offset, self.dim.tile, self.dim.tile)

    def _borrow(self, level: int) -> tuple[Ints, Range]:
        """A coordinate above the last path's: (1 where its sequence is not empty, the sequence)."""
        offset, borrowed = self.zero, self.zero.astype(bool)
        for i in reversed(self.inner):
            slots = self.dim.slots[i]
            if i > level:
                offset = offset + slots.stride * (slots.bound - 1)
                continue
            borrows = ~borrowed & (slots.digit > 0)
            # inside the borrowing loop: full; at it: one less; outside it: on the path
            index = np.where(borrowed, slots.digit, np.where(borrows, slots.digit - 1, slots.bound - 1))
            offset = offset + slots.stride * index
            borrowed = borrowed | borrows
        return borrowed.astype(np.int64), Range(self.one, offset, self.dim.tile, self.dim.tile)

    def _last(self, count: Ints) -> Range:
        """The last path itself: its last tile is clipped."""
        offset = sum((self.dim.slots[i].stride * self.dim.slots[i].digit for i in self.inner), self.zero)
        return Range(count, offset, np.where(offset == 0, self.dim.clip, self.dim.tile), self.dim.clip)


def _split(below: Range, last: Range) -> tuple[Range, Range]:
    """The coordinates below the last path's own, and that one: joined where nothing tells them apart."""
    same = (last.offset == below.offset) & (last.last == below.last) & (last.first == below.first)
    return with_count(below, below.count + same), with_count(last, 1 - same)


def with_count(part: Range, count: Ints) -> Range:
    return Range(count, part.offset, part.first, part.last)


def prefixes(table: ChainTable, arch: Architecture, c: int, lo: int, hi: int, shared: int | None = None) -> Prefixes:
    """The (cached) Prefixes of a chain table."""
    key = ("prefixes", arch.axes, c, lo, hi, shared)
    if key not in table.cache:
        slots, numbers = level_slots(table, arch), table.numbers
        table.cache[key] = Prefixes(table.size, len(table.bounds), slots, c, lo, hi, shared, numbers)
    return table.cache[key]  # type: ignore[return-value]
