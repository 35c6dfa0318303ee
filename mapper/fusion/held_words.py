"""How many words of each tensor stand in the keeper of a group, and how many move there and back.

A tensor between stages: a word stands in the keeper from the step in which it is computed to the last in which it is
needed, without being computed again. That is from the first tile of each retained loop that has it to the last, in the
order of the loops, so that words are counted loop by loop: those whose first and last tile of a loop are before and
after the present one, whatever the loops inside; and those for which the loops inside decide.

A kept tensor (`Group.kept`) has the tile of all loops inside it, as a level of a nest has: when a loop outside it
advances, the words come that it has not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import ClassVar

import numpy as np

from ..mapping import Ints
from .group import Group
from .intervals import Between, Box, Interval


def _shared(low: Ints, high: Ints, apart: int) -> Ints:
    """Count the words that each interval has in common with the one so many places after it. # (interval - apart,)"""
    shared: Ints = np.maximum(np.minimum(high[:-apart], high[apart:]) - np.maximum(low[:-apart], low[apart:]), 0)
    return shared


@dataclass(frozen=True, eq=False)
class LoopWords:
    """Of each step of one shared loop the words of a tensor along it, by their first and last tile."""

    FIGURES: ClassVar = ("inside", "ending", "beginning", "alone", "new", "old", "earlier", "later", "all")

    inside: Ints  # that began before and end later
    ending: Ints  # that began before and end in it
    beginning: Ints  # that begin in it and end later
    alone: Ints  # that begin and end in it

    @classmethod
    def of(cls, interval: Interval) -> "LoopWords":
        """Count them of intervals that move on. Words of two steps between which others need nothing stay in these."""
        low, high, words = interval.low, interval.high, interval.lengths.copy()
        filled, empty = np.flatnonzero(words), np.flatnonzero(words == 0)
        before, after, both = (np.zeros(len(words), np.int64) for _ in range(3))
        low, high = low[filled], high[filled]
        before[filled[1:]] = after[filled[:-1]] = stays = _shared(low, high, 1)  # each with the next of these
        both[filled[1:-1]] = _shared(low, high, 2)
        place = np.searchsorted(filled, empty)
        within = (place > 0) & (place < len(filled))
        for figures in (words, before, after, both):
            figures[empty[within]] = stays[place[within] - 1]
        return cls(both, before - both, after - both, words - before - after + both)

    @classmethod
    def same(cls, trips: int) -> "LoopWords":
        """Those of a loop that moves nothing: one word, from its first step to its last."""
        step = np.arange(trips)
        first, last = (step == 0), (step == trips - 1)
        return cls(*(mark.astype(np.int64) for mark in (~first & ~last, ~first & last, first & ~last, first & last)))

    @classmethod
    def first(cls, trips: int) -> "LoopWords":
        """Those of a loop in whose first step alone there is anything: one word."""
        none = np.zeros(trips, np.int64)
        return cls(none, none, none, (np.arange(trips) == 0).astype(np.int64))

    @classmethod
    def again(cls, lengths: Ints) -> "LoopWords":
        """Those of a loop in each of whose steps all is computed again."""
        none = np.zeros(len(lengths), np.int64)
        return cls(none, none, none, lengths)

    @cached_property
    def new(self) -> Ints:
        """Words that begin in a step."""
        return self.beginning + self.alone

    @cached_property
    def old(self) -> Ints:
        """Words that end in a step."""
        return self.ending + self.alone

    @cached_property
    def earlier(self) -> Ints:
        """Words that began before a step."""
        return np.cumsum(self.new) - self.new

    @cached_property
    def later(self) -> Ints:
        """Words that end after a step."""
        return self.old.sum() - np.cumsum(self.old)

    @cached_property
    def all(self) -> int:
        """The words of all steps, each once."""
        return int(self.new.sum())

    @cached_property
    def turning(self) -> list[int]:
        """The steps among which the most words are: between two of them numbers change evenly."""
        kinds = np.stack([self.inside, self.ending, self.beginning, self.alone])
        changes = np.flatnonzero((kinds[:, 1:] != kinds[:, :-1]).any(axis=0))
        return sorted({0, len(self.alone) - 1, *changes.tolist(), *(changes + 1).tolist()})


@dataclass(frozen=True, eq=False)
class HeldWords:
    """The words of a tensor between stages that stand in the keeper."""

    loops: tuple[LoopWords, ...]  # the outermost first
    still: int  # words along ranks that no loop moves
    producer: int
    last: int  # the last stage that reads it

    @classmethod
    def of(cls, group: Group, between: Between) -> "HeldWords":
        """Count those of one tensor; zeros of padding are words of what reads them."""
        loops = []
        for loop in group.loops:
            moved, trips = between.moved(loop), group.trips(loop)
            kept = loop in group.retained
            if loop in between.once:
                loops.append(LoopWords.first(trips))
            elif not moved:
                loops.append(LoopWords.same(trips) if kept else LoopWords.again(np.ones(trips, np.int64)))
            elif len(moved) > 1 or (moved[0].overlaps and not kept):
                loops.append(LoopWords.again(np.prod([interval.lengths for interval in moved], axis=0)))
            else:
                loops.append(LoopWords.of(moved[0]))
        still = prod(int(interval.lengths[0]) for interval in between.ranks if interval.loop is None)
        return cls(tuple(loops), still, between.producer, between.last)

    def most(self, stage: int) -> int:
        """The words that stand there in any step while a stage runs: all, before it is made and after it is read those
        that stay from step to step."""
        before, after = stage < self.producer, stage > self.last
        return max(
            (
                self.still * self._words(steps, 0, before, after)
                for steps in product(*(loop.turning for loop in self.loops))
            ),
            default=self.still if not (before or after) else 0,
        )

    def _words(self, steps: Sequence[int], place: int, before: bool, after: bool) -> int:
        """Words along the loops from `place` on that began and end not before the step, or are not made yet."""
        if place == len(self.loops):
            return int(not (before or after))
        loop, step = self.loops[place], steps[place]
        return (
            int(loop.inside[step]) * self._all(place + 1)
            + int(loop.ending[step]) * self._ends(steps, place + 1, after)
            + int(loop.beginning[step]) * self._begins(steps, place + 1, before)
            + int(loop.alone[step]) * self._words(steps, place + 1, before, after)
        )

    def _all(self, place: int) -> int:
        return prod(loop.all for loop in self.loops[place:])

    def _ends(self, steps: Sequence[int], place: int, after: bool) -> int:
        """Words along the loops from `place` on whose last step is not before the present one."""
        if place == len(self.loops):
            return int(not after)
        loop, step = self.loops[place], steps[place]
        later = int(loop.later[step]) * self._all(place + 1)
        return later + int(loop.old[step]) * self._ends(steps, place + 1, after)

    def _begins(self, steps: Sequence[int], place: int, before: bool) -> int:
        """Words along the loops from `place` on whose first step is not after the present one."""
        if place == len(self.loops):
            return int(not before)
        loop, step = self.loops[place], steps[place]
        earlier = int(loop.earlier[step]) * self._all(place + 1)
        return earlier + int(loop.new[step]) * self._begins(steps, place + 1, before)


@dataclass(frozen=True, eq=False)
class KeptTensor:
    """A kept tensor: its largest tile, and the words that come and go."""

    most: int  # words of its largest tile
    moved: int  # words that come in, or begin there
    distinct: int  # different words among them

    @classmethod
    def of(cls, group: Group, stage: int, name: str, box: Box) -> "KeptTensor":
        """Count that of one tensor of a stage, which computes `box`."""
        tensor = next(tensor for tensor in group.stages[stage].tensors if tensor.name == name)
        ranks = [box.along(rank) for rank in tensor.ranks]
        by_loop = {interval.loop: interval for interval in ranks if interval.loop}
        runs = {loop: box.running(loop, group.trips(loop)) for loop in group.loops}
        depth = group.depths[stage, name]
        sequence = [OuterLoop.of(by_loop.get(loop), runs[loop]) for loop in group.loops[:depth]]
        inside = prod(int(interval.lengths[0]) for interval in ranks if interval.loop is None)
        inside *= prod(OuterLoop.of(by_loop.get(loop), runs[loop]).span for loop in group.loops[depth:])
        distinct, most = prod(own.all for own in sequence), prod(own.most for own in sequence)
        return cls(most * inside, _moved(sequence) * inside, distinct * inside)


def _moved(sequence: "Sequence[OuterLoop]") -> int:
    """Words that come in: all tiles, less what is in place when a loop advances and those inside it begin anew."""
    moved = prod(own.sizes for own in sequence)
    for place, own in enumerate(sequence):
        same = prod(other.sizes for other in sequence[:place])
        moved -= same * own.stays * prod(other.turn for other in sequence[place + 1 :])
    return moved


@dataclass(frozen=True)
class OuterLoop:
    """The words of a kept tensor along one loop that may stand outside it."""

    sizes: int  # of the tiles of all steps
    stays: int  # that are in place when it advances, of all advances
    turn: int  # that are in place when it begins anew, as a loop outside it advances
    most: int  # of the largest tile
    all: int  # different words
    span: int  # around the words of all steps: the tile where the loop stands inside

    @classmethod
    def of(cls, interval: Interval | None, runs: Ints) -> "OuterLoop":
        """Count them in the steps in which the stage `runs`; a loop that does not move the tensor has one word."""
        trips = len(runs)
        if not trips:
            return cls(0, 0, 0, 0, 0, 0)
        if interval is None:
            return cls(trips, trips - 1, 1, 1, 1, 1)
        low, high, lengths = interval.low[runs], interval.high[runs], interval.lengths[runs]
        stays = _shared(low, high, 1)
        turn = max(0, int(min(high[-1], high[0]) - max(low[-1], low[0])))
        order = np.argsort(low, kind="stable")
        before = np.maximum.accumulate(np.concatenate([low[order[:1]], high[order][:-1]]))
        different = int(np.maximum(high[order] - np.maximum(low[order], before), 0).sum())
        return cls(
            int(lengths.sum()), int(stays.sum()), turn, int(lengths.max()), different, int(high.max() - low.min())
        )
