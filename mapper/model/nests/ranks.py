"""Words along one rank of a tensor: summed tile lengths, and overlaps of consecutive tiles.

A rank is a sum of terms coef*dim. Its tile is the interval from the first to the last index, of length
sum coef*(extent-1) + 1. Moved words are tile sizes less overlaps of consecutive tiles; this file gives both
sums along one rank, over all contexts (contexts.py) of the rank's dims. Ranks multiply (data_movement.py).

When two dims of a window are spread over the same fanout, children on a diagonal need the same words and are
served by one read. Then sums run over distinct tiles; docs/model.md, "windows", has the argument.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import product
from math import prod
from operator import mul
from typing import Self

import numpy as np

from ...mapping import Bools, Ints, Numbers
from ...runtime import Deadline, no_deadline
from .blocked_ranks import BlockedRank
from .context_combinations import context_combinations, summed
from .contexts import Prefixes, Range, with_count

CLASS_STEPS, ROWS_A_STEP = 60, 8  # steps of a class of increments: for itself, and for so many rows one


def distinct_sums(count_a: Ints, count_b: Ints, step_a: Ints, step_b: Ints) -> Ints:
    """How many different values a*i + b*j takes for i < count_a, j < count_b (steps a, b >= 1)."""
    g = np.gcd(step_a, step_b)
    twice = np.maximum(count_a - step_b // g, 0) * np.maximum(count_b - step_a // g, 0)
    distinct: Ints = count_a * count_b - twice
    return distinct


@dataclass(frozen=True, eq=False)
class Overlap:
    """Sums over all increments. # (combination,) each, or # (choice of cuts, combination) where stacked

    An increment leads into tiles T, each with an overlap O with the tile before. `words` sums |O|; `kept` sums
    |T| over distinct (T, O) with O not empty; `kept_by_all` sums |T| over the distinct T of which every child
    that needs T holds some. Without sharing the last two are equal.
    """

    words: Numbers
    kept: Numbers
    kept_by_all: Numbers

    def first(self) -> "Overlap":
        """Of stacked sums those of the first choice of cuts."""
        return Overlap(self.words[0], self.kept[0], self.kept_by_all[0])


@dataclass(eq=False)
class RankView:
    """One rank between a parent and a child boundary: combinations of chains, one row each."""

    coefs: tuple[int, ...]
    parts: tuple[Prefixes, ...]  # one per dim of the rank (dims of size 1 left out)
    rows: tuple[Ints, ...]  # per dim: the chain of each combination
    parent: int | None = None  # the parent's level when children of one parent may share; None: they may not
    block: int = 1  # so many neighbouring indices count as one word: blocks that a tile touches
    deadline: Deadline = no_deadline
    _overlaps: dict[tuple[int | None, int], Overlap] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return len(self.rows[0])

    @property
    def numbers(self) -> type:
        """What sums are held in (ChainTable)."""
        return self.parts[0].numbers

    @cached_property
    def spread(self) -> list[Ints]:
        """Per dim the coordinates below one parent. # (combination,) each"""
        one = np.ones(self.n, np.int64)
        if self.parent is None:
            return [one for _ in self.parts]
        fanouts = [[s.fanout for s in part.slots[self.parent : part.c]] for part in self.parts]
        return [
            reduce(mul, (f[rows] for f in dim_fanouts if f is not None), one)
            for dim_fanouts, rows in zip(fanouts, self.rows, strict=True)
        ]

    @cached_property
    def meets(self) -> Bools:
        """Where more than one dim is spread below one parent, so that children's tiles can coincide."""
        return np.sum([s > 1 for s in self.spread], axis=0) > 1

    @cached_property
    def shared(self) -> bool:
        return all(part.shared is not None for part in self.parts) and len(self.parts) == 2

    @property
    def _shared_level(self) -> int:
        level = self.parts[0].shared
        assert level is not None
        return level

    def _group(self, i: int) -> tuple[Ints, Ints, Ints]:
        """Bound, last digit and stride of the shared fanout group of dim i. # (combination,) each"""
        slots, rows = self.parts[i].slots[self._shared_level], self.rows[i]
        assert slots.fanout is not None
        return slots.fanout[rows], slots.fanout_digit[rows], slots.fanout_stride[rows]

    @cached_property
    def exact(self) -> Bools:
        """Where the sums are the executor's; elsewhere they may count a word for each of two children that
        one read serves. # (combination,)"""
        if not self.meets.any():
            return np.ones(self.n, bool)
        if not self.shared:
            return ~self.meets
        ragged = []
        elsewhere, inside = np.zeros(self.n, bool), np.zeros(self.n, bool)
        for i, (part, rows) in enumerate(zip(self.parts, self.rows, strict=True)):
            fanout, digit, _ = self._group(i)
            short = (digit + 1 < fanout) | (part.clip != part.tile)[rows]
            for slots in part.slots[self._shared_level + 1 : part.c]:  # loops that children run by themselves
                short |= (slots.digit + 1 < slots.bound)[rows]
                inside |= (slots.bound > 1)[rows]
            ragged.append(short)
            elsewhere |= fanout != self.spread[i]
        unlike = np.logical_and.reduce(ragged) | inside & np.logical_or.reduce(ragged)
        exact: Bools = ~(self.meets & (unlike | elsewhere))
        return exact

    def length(self, extents: Sequence[Ints]) -> Ints:
        """Length of the interval of tiles with these extents. # (combination,)"""
        return sum((c * (e - 1) for c, e in zip(self.coefs, extents, strict=True)), np.ones(self.n, np.int64))

    @cached_property
    def sizes(self) -> Numbers:
        """Sum of the lengths of the tiles of all steps: of every child, or distinct ones when shared."""
        if self._blocks is not None:
            return self._blocks.sizes().astype(self.numbers)
        if len(self.parts) == 1:
            return self.parts[0].lengths(self.coefs[0])[self.rows[0]]
        total: Numbers = np.zeros(self.n, self.numbers)
        for met in context_combinations([[part.contexts(part.c)] for part in self.parts], self.rows):
            view = self._at(met.combination)
            for parts in product(*met.ranges):
                words = met.times.astype(self.numbers) * view._distinct(parts) * view.length([p.last for p in parts])
                total = total + summed(words, met.combination, self.n)
        return total

    def overlap(self, moving: int | None, level: int) -> Overlap:
        """Overlaps at increments at `level` of the rank's dim number `moving` (None: of a dim outside it), a row
        per choice of which of the other dims' loops of that level lie outside. # (2**others, combination)
        """
        key = (moving, level)
        if key not in self._overlaps:
            self._overlaps[key] = self._at_increments(moving, level)
        return self._overlaps[key]

    def most_overlap(self, moving: int, level: int) -> Numbers:
        """The words of `overlap`, the most over its choices; nothing is kept of it. # (combination,)"""
        most: Numbers = self._at_increments(moving, level).words.max(axis=0)
        return most

    @cached_property
    def _blocks(self) -> BlockedRank | None:
        """What sums count where not words are counted but blocks."""
        return None if self.block == 1 else BlockedRank(self.coefs, self.parts, self.rows, self.block)

    def _at_increments(self, moving: int | None, level: int) -> Overlap:
        return self._overlap(moving, level, [[level, level + 1] for _ in self.parts])

    def wrap(self, cuts: Sequence[int]) -> Overlap:
        """Overlaps at increments of a loop of a dim outside this rank, with this rank's dims cut at `cuts`."""
        return self._overlap(None, 0, [[cut] for cut in cuts]).first()

    def wrap_words(self, cuts: Sequence[int]) -> Numbers:
        """The words of `wrap`. # (combination,)"""
        if self._blocks is not None:
            return self._blocks.held(cuts).astype(self.numbers)
        if len(self.parts) == 1:
            return self.parts[0].wrap(self.coefs[0], cuts[0])[self.rows[0]]
        return self.wrap(cuts).words.copy()  # without the other figures

    def _overlap(self, moving: int | None, level: int, cuts: Sequence[Sequence[int]]) -> Overlap:
        """Overlaps at increments of the temporal loop of the rank's dim number `moving` at `level`, a row per choice
        of one of `cuts` for each other dim."""
        if self._blocks is not None:
            chosen = list(product(*([level + 1] if i == moving else own for i, own in enumerate(cuts))))
            held: Numbers = np.stack([self._blocks.held(own, moving) for own in chosen]).astype(self.numbers)
            kept: Numbers = np.stack([self._blocks.kept(own, moving) for own in chosen]).astype(self.numbers)
            return Overlap(held, kept, kept)
        step = np.zeros(self.n, np.int64)
        contexts = [[part.contexts(cut) for cut in own] for part, own in zip(self.parts, cuts, strict=True)]
        if moving is not None:
            part = self.parts[moving]
            step = self.coefs[moving] * part.shift(level)[self.rows[moving]]
            contexts[moving] = [part.contexts(level + 1, moved=True)]
        choices = prod(len(own) for own in contexts)
        totals: Numbers = np.zeros((3, choices * self.n), self.numbers)
        for met in context_combinations(contexts, self.rows):
            increment = _Increment(self._at(met.combination), moving, step[met.combination])
            where = met.choice * self.n + met.combination
            sums = increment.overlap(met.times.astype(self.numbers), met.ranges)
            totals = totals + np.stack([summed(figures, where, choices * self.n) for figures in sums])
        return Overlap(*totals.reshape(3, choices, self.n))

    def _at(self, combination: Ints) -> Self:
        """The same of some combinations."""
        return replace(self, rows=tuple(rows[combination] for rows in self.rows), _overlaps={})

    def _distinct(self, parts: Sequence[Range]) -> Ints:
        """Different tiles among the coordinates of one range per dim. # (combination,)"""
        counts = [part.count for part in parts]
        if not self.shared:
            return reduce(mul, counts)
        steps = [coef * self._group(i)[2] for i, coef in enumerate(self.coefs)]
        return distinct_sums(counts[0], counts[1], steps[0], steps[1])


@dataclass(frozen=True, eq=False)
class _Increment:
    """An increment of one loop, for every combination: the tile moves by `step` along dim `moving`, the loops inside
    start anew. `moving` None: the loop is of a dim outside the rank, and nothing of the rank moves by itself.
    """

    view: RankView
    moving: int | None
    step: Ints  # (combination,)

    def overlap(self, times: Numbers, ranges: list[list[Range]]) -> tuple[Numbers, Numbers, Numbers]:
        """The sums of an Overlap for the tiles of `ranges`, per dim those that the increments lead into, and the tiles
        before; of contexts that occur so many `times`."""
        view = self.view
        words: Numbers = np.zeros(view.n, view.numbers)
        kept, by_all, missed = words, words, np.zeros(view.n, np.int64)
        for parts in self._classes(ranges):
            view.deadline(CLASS_STEPS + view.n // ROWS_A_STEP)
            size, overlap = self._pair(parts)
            distinct = view._distinct(parts)
            every = times * distinct
            words = words + every * overlap
            held = np.where(overlap > 0, every * size, 0)
            kept = kept + held
            apart = _apart(parts, ranges)
            by_all = by_all + np.where(apart, held, 0)
            missed = missed + np.where(apart | (overlap > 0), 0, distinct)
        full = [Range(_whole(r), r[0].offset, r[0].first, r[0].last) for r in ranges]
        common = np.maximum(view._distinct(full) - missed, 0)
        by_all = by_all + times * common * view.length([part.first for part in full])
        return words, kept, by_all

    def _pair(self, parts: Sequence[Range]) -> tuple[Ints, Ints]:
        """|T| and |O| of the tiles with these ranges. # (combination,) each"""
        view, delta, before = self.view, self.step, []
        for i, (coef, part) in enumerate(zip(view.coefs, parts, strict=True)):
            if i == self.moving:
                before.append(view.parts[i].tile[view.rows[i]])
            else:
                delta = delta - coef * part.offset
                before.append(part.last)
        size, old = view.length([part.first for part in parts]), view.length(before)
        overlap = np.minimum(old, delta + size) - np.maximum(delta, 0)
        return size, np.maximum(overlap, 0)

    def _classes(self, ranges: list[list[Range]]) -> list[tuple[Range, ...]]:
        """One range per dim each; a last range whose overlap is that of the range below it joins that range, where
        the other dims' coordinates are all alike."""
        firsts = [parts[0] for parts in ranges]
        joined = []
        for i, parts in enumerate(ranges):
            if len(parts) == 1:
                joined.append(parts)
                continue
            below, last, *above = parts
            low, high = ([*firsts[:i], part, *firsts[i + 1 :]] for part in (below, last))
            same = (below.offset == last.offset) & (below.first == last.first)
            same &= self._pair(low)[1] == self._pair(high)[1]
            for part in (part for j, other in enumerate(ranges) if j != i for part in other[1:]):
                same &= part.count == 0
            joined.append(
                [with_count(below, below.count + last.count * same), with_count(last, last.count * ~same), *above]
            )
        return list(product(*joined))


def _apart(parts: Sequence[Range], ranges: list[list[Range]]) -> Bools:
    """Where a class's tile is clipped unlike the others of its context: it shares with none of them."""
    return np.any([part.first != r[0].first for part, r in zip(parts, ranges, strict=True)], axis=0)


def _whole(ranges: list[Range]) -> Ints:
    """Coordinates of a context whose first tiles are alike: all but a clipped last one."""
    if len(ranges) == 1:
        return ranges[0].count
    below, last, above = ranges
    same: Ints = last.count * (last.first == below.first)
    return below.count + above.count + same
