"""The element-by-element executor: it walks a small nest step by step and counts. The truth in tests.

Nothing here is clever on purpose, and nothing is shared with the model in counts.py: sets of words are moved
exactly as the reference machine of docs/model.md moves them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby, permutations, product
from math import prod

import numpy as np

from ...workloads import Tensor, Workload
from ..mapping import MappingBatch
from .counts import Counts
from .nests import Crossings
from .simulate_bursts import BurstCounter
from .simulate_registers import cycles_of_two_registers
from .simulate_words import Box, Instance, Words, first_words, words_under


@dataclass(frozen=True)
class Loop:
    """One loop with a bound over 1: a temporal loop of a level, or a spatial slot's share of one dim."""

    level: int
    dim: int
    bound: int
    stride: int
    slot: int


class TooLarge(ValueError):
    """The nest has more (step, instance) pairs than the caller allows."""


def simulate(batch: MappingBatch, limit: int = 20_000_000) -> Counts:
    """Execute the one mapping of `batch` and count, in arrays like those of `count`.

    Raises TooLarge when MAC steps x instances pass `limit`.
    """
    if len(batch) != 1:
        raise ValueError(f"simulate executes one mapping at a time, got a batch of {len(batch)}")
    return _Nest(batch, limit).run()


@dataclass
class _Traffic:
    """Words of one tensor between two keepers."""

    moved: dict[Instance, int] = field(default_factory=dict)  # by parent instance, sets that several need once
    crossed: dict[int, int] = field(default_factory=dict)  # by level, the parent's too: below it, several need once
    filled: dict[Instance, int] = field(default_factory=dict)  # by child instance
    drained: dict[Instance, int] = field(default_factory=dict)  # by child instance, words that leave it
    parent_seen: dict[Instance, set[tuple[int, ...]]] = field(default_factory=dict)  # every word, by parent instance
    child_seen: dict[Instance, set[tuple[int, ...]]] = field(default_factory=dict)  # every word, by child instance


class _Nest:
    """One nest of loops, and what executing it counts."""

    def __init__(self, batch: MappingBatch, limit: int) -> None:
        self.workload: Workload = batch.workload
        self.levels, self.arch = len(batch.arch.levels), batch.arch
        self.keep = batch.keep[0]
        bounds = batch.factors[0]  # (slot, dim)
        strides = np.ones_like(bounds)
        for slot in range(len(bounds) - 2, -1, -1):
            strides[slot] = strides[slot + 1] * bounds[slot + 1]
        self.temporal: list[Loop] = []  # nest order, outermost first
        self.spatial: list[Loop] = []  # outermost slot first
        for s, place in enumerate(batch.arch.slots):
            dims = self._dims if place.spatial else batch.order[0, place.level].tolist()
            loops = [Loop(place.level, d, int(bounds[s, d]), int(strides[s, d]), s) for d in dims]
            (self.spatial if place.spatial else self.temporal).extend(loop for loop in loops if loop.bound > 1)
        self.tile = [  # per boundary (a level, or the MACs last): extents of an unclipped tile per dim
            [int(strides[self._first_slot(batch, c), d] * bounds[self._first_slot(batch, c), d]) for d in self._dims]
            for c in range(self.levels)
        ] + [[1 for _ in self._dims]]
        work = prod(loop.bound for loop in self.temporal) * prod(loop.bound for loop in self.spatial)
        if work > limit:
            raise TooLarge(f"the nest has {work:,} (step, MAC) pairs; the executor takes at most {limit:,}")

    @property
    def _dims(self) -> range:
        return range(len(self.workload.dims))

    @staticmethod
    def _first_slot(batch: MappingBatch, level: int) -> int:
        return next(s for s, slot in enumerate(batch.arch.slots) if slot.level == level)

    def run(self) -> Counts:
        tensors = self.workload.tensors
        shape = (1, self.levels, len(tensors))
        tile_words, crossed = np.zeros(shape), np.zeros(shape)
        steps = sum(1 for _ in self.active_steps(self.levels))
        waits = 0 if self.arch.systolic is None else _Array(self).fill_drain(steps)
        starts = sum(cycles * sum(1 for _ in self.active_steps(level)) for level, cycles in self.arch.starts)
        counts = Counts(
            cycles=np.array([float(steps + waits + starts)]),
            reads=np.zeros(shape),
            fills=np.zeros(shape),
            updates=np.zeros(shape),
            instances=np.array([[float(len(self._instances(c))) for c in range(self.levels + 1)]]),
            origin_reads=np.zeros((1, self.levels)),
            origin_writes=np.zeros((1, self.levels)),
            drains=np.zeros(shape),
            origin_drains=np.zeros((1, self.levels)),
            inexact=np.zeros(shape, bool),
            origin_inexact=np.zeros((1, self.levels)),
            tiles=lambda: tile_words,
            fill_drain=np.array([float(waits)]),
            starts=np.array([float(starts)]),
            burst_reads=np.zeros((1, len(tensors))),
            burst_updates=np.zeros((1, len(tensors))),
            activations=np.zeros((1, len(tensors))),
            crossings=lambda _=None: Crossings(crossed, np.array([True])),
        )
        for v, tensor in enumerate(tensors):
            keepers = [level for level in range(self.levels) if self.keep[level, v]]
            for parent, child in zip(keepers, [*keepers[1:], self.levels], strict=True):
                tile = 0 if tensor.name in self.arch.levels[parent].resident else parent
                tile_words[0, parent, v] = max(len(w) for w in self.tiles(tensor, tile))
                traffic = self._pair(counts, v, tensor, parent, child)
                if self.arch.levels[parent].dram is not None:
                    bursts = BurstCounter(counts, parent, self.arch.levels[parent], self.workload)
                    bursts.add(v, partial(self.steps, tensor, child), held=child < self.levels)
                for level, words in traffic.crossed.items():
                    crossed[0, level, v] = words
        return counts

    def active_steps(self, c: int) -> Iterator[tuple[int, ...]]:
        """The steps of the loops outside boundary `c` in which some instance has a tile."""
        loops = [loop for loop in self.temporal if loop.level < c]
        for step in product(*(range(loop.bound) for loop in loops)):
            if self.box(loops, step, [], (), c) is not None:
                yield step

    def _instances(self, c: int) -> list[tuple[int, ...]]:
        """Coordinates of the instances of boundary `c` that are ever active."""
        loops = [loop for loop in self.spatial if loop.level < c]
        coordinates = product(*(range(loop.bound) for loop in loops))
        return [at for at in coordinates if self.box([], (), loops, at, c) is not None]

    def box(
        self, loops: list[Loop], step: tuple[int, ...], axes: list[Loop], at: tuple[int, ...], c: int
    ) -> Box | None:
        """The tile of boundary `c` in dims, clipped; None when it is empty."""
        start = [0 for _ in self._dims]
        for loop, index in [*zip(loops, step, strict=True), *zip(axes, at, strict=True)]:
            start[loop.dim] += index * loop.stride
        sizes = self.workload.sizes
        if any(start[d] >= sizes[d] for d in self._dims):
            return None
        return tuple((start[d], min(start[d] + self.tile[c][d], sizes[d])) for d in self._dims)

    def steps(self, tensor: Tensor, c: int) -> Iterator[list[tuple[Instance, Words]]]:
        """The instances of boundary `c` with work, and their tiles, step by step of the loops outside it."""
        loops = [loop for loop in self.temporal if loop.level < c]
        axes = [loop for loop in self.spatial if loop.level < c]
        for step in product(*(range(loop.bound) for loop in loops)):
            coordinates = list(product(*(range(loop.bound) for loop in axes)))
            boxes = [(at, self.box(loops, step, axes, at, c)) for at in coordinates]
            yield [(at, words_under(self.workload, tensor, box)) for at, box in boxes if box is not None]

    def tiles(self, tensor: Tensor, c: int) -> Iterator[Words]:
        yield from (tile for step in self.steps(tensor, c) for _, tile in step)

    def _pair(self, counts: Counts, v: int, tensor: Tensor, parent: int, child: int) -> _Traffic:
        """Run the traffic of `tensor` between keeper `parent` and its next keeper inside, `child`."""
        loops = [loop for loop in self.temporal if loop.level < child]
        axes = [loop for loop in self.spatial if loop.level < child]
        outer = sum(loop.level < parent for loop in axes)  # the leading axes tell parent instances apart
        traffic = _traffic(self, tensor, parent, child, loops, axes)
        origin_p, origin_c = (0,) * outer, (0,) * len(axes)
        total = float(sum(traffic.moved.values()))
        moved = traffic.moved[origin_p] if self.arch.levels[parent].dram is None else 0  # a DRAM moves whole bursts
        if tensor.output:
            counts.updates[0, parent, v] += total
            first = first_words(tensor, traffic.parent_seen, origin_p)
            counts.reads[0, parent, v] += total - first[0]
            counts.origin_writes[0, parent] += moved
            counts.origin_reads[0, parent] += moved and moved - first[1]
        else:
            counts.reads[0, parent, v] += total
            counts.origin_reads[0, parent] += moved
        if child < self.levels:
            first = first_words(tensor, traffic.child_seen, origin_c)
            counts.fills[0, child, v] += sum(traffic.filled.values()) - first[0]
            counts.origin_writes[0, child] += traffic.filled[origin_c] - first[1]
            if tensor.output:
                counts.drains[0, child, v] += sum(traffic.drained.values())
                counts.origin_drains[0, child] += traffic.drained[origin_c]
        return traffic


def _traffic(nest: _Nest, tensor: Tensor, parent: int, child: int, loops: list[Loop], axes: list[Loop]) -> _Traffic:
    """Step through `loops`, outermost first, with every child instance along `axes`."""
    arrays, outer = _arrays(nest, range(parent, child), axes), sum(loop.level < parent for loop in axes)
    traffic = _Traffic(crossed=dict.fromkeys(arrays, 0))
    held: dict[Instance, Words] = {}
    for step in product(*(range(loop.bound) for loop in loops)):
        served: dict[Instance, set[Words]] = {}
        crossing: set[tuple[int, Instance, Words]] = set()  # identical sets cross the array of an instance once
        for at in product(*(range(loop.bound) for loop in axes)):
            box = nest.box(loops, step, axes, at, child)
            if box is None:
                continue
            tile = words_under(nest.workload, tensor, box)
            new = tile if child == nest.levels else tile - held.get(at, frozenset())
            leaving = held.get(at, frozenset()) - tile
            traffic.drained[at] = traffic.drained.get(at, 0) + len(leaving)
            held[at] = tile
            traffic.filled[at] = traffic.filled.get(at, 0) + len(new)
            traffic.child_seen.setdefault(at, set()).update(tile)
            traffic.parent_seen.setdefault(at[:outer], set()).update(tile)
            if new:
                served.setdefault(at[:outer], set()).add(new)
                crossing |= {(level, at[:apart], new) for level, apart in arrays.items()}
        for level, _, new in crossing:
            traffic.crossed[level] += len(new)
        for instance, sets in served.items():
            traffic.moved[instance] = traffic.moved.get(instance, 0) + sum(map(len, sets))
    for at, tile in held.items():  # what is still there after the last step leaves, too
        traffic.drained[at] += len(tile)
    return traffic


def _arrays(nest: _Nest, levels: range, axes: list[Loop]) -> dict[int, int]:
    """Of each of `levels` with an array, which the words cross, how many of `axes` tell its instances apart."""
    return {i: sum(loop.level < i for loop in axes) for i in levels if nest.arch.levels[i].instances_below > 1}


class _Array:
    """The elements of the systolic array of a nest, and the tiles that they hold."""

    def __init__(self, nest: _Nest) -> None:
        assert nest.arch.systolic is not None
        self.nest, self.array = nest, nest.arch.systolic

    def fill_drain(self, steps: int) -> int:
        """The least cycles beyond those of the steps, over the tensors that may be stationary."""
        every = range(len(self.nest.workload.tensors))
        kept = self.nest.keep[self.array.level + 1 :].any(axis=0)  # by levels inside the array
        candidates = [steps * (self.array.rows + self.array.skew)]  # as if each step changed all
        for v in every:
            if (kept[v] or not kept.any()) and self._flow([other for other in every if other != v]):
                inside = range(self.array.level + 1, self.nest.levels)
                c, words = next((c for c in inside if self.nest.keep[c, v]), self.nest.levels), 1
                if c < self.nest.levels:
                    words = max(len(tile) for tile in self.nest.tiles(self.nest.workload.tensors[v], c))
                folds, exchange = self._folds(v, c), self.array.rows * words
                cycles = sum(folds) + len(folds) * (exchange + self.array.skew)
                if self.array.double_buffered:
                    output = self.nest.workload.tensors[v].output
                    cycles = cycles_of_two_registers(folds, exchange, output=output) + self.array.skew
                candidates.append(cycles - steps)
        return min(candidates)

    def _folds(self, v: int, c: int) -> list[int]:
        """The steps from each in which some instance of boundary `c` needs another tile to the next one."""
        nest, held, folds = self.nest, dict[Instance, Box](), list[int]()
        loops, axes = ([loop for loop in nest_loops if loop.level < c] for nest_loops in (nest.temporal, nest.spatial))
        for step, inside in groupby(nest.active_steps(nest.levels), lambda every: every[: len(loops)]):
            wanted = dict[Instance, Box]()
            for at in product(*(range(loop.bound) for loop in axes)):
                box = nest.box(loops, step, axes, at, c)
                if box is not None:
                    wanted[at] = self._of(v, box)
            if any(held.get(at) != tile for at, tile in wanted.items()):
                folds.append(0)
            folds[-1] += len(list(inside))
            held |= wanted
        return folds

    def _flow(self, tensors: list[int]) -> bool:
        """Whether each of the tensors can flow along a direction of its own."""
        directions = (self.array.row_slots, self.array.column_slots)
        return any(
            all(self._same(v, slots) for v, slots in zip(tensors, chosen, strict=True))
            for chosen in permutations(directions, len(tensors))
        )

    def _same(self, v: int, slots: tuple[int, ...]) -> bool:
        """Whether the elements along some axes need the same of a tensor, in the first step."""
        nest = self.nest
        first = [0 for _ in nest.temporal]
        for at in product(*(range(loop.bound) for loop in nest.spatial)):
            edge = tuple(0 if loop.slot in slots else i for loop, i in zip(nest.spatial, at, strict=True))
            box, edge_box = (nest.box(nest.temporal, tuple(first), nest.spatial, x, nest.levels) for x in (at, edge))
            if box is not None and edge_box is not None and self._of(v, box) != self._of(v, edge_box):
                return False
        return True

    def _of(self, v: int, box: Box) -> Box:
        """The part of a box that tells tiles of a tensor apart: the indices of its dims."""
        dims = self.nest.workload.tensors[v].dims
        return tuple(box[d] for d, name in enumerate(self.nest.workload.dims) if name in dims)
