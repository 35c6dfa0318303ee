"""Timeloop's walk through a nest: which steps it takes, and what it takes them to move."""

from collections import defaultdict
from dataclasses import dataclass, field, replace
from math import prod
from typing import Self

import numpy as np

from ....workloads import Tensor
from ...mapping import Bools, Ints, unique_rows
from .boxes import difference, step, words
from .nest import Block, Box, TimeloopNest


def served(offsets: Ints, size: int) -> dict[tuple[int, int], float]:
    """The words read for elements at `offsets` # (element, rank), `size` for each place, by (multicast, scatter)."""
    if not len(offsets):
        return {}
    groups = np.unique(np.bincount(unique_rows(offsets)[1]), return_counts=True)
    return {(int(m), int(scatter)): float(size * int(scatter)) for m, scatter in zip(*groups, strict=True)}


@dataclass(frozen=True, eq=False)
class Delivery:
    """The words that the elements of an array get in one step."""

    numbers: Ints  # (element,)
    places: Ints  # (element, rank): the lowest corner of its words
    shape: list[Box]  # of the words, from that corner

    @classmethod
    def of(cls, numbers: Ints, offsets: Ints, new_boxes: list[Box]) -> Self:
        """The first element gets `new_boxes`, the others the same at their `offsets`."""
        corner = [min(box[rank][0] for box in new_boxes) for rank in range(offsets.shape[1])]
        shape = [tuple((low - at, high - at) for (low, high), at in zip(box, corner, strict=True)) for box in new_boxes]
        return cls(numbers, np.array(corner, np.int64) + offsets, sorted(shape))

    def linked(self, before: "Delivery | None", block: Block) -> Bools:
        """Which elements get what one of four neighbours had got `before`. # (element,)

        Elements are numbered along X first, as if they stood without gaps.
        """
        linked = np.zeros(len(self.numbers), bool)
        if before is None or before.shape != self.shape:
            return linked
        wide = max(block.size_x, prod(loop.bound for loop in block.spatial if loop.mesh == "X"))
        high = max(block.size_y, prod(loop.bound for loop in block.spatial if loop.mesh == "Y"))
        order = np.argsort(before.numbers, kind="stable")  # of equal numbers the last stands
        known = before.numbers[order]
        x, y = self.numbers % wide, self.numbers // wide
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            inside = (x + dx >= 0) & (x + dx < wide) & (y + dy >= 0) & (y + dy < high)
            asked = self.numbers + dx + wide * dy
            at = np.maximum(np.searchsorted(known, asked, side="right") - 1, 0)
            same = (self.places == before.places[order[at]]).all(axis=1)
            linked |= inside & (known[at] == asked) & same
        return linked


Boxes = list[Box]


@dataclass(frozen=True)
class Rules:
    """Which of the rules apply in which Timeloop's counts part from the executed ones."""

    links: bool = True  # whole tiles pass between neighbours of an array
    jumps: bool = True  # a window whose step changes is read whole
    samples: bool = True  # of the steps of a loop only the first, second and last are taken
    truncated: bool = True  # the average of used instances is cut to a whole number
    stops: bool = False  # a window that stops or starts is read whole too: before 21 January 2025 (a12fff5)
    first: bool = False  # partial sums are also filled the first time: before 2 May 2023 (386332b)

    @property
    def of_walks(self) -> "Rules":
        """These without what says nothing of a walk."""
        return replace(self, truncated=True, first=False, stops=self.stops and self.jumps)


@dataclass
class Seen:
    """What the walk remembers at the outermost loop of a memory, or of an array."""

    box: Box | None = None
    step: tuple[int, ...] | None = None
    most: int = 0  # words


@dataclass
class Movement:
    """What one memory serves the next of one tensor: words by (multicast, scatter), per instance."""

    accesses: defaultdict[tuple[int, int], float] = field(default_factory=lambda: defaultdict(float))
    links: float = 0.0  # words that a neighbour passes on instead


class Walk:
    """The walk for one tensor. `movements` and `tiles` are by block, innermost first."""

    def __init__(self, nest: TimeloopNest, tensor: Tensor, rules: Rules) -> None:
        self.nest, self.tensor, self.rules = nest, tensor, rules
        self.index, self.start = [0] * len(nest.loops), [0] * len(nest.sizes)
        self.movements = [Movement() for _ in nest.blocks]
        self.at_memory = [Seen() for _ in nest.blocks]
        self.at_array = [Seen() for _ in nest.blocks]
        self.computes: defaultdict[int, float] = defaultdict(float)  # by element of the innermost array
        self._first = [0, *(end + 1 for end in nest.ends)]  # the innermost loop of each block
        self._arrays: dict[tuple[int, tuple[bool, ...]], tuple[Ints, Ints]] = {}
        self._before: dict[int, Delivery] = {}
        self._imperfect: dict[int, int] = {}  # the innermost imperfect loop of each dim
        for number, loop in reversed(list(enumerate(nest.loops))):
            if not loop.perfect:
                self._imperfect[loop.dim] = number
        self._memory(len(nest.blocks) - 1, 1.0)

    def _last(self, number: int, dim: int) -> bool:
        """Whether all loops of a dim from `number` outwards are at their last step."""
        loops = self.nest.loops
        return all(self.index[k] + 1 >= loops[k].residual for k in range(number, len(loops)) if loops[k].dim == dim)

    def _box(self, number: int) -> Box:
        """What the loops up to `number` span."""
        full, last = (extents[number] for extents in self.nest.extents)
        extents = [last[d] if self._last(number + 1, d) else full[d] for d in range(len(self.nest.sizes))]
        return self.nest.box(self.tensor, self.start, extents)

    def _memory(self, block: int, times: float) -> Boxes:
        """Run all loops of a block. Returns what its memory has to be given anew, each time for `times`."""
        self._temporal(block, self.nest.ends[block], times)
        return self._new_boxes(self.at_memory[block], self.nest.ends[block])

    def _new_boxes(self, seen: Seen, number: int) -> Boxes:
        box = self._box(number)
        seen.most = max(seen.most, words(box))
        before, seen.box = seen.box, box
        if before is None:
            return [box]
        moved = step(before, box)
        if self.rules.jumps and (self.rules.stops or any(moved)):
            if seen.step is not None and moved != seen.step:
                seen.step = None
                return [box]
            seen.step = moved
        return difference(box, before)

    def _temporal(self, block: int, number: int, times: float) -> None:
        """Run a loop in time and those inside it in its block."""
        first, array = self._first[block], len(self.nest.blocks[block].spatial)
        if number < first + array:  # past the innermost loop in time
            self._array(block, times)
            return
        loop, stride = self.nest.loops[number], self.nest.strides[number]
        last = self._last(number + 1, loop.dim)
        trips = loop.residual if last else loop.bound
        if number == 0:
            self.computes[0] += trips * times
            self.movements[0].accesses[1, 1] += trips * times
            return
        start, total = self.start[loop.dim], 0.0
        for index, many, weight in self._samples(number, trips, last):
            self.index[number], self.start[loop.dim] = index, start + index * stride
            if number > first + array or array:
                self._temporal(block, number - 1, times * many)
            else:
                total += weight * sum(map(words, self._memory(block - 1, times * many)))
        self.start[loop.dim] = start
        if number == first and not array:
            self.movements[block].accesses[1, 1] += total * times

    def _samples(self, number: int, trips: int, last: bool) -> list[tuple[int, int, int]]:
        """The steps that are taken: (index, how many steps it stands for inside, how many for the words read here)."""
        if not self.rules.samples:
            return [(index, 1, 1) for index in range(trips)]
        loop = self.nest.loops[number]
        inner = self._imperfect.get(loop.dim, number)
        if not (last and inner < number):
            return [(0, 1, 1), (1, trips - 1, trips - 1)][:trips]
        if loop.perfect:  # the last step is taken, but the words of the second stand for it
            return (
                [(0, 1, 1), (1, trips - 2, trips - 1), (trips - 1, 1, 0)]
                if trips > 2
                else [(0, 1, 1), (1, 1, 1)][:trips]
            )
        if trips > 3:
            return [(0, 1, 1), (1, trips - 3, trips - 2), (trips - 2, 1, 0), (trips - 1, 1, 1)]
        return [(index, 1, 1) for index in range(trips)]

    def _array(self, block: int, times: float) -> None:
        """Serve the elements of an array: the first is walked through, the others are it at other places."""
        end = self._first[block] + len(self.nest.blocks[block].spatial) - 1
        for number in range(self._first[block], end + 1):
            self.index[number] = 0
        numbers, offsets = self._elements(block)
        if block:
            new_boxes = self._memory(block - 1, times)
        else:
            new_boxes = [self.nest.box(self.tensor, self.start, [0] * len(self.start))]
            for element in numbers.tolist():
                self.computes[element] += times
        size = sum(map(words, new_boxes))
        if size:
            alone = served(offsets, size)
            movement = self.movements[block]
            linked = np.zeros(len(numbers), bool)
            if self.rules.links:
                now = Delivery.of(numbers, offsets, new_boxes)
                linked = now.linked(self._before.get(block), self.nest.blocks[block])
                self._before[block] = now
            passed = served(offsets[~linked], size)
            if linked.any() and sum(passed.values()) < sum(alone.values()):
                alone = passed
                movement.links += size * times * int(linked.sum())
            for key, accesses in alone.items():
                movement.accesses[key] += accesses * times
        elif self.rules.links:
            self._before.pop(block, None)
        self._new_boxes(self.at_array[block], end)

    def _elements(self, block: int) -> tuple[Ints, Ints]:
        """The elements in use: their numbers # (element,), and how far each is from the first # (element, rank)."""
        first, spatial = self._first[block], self.nest.blocks[block].spatial
        outside = first + len(spatial)
        key = (block, tuple(self._last(outside, d) for d in range(len(self.nest.sizes))))
        if key not in self._arrays:
            places: list[tuple[int, tuple[int, ...]]] = []
            self._places(first, outside - 1, 0, [0] * len(self.nest.sizes), places)
            none = [0] * len(self.nest.sizes)
            offsets = [[low for low, _ in self.nest.box(self.tensor, at, none)] for _, at in places]
            numbers = np.array([number for number, _ in places], np.int64)
            self._arrays[key] = numbers, np.array(offsets, np.int64).reshape(len(places), -1)
        return self._arrays[key]

    def _places(
        self, first: int, number: int, base: int, at: list[int], places: list[tuple[int, tuple[int, ...]]]
    ) -> None:
        """Number the elements by the trips of the loops, outermost first."""
        if number < first:
            places.append((base, tuple(at)))
            return
        loop = self.nest.loops[number]
        trips = loop.residual if self._last(number + 1, loop.dim) else loop.bound
        start = at[loop.dim]
        for index in range(trips):
            self.index[number], at[loop.dim] = index, start + index * self.nest.strides[number]
            self._places(first, number - 1, base * trips + index, at, places)
        self.index[number], at[loop.dim] = 0, start
