"""Exact access counts of a batch of mappings on the reference machine (docs/model.md)."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from ...workloads import Tensor
from ..mapping import Bools, Ints, Mappings, Numbers, keeper_pairs
from .nests import Crossings, DataMovement, NestAnalysis, TileSizes, crossings
from .systolic import fill_drain


@dataclass(eq=False)
class Counts:
    """What executing the nests would count. Words are totals over all instances of a level.

    Of a batch they are float64, of a mapping that is reported Python integers (recount.py).
    """

    # (mapping,) temporal steps with any active MAC, and what fills and drains a systolic array, and starts
    cycles: Numbers
    reads: Numbers  # (mapping, level, tensor)
    fills: Numbers  # (mapping, level, tensor)
    updates: Numbers  # (mapping, level, tensor)
    instances: Numbers  # (mapping, level) instances ever active; the last column counts MAC units
    origin_reads: Numbers  # (mapping, level) words read at the busiest instance, the spatial origin
    origin_writes: Numbers  # (mapping, level) words filled and updated there
    drains: Numbers  # (mapping, level, tensor) words that move up to the next keeper, as far as `reads` has them not
    origin_drains: Numbers  # (mapping, level) the same at the spatial origin
    inexact: Bools  # (mapping, level, tensor) reads may exceed the executor's, never fall short (docs/model.md)
    origin_inexact: Numbers  # (mapping, level) of origin_reads the words of such reads
    tiles: Callable[[], Numbers]  # makes tile_words, which costs nothing where nobody asks
    fill_drain: Numbers  # (mapping,) of the cycles those in which a systolic array fills and drains
    starts: Numbers  # (mapping,) of the cycles those in which tiles of memories begin
    # makes the words that cross the arrays, which only wires need; from the batch's analysis, where the caller has it
    crossings: Callable[..., Crossings]

    @cached_property
    def tile_words(self) -> Numbers:
        """The largest tile of one instance; 0 where bypassed. # (mapping, level, tensor)"""
        return self.tiles()

    @property
    def exact(self) -> Bools:
        """Where all counts are the executor's. # (mapping,)"""
        return ~self.inexact.any((1, 2))

    def take(self, where: Ints) -> Self:
        """The counts of the mappings `where`."""
        arrays = {f.name: own[where] for f in fields(self) if isinstance(own := getattr(self, f.name), np.ndarray)}

        def crossed(_: NestAnalysis | None = None) -> Crossings:
            every = self.crossings()
            return Crossings(every.words[where], every.exact[where])

        return replace(self, **arrays, tiles=lambda: self.tile_words[where], crossings=crossed)

    def with_drains(self) -> Self:
        """Count the drained words as reads of the level that they leave; what has them already stays as it is."""
        return replace(
            self,
            reads=self.reads + self.drains,
            origin_reads=self.origin_reads + self.origin_drains,
            drains=0 * self.drains,
            origin_drains=0 * self.origin_drains,
        )


def count(batch: Mappings, nest: NestAnalysis | None = None) -> Counts:
    """Count the accesses of every mapping of `batch`; `nest` is its analysis, where the caller has it.

    Origin counts are only filled in for levels that have a bandwidth; elsewhere they are 0. Where not `exact`, words
    are never below the executor's.
    """
    nest = nest or NestAnalysis(batch)
    levels, tensors, waits = nest.levels, len(batch.workload.tensors), fill_drain(nest)
    columns, starts = _Columns(nest), nest.starts()
    for v, tensor in enumerate(batch.workload.tensors):
        for parent, child, where in keeper_pairs(batch.keep[:, :, v]):
            whole = len(where) == len(batch)
            _add_pair(columns.of(None if whole else where), tensor, v, parent, child)
    reads, updates = (columns.stacked(name, levels, tensors) for name in ("reads", "updates"))
    inexact = columns.inexact(levels, tensors)
    return Counts(
        cycles=nest.steps(levels) + starts if batch.arch.systolic is None else nest.steps(levels) + starts + waits,
        reads=reads,
        fills=columns.stacked("fills", levels, tensors),
        updates=updates,
        instances=nest.instances(),
        origin_reads=columns.stacked("origin_reads", levels),
        origin_writes=columns.stacked("origin_writes", levels),
        drains=columns.stacked("drains", levels, tensors),
        origin_drains=columns.stacked("origin_drains", levels),
        inexact=inexact,
        origin_inexact=columns.stacked("origin_inexact", levels),
        tiles=partial(kept_words, batch),  # of the batch alone: the analysis would live as long as its counts
        fill_drain=waits,
        starts=starts,
        crossings=partial(crossings, batch, reads, updates, exact=~inexact.any((1, 2))),
    )


def least_counts(batch: Mappings, counts: Counts) -> Counts:
    """`counts`, which are those of `batch`, with lower bounds in place of the reads that may be too many.

    `exact` is then where they are the executor's; elsewhere they never exceed it. All else is as it was.
    """
    nest, shape = NestAnalysis(batch), counts.reads.shape[1:]
    reads = {place: counts.reads[:, *place] for place in np.ndindex(shape)}
    # without the reads that may be too many; their bounds are added
    origin_reads = [counts.origin_reads[:, i] - counts.origin_inexact[:, i] for i in range(nest.levels)]
    for v, tensor in enumerate(batch.workload.tensors):
        for parent, child, pair in keeper_pairs(batch.keep[:, :, v]):
            # of arrays that are traced no value is known: there all mappings have the same pairs
            where = pair[counts.inexact[pair, parent, v]] if nest.xp is np else pair
            columns = _Columns(nest).of(None if len(where) == len(batch) else where)
            read = DataMovement(columns.nest, tensor, child, parent=parent)
            if not len(where) or not read.windows:
                continue
            flagged = columns.spread(~read.exact())
            reads[parent, v] = nest.xp.where(flagged, columns.spread(read.least_words()), reads[parent, v])
            if batch.arch.levels[parent].bandwidths:
                least = columns.spread(replace(read, origin=True).least_words())
                origin_reads[parent] = origin_reads[parent] + nest.xp.where(flagged, least, nest.zeros())
    bounded = nest.together([*reads.values()], *shape)
    return replace(
        counts,
        reads=bounded,
        origin_reads=nest.together(origin_reads, nest.levels),
        crossings=partial(crossings, batch, bounded, counts.updates, exact=counts.exact, least=True),
    )


def whole(figures: Numbers) -> Numbers:
    """Whole numbers as Python integers."""
    return figures if figures.dtype == object else figures.astype(np.int64).astype(object)


def kept_words(batch: Mappings) -> Numbers:
    """The largest tile of one instance of each level; 0 where bypassed. # (mapping, level, tensor)"""
    return TileSizes(NestAnalysis(batch)).kept_words()


@dataclass(eq=False)
class _Columns:
    """Figures of a batch while they come in, an array per level and tensor; what never comes in is 0."""

    nest: NestAnalysis
    where: Ints | None = None  # the mappings that `nest` is about; None: all
    figures: dict[tuple[str, tuple[int, ...]], Numbers] = field(default_factory=dict)
    flags: dict[tuple[int, ...], Bools] = field(default_factory=dict)
    whole: NestAnalysis | None = None  # of all mappings

    def of(self, where: Ints | None) -> "_Columns":
        """The same columns, taking figures of the mappings `where` alone."""
        nest = self.nest if where is None else NestAnalysis(self.nest.batch.take(where))
        return _Columns(nest, where, self.figures, self.flags, self.nest)

    def add(self, name: str, place: tuple[int, ...], words: Numbers) -> None:
        """Add `words` to the figure `name` at a (level, tensor) or (level,)."""
        key = (name, place)
        words = self.spread(words)
        self.figures[key] = self.figures[key] + words if key in self.figures else words

    def flag(self, place: tuple[int, int], exact: Bools) -> None:
        """Take note of where the reads of a (level, tensor) are only a bound."""
        flags = self.spread(~exact)
        self.flags[place] = self.flags[place] | flags if place in self.flags else flags

    def spread(self, figures: Any) -> Any:
        """Figures of the mappings `where` as those of all, the others 0."""
        if self.where is None:
            return figures
        assert self.whole is not None
        spread = np.zeros(len(self.whole.batch), figures.dtype)
        spread[self.where] = figures
        return spread

    def inexact(self, *shape: int) -> Bools:
        """All flags. # (mapping, *shape)"""
        none = self.nest.no()
        return self.nest.together([self.flags.get(place, none) for place in np.ndindex(shape)], *shape)

    def stacked(self, name: str, *shape: int) -> Numbers:
        """All columns of one figure. # (mapping, *shape)"""
        zero = self.nest.zeros()
        columns = [self.figures.get((name, place), zero) for place in np.ndindex(shape)]
        return self.nest.together(columns, *shape)


def _add_pair(columns: _Columns, tensor: Tensor, v: int, parent: int, child: int) -> None:
    """Add the traffic of one tensor between two neighbouring keepers."""
    nest = columns.nest
    macs = child == nest.levels
    read = DataMovement(nest, tensor, child, parent=parent)
    moved, exact = read.words(), read.exact()
    columns.flag((parent, v), exact)
    if tensor.output:
        columns.add("updates", (parent, v), moved)
        columns.add("reads", (parent, v), moved - _first(nest, tensor, parent))
    else:
        columns.add("reads", (parent, v), moved)
    if not macs:
        # without a fanout between the two, what one hands out is what the other receives
        filled = DataMovement(nest, tensor, child).words() if nest.fans_out(parent, child) else moved
        columns.add("fills", (child, v), filled - _first(nest, tensor, child))
        if tensor.output:  # each word that comes in, or begins there, leaves once
            columns.add("drains", (child, v), filled)
    _add_busiest(columns, tensor, parent, child, exact)


def _add_busiest(columns: _Columns, tensor: Tensor, parent: int, child: int, exact: Bools) -> None:
    """The same for the spatial origin, at levels with a bandwidth."""
    nest = columns.nest
    levels = nest.batch.arch.levels
    if levels[parent].bandwidths:
        moved = DataMovement(nest, tensor, child, parent=parent, origin=True).words()
        if tensor.output:
            columns.add("origin_writes", (parent,), moved)
            columns.add("origin_reads", (parent,), moved - _first(nest, tensor, parent, origin=True))
        else:
            columns.add("origin_reads", (parent,), moved)
            columns.add("origin_inexact", (parent,), nest.xp.where(exact, nest.zeros(), moved))
    if child < nest.levels and levels[child].bandwidths:
        filled = DataMovement(nest, tensor, child, origin=True).words()
        columns.add("origin_writes", (child,), filled - _first(nest, tensor, child, origin=True))
        if tensor.output:
            columns.add("origin_drains", (child,), filled)


def _first(nest: NestAnalysis, tensor: Tensor, level: int, *, origin: bool = False) -> Numbers | int:
    """Count the words at a level whose first update needs no read, and no fill where it is not the outermost."""
    return nest.distinct(tensor, level, origin=origin) if tensor.begins_empty else 0
