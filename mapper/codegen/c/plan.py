"""What becomes of each loop: unrolled in registers, summed up there, run by threads; and where tiles are copied."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from ..nest import Loop, Nest, separate_dims

STATEMENTS = 1024  # multiply-and-add statements that are written out, at most, over all cases of remainders


@dataclass(frozen=True, order=True)
class Copy:
    """A tile of one tensor, copied to a buffer where it changes."""

    place: int  # before this loop
    level: int
    tensor: int


@dataclass(frozen=True)
class Lanes:
    """Some steps of the loop of lanes: a vector of `width`, a power of two, from `start` on."""

    start: int
    width: int


@dataclass(frozen=True, eq=False)
class Plan:
    """The roles of the loops of a nest: [0, sums) run, [sums, tile) add up in registers, [tile, end) are unrolled."""

    nest: Nest

    @cached_property
    def copies(self) -> list[Copy]:
        """The copies, in the order in which they are made.

        A tile changes with the loops over its dims. Those that threads run as one step each change nothing.
        """
        nest, copies = self.nest, []
        for level in nest.levels("buffer"):
            outside = [i for i in range(nest.first_of(level)) if i not in self.parallel]
            for v, relevant in enumerate(nest.relevant):
                if nest.keep[level][v]:
                    place = 1 + max((i for i in outside if nest.loops[i].dim in relevant), default=-1)
                    copies.append(Copy(place, level, v))
        return sorted(copies)

    @cached_property
    def parallel(self) -> list[int]:
        """The places of the loops whose steps go to threads: they make different outputs."""
        safe = separate_dims(self.nest.workload)
        loops = self.nest.loops[: self.tile]
        return [i for i, loop in enumerate(loops) if loop.code == "threads" and loop.dim in safe]

    @property
    def threads(self) -> int:
        """The threads that run it."""
        return prod(self.nest.loops[place].bound for place in self.parallel)

    def private(self, copy: Copy) -> bool:
        """Whether each thread copies a tile of its own: the level is inside the axis, each core has one."""
        return any(place < self.nest.first_of(copy.level) for place in self.parallel)

    def later(self, copy: Copy) -> list[int]:
        """The places of the parallel loops around a level that begin after the copy."""
        return [i for i in self.parallel if copy.place <= i < self.nest.first_of(copy.level)]

    def known_from(self, place: int) -> int:
        """The place from which on the step of a parallel loop is known: inside the loops around it over its dim."""
        d = self.nest.loops[place].dim
        return 1 + max((i for i in range(place) if self.nest.loops[i].dim == d and i not in self.parallel), default=-1)

    @cached_property
    def tile(self) -> int:
        """The place of the first loop that is unrolled.

        These are the loops from the registers on, or the lanes alone, as far as STATEMENTS allows; none where windows
        of the output overlap, as then two registers might hold one word.
        """
        nest, end = self.nest, len(self.nest.loops)
        registers, lanes = nest.levels("registers"), [i for i, loop in enumerate(nest.loops) if loop.code == "lanes"]
        first = nest.first_of(registers[0]) if registers else min(lanes, default=end)
        first = max([first, *(nest.first_of(level) for level in nest.levels("buffer") if any(nest.keep[level]))])
        if not nest.relevant[nest.output] <= separate_dims(nest.workload) | self._of_size_one:
            return end
        return next(place for place in range(first, end + 1) if self._statements(place) <= STATEMENTS)

    @property
    def _of_size_one(self) -> frozenset[int]:
        return frozenset(d for d, size in enumerate(self.nest.workload.sizes) if size == 1)

    @cached_property
    def sums(self) -> int:
        """The place of the first loop of those directly outside the tile that leave the output where it is."""
        first = max((copy.place for copy in self.copies), default=0)
        place = self.tile
        while place > first and self.nest.loops[place - 1].dim not in self.nest.relevant[self.nest.output]:
            place -= 1
        return place

    @cached_property
    def lanes(self) -> int | None:
        """The place of the loop whose steps are the lanes of vectors; None where the lanes have none of stride 1.

        Of several it is the one along the last rank of the output, whose words lie side by side, else the longest.
        """
        loops, dims = self.nest.loops, self.nest.workload.dims
        able = [i for i in range(self.tile, len(loops)) if loops[i].code == "lanes" and loops[i].stride == 1]
        ranks = self.nest.workload.output.ranks
        last = {term.dim for term in ranks[-1]} if ranks else set()
        return max(able, key=lambda i: (dims[loops[i].dim] in last, loops[i].bound), default=None)

    def outer(self, place: int) -> int | None:
        """The place of the next loop over the same dim outside `place`; None where it is the outermost."""
        d = self.nest.loops[place].dim
        return next((i for i in range(place - 1, -1, -1) if self.nest.loops[i].dim == d), None)

    def last(self, d: int, place: int) -> int | None:
        """The place of the innermost loop over dim d outside `place`."""
        return next((i for i in range(place - 1, -1, -1) if self.nest.loops[i].dim == d), None)

    def cut(self, d: int, place: int) -> bool:
        """Whether the size of dim d cuts off the last of the tiles that the loops from `place` on run through."""
        return self.nest.workload.sizes[d] % self.nest.tile(d, place) != 0

    def choices(self, place: int) -> list[int]:
        """The dims whose tile from `place` on is either whole or a remainder, as a program finds while it runs."""
        inside = dict.fromkeys(loop.dim for loop in self.nest.loops[place:])
        return [d for d in inside if self.last(d, place) is not None and self.cut(d, place)]

    def extents(self, place: int, whole: dict[int, bool]) -> dict[int, int]:
        """The steps along each dim that the loops from `place` on run through, where `whole` tells of each choice."""
        sizes, steps = self.nest.workload.sizes, {}
        for loop in self.nest.loops[place:]:
            d, tile = loop.dim, self.nest.tile(loop.dim, place)
            if self.last(d, place) is None:
                steps[d] = min(tile, sizes[d])
            else:
                steps[d] = tile if whole.get(d, True) else sizes[d] % tile
        return steps

    def points(self, extents: dict[int, int]) -> Iterator[tuple[dict[int, int], Lanes]]:
        """The offsets of the dims at each step of the tile, in turn, and the lanes of it that are inside `extents`."""
        loops, lanes = self.nest.loops, self.lanes
        steps = [
            [(loop.dim, step * loop.stride) for step in range(loop.bound)]
            for place, loop in enumerate(loops[self.tile :], self.tile)
            if place != lanes
        ]
        for chosen in product(*steps):
            at = dict.fromkeys(extents, 0)
            for d, offset in chosen:
                at[d] += offset
            if all(at[d] < extents[d] for d in at):
                if lanes is None:
                    yield at, Lanes(0, 1)
                else:
                    yield from ((at, part) for part in self._parts(loops[lanes], at, extents))

    @staticmethod
    def _parts(loop: Loop, at: dict[int, int], extents: dict[int, int]) -> Iterator[Lanes]:
        start, remaining = 0, min(loop.bound, extents[loop.dim] - at[loop.dim])
        while remaining:
            width = 1 << (remaining.bit_length() - 1)
            yield Lanes(start, width)
            start, remaining = start + width, remaining - width

    def _statements(self, place: int) -> int:
        """The statements that unrolling from `place` on would write, at most."""
        bounds = [loop.bound if loop.code != "lanes" else loop.bound.bit_length() for loop in self.nest.loops[place:]]
        return prod(bounds) << len(self.choices(place))
