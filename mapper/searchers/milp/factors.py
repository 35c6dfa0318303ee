"""The variables of a programme: how many of each prime of a dim are at each slot; and the limits of a mapspace."""

from collections import Counter
from collections.abc import Sequence
from math import log

import numpy as np

from ....workloads import Tensor
from ...mapping import Bools, Floats, Ints
from ...mapspace import Mapspace, SharedLimit
from .log_sums import LogSum, Product, Window
from .programme import Form, Programme, total

Counts = dict[tuple[int, int], list[tuple[int, Form]]]  # by slot and dim: each prime with its number


def primes(number: int) -> Counter[int]:
    """Count the prime factors of a number.

    >>> sorted(primes(360).items())
    [(2, 3), (3, 2), (5, 1)]
    """
    counts, factor = Counter[int](), 2
    while factor * factor <= number:
        while number % factor == 0:
            counts[factor] += 1
            number //= factor
        factor += 1
    if number > 1:
        counts[number] += 1
    return counts


class Factors:
    """The bounds of perfect mappings that keep the tensors `keep` # (level, tensor), in logarithms.

    `sizes` lists the sizes that each dim may have: its own, and perhaps some above it. The programme chooses.
    """

    def __init__(self, programme: Programme, space: Mapspace, keep: Bools, sizes: Sequence[Sequence[int]]) -> None:
        self.programme, self.space, self.keep = programme, space, keep
        self.dims = range(len(sizes))
        slots = range(len(space.arch.slots))
        self.most = [[space.rules.bounds(slot, d)[1] for d in self.dims] for slot in slots]
        for levels in space.arch.stacks:  # levels of a stack have no loops where they keep nothing
            for level in levels[:-1]:
                if not keep[level].any():
                    self.most[space.orders.temporal[level]] = [1] * len(self.dims)
        self.counts: Counts = {(slot, d): [] for slot in slots for d in self.dims}
        for d, own in enumerate(sizes):
            self._divide(d, own)
        self.bound = [
            [total(count * log(prime) for prime, count in self.counts[slot, d]) for d in self.dims] for slot in slots
        ]
        self._loops: dict[tuple[int, int], Form] = {}
        self._limit()
        for shared in space.rules.shared:
            self._share(shared)

    def temporal(self, level: int, dims: Sequence[int]) -> Form:
        """Return the temporal iterations of some dims at a level."""
        return total(self.bound[self.space.orders.temporal[level]][d] for d in dims)

    def spatial(self, levels: range, dims: Sequence[int]) -> Form:
        """Return the instances over which the axes of some levels spread some dims."""
        slots = [s for s, slot in enumerate(self.space.arch.slots) if slot.spatial and slot.level in levels]
        return total(self.bound[s][d] for s in slots for d in dims)

    def tile(self, level: int, tensor: Tensor, parent: int | None = None) -> Product:
        """Return the words of a tensor's tile at a level; one at the MACs. With a `parent`, of all tiles below it that
        stand side by side."""
        side = range(0) if parent is None else range(parent, level)
        level = (
            0
            if level < len(self.space.arch.levels) and tensor.name in self.space.arch.levels[level].resident
            else level
        )
        workload, forms, windows = self.space.workload, list[Form](), list[Window]()
        for rank in tensor.ranks:
            terms = [(term.coef, workload.dims.index(term.dim)) for term in rank]
            sides = [
                (coef, self._extent(level, d) + self.spatial(side, [d])) for coef, d in terms if workload.sizes[d] > 1
            ]
            if len(sides) == 1 and sides[0][0] == 1:
                forms.append(sides[0][1])
            elif sides:
                windows.append(Window(tuple(sides)))
        return Product(total(forms), tuple(windows))

    def capacities(self) -> list[LogSum]:
        """List the shares of the memories' capacities that the tiles take: each is 0 at most."""
        shares = []
        for levels in self.space.arch.stacks:
            storage = self.space.arch.levels[levels[0]]
            if storage.capacity_bits is None:
                continue
            room, tiles = storage.capacity_bits // storage.multiple_buffering, list[Product]()
            for level, (v, tensor) in (
                (lv, numbered_tensor) for lv in levels for numbered_tensor in enumerate(self.space.workload.tensors)
            ):
                if self.keep[level, v]:
                    tile, bits = self.tile(level, tensor), storage.bits(tensor.name, tensor.word_bits)
                    tiles.append(Product(tile.form + (log(bits) - log(max(room, 0.5))), tile.windows))
            if tiles:
                shares.append(LogSum(tiles))
        return shares

    def bounds(self, point: Floats) -> Ints:
        """Return the bounds of a solution. # (slot, dim)"""
        bounds = np.ones((len(self.most), len(self.dims)), np.int64)
        for (slot, d), counts in self.counts.items():
            for prime, count in counts:
                bounds[slot, d] *= prime ** round(count.at(point))
        return bounds

    def _extent(self, level: int, d: int) -> Form:
        """Return the extent of a level's tile along a dim."""
        inside = (s for s, slot in enumerate(self.space.arch.slots) if slot.level >= level)
        return total(self.bound[slot][d] for slot in inside)

    # Variables and limits

    def _divide(self, d: int, sizes: Sequence[int]) -> None:
        """Make the counts of a dim's primes, which are together those of one of its sizes."""
        add, every = self.programme, [primes(size) for size in sizes]
        chosen = [Form({}, 1.0)] if len(sizes) == 1 else [add.choice() for _ in sizes]
        add.require(total(chosen), 1.0, 1.0)
        for prime in sorted(set[int]().union(*every)):
            needed = total(choice * own[prime] for choice, own in zip(chosen, every, strict=True))
            for slot, most in enumerate(self.most):
                largest = next(n for n in range(most[d].bit_length(), -1, -1) if prime**n <= most[d])
                number = min(largest, max(own[prime] for own in every))
                if number:
                    count = add.variable(0, number, whole=True)
                    self.counts[slot, d].append((prime, count))
                    needed = needed - count
            add.require(needed, 0.0, 0.0)

    def _limit(self) -> None:
        """Keep to the limits of each dim."""
        rules = self.space.rules
        for slot, forms in enumerate(self.bound):
            for d, form in enumerate(forms):
                self.programme.require(form, log(rules.bounds(slot, d)[0]), log(self.most[slot][d]))
        for d in self.dims:
            for rule in rules.products(d):
                form = total(self.bound[slot][d] for slot in rule.slots)
                self.programme.require(form, log(rule.lo), log(rule.hi))

    def _share(self, shared: SharedLimit) -> None:
        """Keep to a limit on all dims: the product of their bounds, or how many are over 1."""
        places = [(slot, d) for slot in shared.slots for d in sorted(shared.members)]
        if shared.kind == "product":
            form = total(self.bound[slot][d] for slot, d in places)
            self.programme.require(form, log(max(shared.least, 1)), log(shared.most))
        elif shared.least or shared.most < len(places):
            self.programme.require(total(self.loop(*place) for place in places), shared.least, shared.most)

    def loop(self, slot: int, d: int) -> Form:
        """Return 1 where a dim has a bound over 1 at a slot, else 0."""
        if (slot, d) not in self._loops:
            number = total(count for _, count in self.counts[slot, d])
            self._loops[slot, d] = choice = self.programme.choice()
            self.programme.require(number - choice * max(self.programme.most(number), 0.0), most=0.0)
            self.programme.require(number - choice, least=0.0)
        return self._loops[slot, d]
