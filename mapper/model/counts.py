"""Exact access counts of a batch of mappings on the reference machine (docs/model.md)."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Self

import numpy as np

from ...arch import Bandwidth
from ...workloads import Tensor
from ..mapping import Bools, Ints, Mappings, Numbers, keeper_pairs
from .figure_columns import FigureColumns
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
    # (mapping, level) words read at the busiest instance, the spatial origin; of a DRAM in whole bursts
    origin_reads: Numbers
    origin_writes: Numbers  # (mapping, level) words filled and updated there
    drains: Numbers  # (mapping, level, tensor) words that move up to the next keeper, as far as `reads` has them not
    origin_drains: Numbers  # (mapping, level) the same at the spatial origin
    inexact: Bools  # (mapping, level, tensor) reads may exceed the executor's, never fall short (docs/model.md)
    origin_inexact: Numbers  # (mapping, level) of origin_reads the words of such reads
    tiles: Callable[[], Numbers]  # makes tile_words, which costs nothing where nobody asks
    fill_drain: Numbers  # (mapping,) of the cycles those in which a systolic array fills and drains
    starts: Numbers  # (mapping,) of the cycles those in which tiles of memories begin
    # of a DRAM, the outermost level: bursts that it reads, and that are updated, and rows that are opened; else 0
    burst_reads: Numbers  # (mapping, tensor)
    burst_updates: Numbers  # (mapping, tensor)
    activations: Numbers  # (mapping, tensor)
    # makes the words that cross the arrays, which only wires need; from the batch's analysis, where the caller has it
    crossings: Callable[..., Crossings]

    @cached_property
    def tile_words(self) -> Numbers:
        """The largest tile of one instance; 0 where bypassed. # (mapping, level, tensor)"""
        return self.tiles()

    def limited(self, bandwidth: Bandwidth) -> Numbers:
        """What a bandwidth limits at the busiest instance of each level. # (mapping, level)"""
        if bandwidth.kind == "row":
            return self.origin_rows
        words: Numbers = bandwidth.of(self.origin_reads, self.origin_writes)
        return words

    @property
    def origin_rows(self) -> Numbers:
        """The rows that the busiest instance opens. # (mapping, level)"""
        xp = self.activations.__array_namespace__()
        rows = self.activations.sum(axis=1)[:, None]
        return xp.concat([rows, xp.zeros_like(self.origin_reads[:, 1:])], axis=1)  # type: ignore[no-any-return]

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
    columns, starts = FigureColumns(nest), nest.starts()
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
        burst_reads=columns.stacked("burst_reads", tensors),
        burst_updates=columns.stacked("burst_updates", tensors),
        activations=columns.stacked("activations", tensors),
        crossings=partial(crossings, batch, reads, updates, exact=~inexact.any((1, 2))),
    )


def whole(figures: Numbers) -> Numbers:
    """Whole numbers as Python integers."""
    return figures if figures.dtype == object else figures.astype(np.int64).astype(object)


def kept_words(batch: Mappings) -> Numbers:
    """The largest tile of one instance of each level; 0 where bypassed. # (mapping, level, tensor)"""
    return TileSizes(NestAnalysis(batch)).kept_words()


def _add_pair(columns: FigureColumns, tensor: Tensor, v: int, parent: int, child: int) -> None:
    """Add the traffic of one tensor between two neighbouring keepers."""
    nest = columns.nest
    macs = child == nest.levels
    read, dram = DataMovement(nest, tensor, child, parent=parent), nest.batch.arch.levels[parent].dram
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
    if dram is None:
        _add_busiest(columns, tensor, parent, child, exact)
    else:
        _add_bursts(columns, tensor, v, parent, child)
        _add_filled(columns, tensor, child)


def _add_bursts(columns: FigureColumns, tensor: Tensor, v: int, parent: int, child: int) -> None:
    """Add the bursts and the rows of a DRAM, which has one instance."""
    nest = columns.nest
    blocks = nest.batch.arch.levels[parent].blocks(nest.batch.workload, tensor)
    burst = DataMovement(nest, tensor, child, parent=parent, box=blocks.burst)
    reads, updates = _blocks_moved(burst)
    exact, words = burst.exact(), blocks.words
    columns.add("burst_reads", (v,), reads)
    columns.add("burst_updates", (v,), updates)
    columns.add("origin_reads", (parent,), words * reads)
    columns.add("origin_writes", (parent,), words * updates)
    if blocks.row is not None:
        row = replace(burst, box=blocks.row)
        exact &= row.exact()
        opened, opened_again = _blocks_moved(row)
        columns.add("activations", (v,), opened + opened_again)
    columns.flag((parent, v), exact)
    columns.add("origin_inexact", (parent,), nest.xp.where(exact, nest.zeros(), words * reads))


def _blocks_moved(movement: DataMovement) -> tuple[Numbers, Numbers]:
    """The blocks that a DRAM reads, and those that are updated. # (mapping,) each"""
    moved, tensor = movement.words(), movement.tensor
    if not tensor.output:
        return moved, movement.nest.zeros()
    return (moved - movement.distinct if tensor.begins_empty else moved), moved


def _add_busiest(columns: FigureColumns, tensor: Tensor, parent: int, child: int, exact: Bools) -> None:
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
    _add_filled(columns, tensor, child)


def _add_filled(columns: FigureColumns, tensor: Tensor, child: int) -> None:
    """What the child receives at the spatial origin, where it has a bandwidth."""
    nest = columns.nest
    if child < nest.levels and nest.batch.arch.levels[child].bandwidths:
        filled = DataMovement(nest, tensor, child, origin=True).words()
        columns.add("origin_writes", (child,), filled - _first(nest, tensor, child, origin=True))
        if tensor.output:
            columns.add("origin_drains", (child,), filled)


def _first(nest: NestAnalysis, tensor: Tensor, level: int, *, origin: bool = False) -> Numbers | int:
    """Count the words at a level whose first update needs no read, and no fill where it is not the outermost."""
    return nest.distinct(tensor, level, origin=origin) if tensor.begins_empty else 0
