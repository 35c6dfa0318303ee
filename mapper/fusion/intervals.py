"""What each stage computes in each step of the shared loops: along each of its dims an interval.

Need flows backwards. The last stage computes its tile; a stage before it computes what the stages after it read of its
output in that step, clipped at its size, less what it computed before and still has. All are boxes, and along each dim
of a stage at most one shared loop moves them, so a dim has one interval for each step of that loop.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce
from operator import or_
from typing import Self

import numpy as np

from ...workloads import Rank, Workload
from ...workloads.operators import Causal
from ..mapping import Ints
from .group import Group, Link


@dataclass(frozen=True, eq=False)
class Interval:
    """From `low` to below `high`, for each step of one shared loop; of a dim that none moves a single one. # (step,)"""

    low: Ints
    high: Ints
    loop: str | None = None  # the shared dim that moves it

    @classmethod
    def whole(cls, size: int) -> Self:
        """Make that of a dim that no loop moves."""
        return cls(np.zeros(1, np.int64), np.array([size], np.int64))

    @cached_property
    def lengths(self) -> Ints:
        """How many words there are along it. # (step,)"""
        lengths: Ints = np.maximum(self.high - self.low, 0)
        return lengths

    @property
    def span(self) -> tuple[int, int]:
        """The least interval around those of all steps that are not empty; (0, 0) where all are."""
        filled = self.lengths > 0
        return (int(self.low[filled].min()), int(self.high[filled].max())) if filled.any() else (0, 0)

    def at(self, steps: dict[str, int]) -> tuple[int, int]:
        """Its ends in a step of all shared loops."""
        step = 0 if self.loop is None else steps[self.loop]
        return int(self.low[step]), int(self.high[step])

    def around(self, other: "Interval") -> "Interval":
        """Return the least interval around both, moved by one loop or none; one that is empty counts for nothing."""
        none, other_none = self.lengths == 0, other.lengths == 0
        low = np.where(none, other.low, np.where(other_none, self.low, np.minimum(self.low, other.low)))
        high = np.where(none, other.high, np.where(other_none, self.high, np.maximum(self.high, other.high)))
        return Interval(low, high, self.loop)

    def moved(self, by: int) -> "Interval":
        """Return it in other coordinates; an empty one stays empty."""
        return replace(self, low=self.low + by, high=self.high + by)

    def clipped(self, size: int) -> "Interval":
        """Return the part of it from 0 to below `size`."""
        return replace(self, low=np.clip(self.low, 0, size), high=np.clip(self.high, 0, size))

    def of(self, steps: Ints) -> "Interval":
        """Return that of some steps alone."""
        return replace(self, low=self.low[steps], high=self.high[steps])

    @cached_property
    def overlaps(self) -> bool:
        """Whether some word is in the intervals of two steps."""
        filled = self.lengths > 0
        order = np.argsort(self.low[filled], kind="stable")
        return bool((self.low[filled][order][1:] < self.high[filled][order][:-1]).any())

    @property
    def goes_back(self) -> bool:
        """Whether some step begins or ends before the one before it."""
        filled = self.lengths > 0
        return bool((np.diff(self.low[filled]) < 0).any() or (np.diff(self.high[filled]) < 0).any())

    def new(self) -> "Interval":
        """Return the part of it that no step before has."""
        before = np.maximum.accumulate(
            np.concatenate([[np.iinfo(np.int64).min], np.where(self.lengths > 0, self.high, 0)])
        )
        return replace(self, low=np.minimum(np.maximum(self.low, before[:-1]), np.maximum(self.high, self.low)))


@dataclass(frozen=True, eq=False)
class Box:
    """What a stage computes: an interval per dim, and the shared loops in whose first step alone it does anything."""

    dims: dict[str, Interval]
    once: frozenset[str] = frozenset()  # retained loops that move nothing of it

    @property
    def idle(self) -> bool:
        """Whether nothing is computed in any step."""
        return not all(own.lengths.any() for own in self.dims.values())

    def along(self, rank: Rank) -> Interval:
        """The words of a tensor along a rank. Raises ValueError where two shared loops move it."""
        terms = [(term.coef, self.dims[term.dim]) for term in rank]
        loops = {interval.loop for _, interval in terms} - {None}
        if len(loops) > 1:
            raise ValueError(f"two shared loops, {' and '.join(sorted(map(str, loops)))}, move one window")
        low = sum((coef * own.low for coef, own in terms), np.zeros(1, np.int64))
        high = sum((coef * (own.high - 1) for coef, own in terms), np.ones(1, np.int64))
        empty = reduce(or_, (own.lengths == 0 for _, own in terms), np.zeros(1, bool))
        return Interval(np.where(empty, 0, low), np.where(empty, 0, high), next(iter(loops), None))

    def running(self, loop: str, trips: int) -> Ints:
        """The steps of a shared loop in which it may run. # (step,)"""
        mask = np.ones(1 if loop in self.once else trips, bool)
        for own in self.dims.values():
            if own.loop == loop:
                mask &= own.lengths > 0
        return np.flatnonzero(mask)


@dataclass(frozen=True, eq=False)
class Between:
    """What is needed of a tensor between stages: per rank of the producer's output, zeros of padding among it."""

    ranks: tuple[Interval, ...]
    once: frozenset[str]  # the shared loops in whose first step alone it is needed
    producer: int
    last: int  # the last stage that reads it

    def moved(self, loop: str) -> list[Interval]:
        """Return the intervals that a loop moves."""
        return [interval for interval in self.ranks if interval.loop == loop]

    def repeats(self, loop: str, trips: int) -> bool:
        """Whether some words are needed in several steps of a loop."""
        if trips == 1 or loop in self.once:
            return False
        moved = self.moved(loop)
        return all(interval.overlaps for interval in moved)

    def retains(self, loop: str | None) -> bool:
        """Whether words that a loop moves may be needed in several of its steps.

        Raises ValueError where what is new in a step is no box: the loop moves several ranks, all of whose steps
        overlap, or it goes back.
        """
        moved = [] if loop is None else self.moved(loop)
        overlapping = all(interval.overlaps for interval in moved)
        if overlapping and len(moved) > 1:
            raise ValueError(f"the loop over {loop} moves several ranks of one tensor, and its steps overlap")
        if overlapping and any(interval.goes_back for interval in moved):
            raise ValueError(f"the loop over {loop} goes back to words that it left")
        return overlapping


def boxes(group: Group) -> tuple[tuple[Box, ...], dict[int, Between]]:
    """Return what each stage computes, and what is needed of the output of each stage but the last.

    Raises ValueError for shared loops that no group can have: two that move one window, one that cuts rows which an
    operator needs whole, and one in none of whose steps some stage computes anything.
    """
    last = len(group.stages) - 1
    whole = _without_loops(group.stages, group.links) if group.shared else {}
    computed: dict[int, Box] = {last: _masked(group, last, _last_box(group, group.stages[-1]))}
    between: dict[int, Between] = {}
    for stage in reversed(range(len(group.stages) - 1)):
        links = group.consumers(stage)
        between[stage] = _needed(group, stage, links, computed, whole.get(stage))
        computed[stage] = _masked(group, stage, _computed(group, stage, between[stage]))
        if computed[stage].idle:
            raise ValueError(f"no step needs what {group.stages[stage].name} makes: zeros of padding are read alone")
        _check_rest(group, between[stage], [computed[link.consumer] for link in links])
    for stage, box in computed.items():
        _check_apart(group, stage, box)
    _check_order(group, between)
    return tuple(computed[stage] for stage in range(len(group.stages))), between


@lru_cache(maxsize=16)
def _without_loops(stages: tuple[Workload, ...], links: tuple[Link, ...]) -> dict[int, Between]:
    """Return what is needed of the output of each stage without shared loops."""
    return boxes(Group(stages, links, ""))[1]


def _check_rest(group: Group, needed: Between, readers: Sequence[Box]) -> None:
    """Raise ValueError where no reader of a tensor runs in some steps of a loop that moves nothing of it: it would be
    needed in the others alone."""
    for loop in group.loops:
        trips = group.trips(loop)
        running = np.zeros(trips, bool)
        for box in readers:
            running[box.running(loop, trips)] = True
        nothing = np.zeros(trips, bool)
        for interval in needed.moved(loop):
            nothing |= interval.lengths == 0
        if loop not in needed.once and not (running | nothing).all():
            name = group.stages[needed.producer].name
            raise ValueError(f"in some steps of {loop} no stage reads what {name} makes, of which it moves nothing")


def _check_order(group: Group, between: dict[int, Between]) -> None:
    """Raise ValueError where a loop in whose steps words are computed again stands inside one that retains: in some of
    its steps there would be words that stayed, and in others not."""
    again = [
        loop for loop in group.loops if any(needed.repeats(loop, group.trips(loop)) for needed in between.values())
    ]
    for place, loop in enumerate(again):
        retains = [outer for outer in again[:place] if outer in group.retained]
        if loop not in group.retained and retains:
            raise ValueError(
                f"the loop over {loop} computes words again, and stands inside {retains[0]}, which retains"
            )


def _last_box(group: Group, last: Workload) -> Box:
    tiles, dims = dict(group.shared), {}
    for dim, size in zip(last.dims, last.sizes, strict=True):
        if dim in tiles:
            low = np.arange(group.trips(dim), dtype=np.int64) * tiles[dim]
            dims[dim] = Interval(low, np.minimum(low + tiles[dim], size), dim)
        else:
            dims[dim] = Interval.whole(size)
    return Box(dims)


def _masked(group: Group, stage: int, box: Box) -> Box:
    """Return a box without the keys that a causal mask hides from all its queries.

    Raises ValueError where a loop over the dims that the stage adds up over cuts rows that have to be whole.
    """
    layer = group.stages[stage]
    for link in group.inputs(stage):
        if link.operator is None or not link.operator.rows:
            continue
        tensor = next(tensor for tensor in layer.tensors if tensor.name == link.tensor)
        rows = {term.dim for rank in tensor.ranks for term in rank} - layer.output.dims
        cut = sorted(dim for dim in rows if (loop := box.dims[dim].loop) is not None and group.trips(loop) > 1)
        if cut and not link.streaming:
            raise ValueError(
                f"{link.through} needs whole rows: no loop over {', '.join(cut)} is shared unless it streams"
            )
        if link.mask is not None:
            if cut:
                raise ValueError(f"with a causal mask no loop over {', '.join(cut)} is shared")
            box = replace(box, dims=box.dims | {link.mask.key: _seen(link.mask, layer, box)})
    return box


def _check_apart(group: Group, stage: int, box: Box) -> None:
    """Raise ValueError where one loop moves several ranks of a tensor that is not between stages."""
    for tensor in group.stages[stage].tensors:
        loops = [own.loop for own in map(box.along, tensor.ranks) if own.loop is not None]
        if len(set(loops)) < len(loops) and not group.intermediate(stage, tensor.name):
            raise ValueError(f"under a causal mask one loop moves several ranks of {tensor.name}")


def _seen(causal: Causal, layer: Workload, box: Box) -> Interval:
    """The keys that some query of each step sees."""
    queries, keys = box.dims[causal.query], layer.size(causal.key)
    ends = zip(queries.low.tolist(), queries.high.tolist(), strict=True)
    high = [causal.seen(low, high, keys) if high > low else 0 for low, high in ends]
    return Interval(np.zeros(len(high), np.int64), np.array(high, np.int64), queries.loop)


def _needed(
    group: Group, stage: int, links: Sequence[Link], computed: dict[int, Box], whole: Between | None
) -> Between:
    """Collect what the stages after it read of the output of a stage, in its own coordinates: along a rank around what
    all of them read, if one loop moves that; else what is needed without shared loops, `whole`."""
    reads: dict[str, list[Interval]] = {}
    for link in links:
        consumer = group.stages[link.consumer]
        tensor = next(tensor for tensor in consumer.tensors if tensor.name == link.tensor)
        for rank, (dim, zeros) in zip(tensor.ranks, link.ranks, strict=True):
            if dim is not None:
                reads.setdefault(dim, []).append(computed[link.consumer].along(rank).moved(-zeros))
    ranks = []
    for place, rank in enumerate(group.stages[stage].output.ranks):
        every = reads.get(rank[0].dim, [Interval.whole(1)])
        moved = every[0].loop is not None and all(own.loop == every[0].loop for own in every)
        ranks.append(reduce(Interval.around, every) if moved or whole is None else whole.ranks[place])
    once = frozenset.intersection(*(computed[link.consumer].once for link in links))
    return Between(tuple(ranks), once, stage, max(link.consumer for link in links))


def _computed(group: Group, stage: int, needed: Between) -> Box:
    """Return what a stage computes of what is needed of it."""
    layer = group.stages[stage]
    dims = {dim: Interval.whole(size) for dim, size in zip(layer.dims, layer.sizes, strict=True)}
    for rank, interval in zip(layer.output.ranks, needed.ranks, strict=True):
        own = interval.clipped(layer.size(rank[0].dim))
        dims[rank[0].dim] = own.new() if own.loop in group.retained and needed.retains(own.loop) else own
    moving = {interval.loop for interval in needed.ranks}
    return Box(dims, frozenset(group.retained - moving))
