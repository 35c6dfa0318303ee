"""Exact access counts of a batch of mappings on the reference machine (docs/model.md)."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from ...workloads import Tensor
from ..mapping import Bools, Ints, Mappings, Numbers, keeper_pairs
from .crossings import Crossings, crossings
from .data_movement import DataMovement
from .nest_analysis import NestAnalysis
from .systolic import fill_drain
from .tile_sizes import TileSizes


@dataclass(eq=False)
class Counts:
    """What executing the nests would count. Words are totals over all instances of a level.

    Of a batch they are float64, of a mapping that is reported Python integers (recount.py).
    """

    cycles: Numbers  # (mapping,) temporal steps with any active MAC, and what fills and drains a systolic array
    reads: Numbers  # (mapping, level, tensor)
    fills: Numbers  # (mapping, level, tensor)
    updates: Numbers  # (mapping, level, tensor)
    instances: Numbers  # (mapping, level) instances ever active; the last column counts MAC units
    origin_reads: Numbers  # (mapping, level) words read at the busiest instance, the spatial origin
    origin_writes: Numbers  # (mapping, level) words filled and updated there
    drains: Numbers  # (mapping, level, tensor) words that move up to the next keeper, as far as `reads` has them not
    origin_drains: Numbers  # (mapping, level) the same at the spatial origin
    exact: Bools  # (mapping,) False: reads may exceed the executor's, never fall short (docs/model.md)
    tiles: Callable[[], Numbers]  # makes tile_words, which costs nothing where nobody asks
    fill_drain: Numbers  # (mapping,) of the cycles those in which a systolic array fills and drains
    # makes the words that cross the arrays, which only wires need; from the batch's analysis, where the caller has it
    crossings: Callable[..., Crossings]

    @cached_property
    def tile_words(self) -> Numbers:
        """The largest tile of one instance; 0 where bypassed. # (mapping, level, tensor)"""
        return self.tiles()

    def row(self, i: int) -> Self:
        """The counts of mapping i alone."""
        arrays = {f.name: own[i : i + 1] for f in fields(self) if isinstance(own := getattr(self, f.name), np.ndarray)}

        def crossed(_: NestAnalysis | None = None) -> Crossings:
            every = self.crossings()
            return Crossings(every.words[i : i + 1], every.exact[i : i + 1])

        return replace(self, **arrays, tiles=lambda: self.tile_words[i : i + 1], crossings=crossed)

    def with_drains(self) -> Self:
        """Count the drained words as reads of the level that they leave; what has them already stays as it is."""
        return replace(
            self,
            reads=self.reads + self.drains,
            origin_reads=self.origin_reads + self.origin_drains,
            drains=0 * self.drains,
            origin_drains=0 * self.origin_drains,
        )


def count(batch: Mappings, nest: NestAnalysis | None = None, *, least: bool = False) -> Counts:
    """Count the accesses of every mapping of `batch`; `nest` is its analysis, where the caller has it.

    Origin counts are only filled in for levels that have a bandwidth; elsewhere they are 0. Where not `exact`, words
    are never below the executor's; with `least` never above it.
    """
    nest = nest or NestAnalysis(batch)
    levels, tensors, waits = nest.levels, len(batch.workload.tensors), fill_drain(nest)
    found = _Columns(nest, least)
    for v, tensor in enumerate(batch.workload.tensors):
        for parent, child, where in keeper_pairs(batch.keep[:, :, v]):
            whole = len(where) == len(batch)
            _add_pair(found.of(None if whole else where), tensor, v, parent, child)
    reads, updates = (found.stacked(name, levels, tensors) for name in ("reads", "updates"))
    return Counts(
        cycles=nest.cycles() if batch.arch.systolic is None else nest.cycles() + waits,
        reads=reads,
        fills=found.stacked("fills", levels, tensors),
        updates=updates,
        instances=nest.instances(),
        origin_reads=found.stacked("origin_reads", levels),
        origin_writes=found.stacked("origin_writes", levels),
        drains=found.stacked("drains", levels, tensors),
        origin_drains=found.stacked("origin_drains", levels),
        exact=found.exact,
        tiles=partial(kept_words, batch),  # of the batch alone: the analysis would live as long as its counts
        fill_drain=waits,
        crossings=partial(crossings, batch, reads, updates, exact=found.exact, least=least),
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
    least: bool  # whether what is not exact is a lower bound
    where: Ints | None = None  # the mappings that `nest` is about; None: all
    found: dict[tuple[str, tuple[int, ...]], Numbers] = field(default_factory=dict)
    inexact: list[Bools] = field(default_factory=list)
    whole: NestAnalysis | None = None  # of all mappings

    def of(self, where: Ints | None) -> "_Columns":
        """The same columns, taking figures of the mappings `where` alone."""
        nest = self.nest if where is None else NestAnalysis(self.nest.batch.take(where))
        return _Columns(nest, self.least, where, self.found, self.inexact, self.nest)

    def moved(self, flow: DataMovement) -> Numbers:
        """Words that a parent hands out, or a bound of them. # (mapping of those,)"""
        return flow.least_words() if self.least else flow.words()

    def add(self, name: str, place: tuple[int, ...], words: Numbers) -> None:
        """Add `words` to the figure `name` at a (level, tensor) or (level,)."""
        key = (name, place)
        words = self._spread(words)
        self.found[key] = self.found[key] + words if key in self.found else words

    def flag(self, exact: Bools) -> None:
        """Take note of where a count is only a bound."""
        self.inexact.append(self._spread(~exact))

    def _spread(self, figures: Any) -> Any:
        if self.where is None:
            return figures
        assert self.whole is not None
        spread = np.zeros(len(self.whole.batch), figures.dtype)
        spread[self.where] = figures
        return spread

    @property
    def exact(self) -> Bools:
        exact: Bools = self.nest.xp.ones(len(self.nest.batch), dtype=bool)
        for inexact in self.inexact:
            exact = exact & ~inexact
        return exact

    def stacked(self, name: str, *shape: int) -> Numbers:
        """All columns of one figure. # (mapping, *shape)"""
        zero = self.nest.zeros()
        columns = [self.found.get((name, place), zero) for place in np.ndindex(shape)]
        return self.nest.together(columns, *shape)


def _add_pair(found: _Columns, tensor: Tensor, v: int, parent: int, child: int) -> None:
    """Add the traffic of one tensor between two neighbouring keepers."""
    nest = found.nest
    macs = child == nest.levels
    read = DataMovement(nest, tensor, child, parent=parent)
    moved = found.moved(read)
    found.flag(read.exact())
    if tensor.output:
        found.add("updates", (parent, v), moved)
        found.add("reads", (parent, v), moved - nest.distinct(tensor, parent))
    else:
        found.add("reads", (parent, v), moved)
    if not macs:
        # without a fanout between the two, what one hands out is what the other receives
        filled = DataMovement(nest, tensor, child).words() if nest.fans_out(parent, child) else moved
        found.add("fills", (child, v), filled - nest.distinct(tensor, child) if tensor.output else filled)
        if tensor.output:  # each word that comes in, or begins there, leaves once
            found.add("drains", (child, v), filled)
    _add_busiest(found, tensor, parent, child)


def _add_busiest(found: _Columns, tensor: Tensor, parent: int, child: int) -> None:
    """The same for the spatial origin, at levels with a bandwidth."""
    nest = found.nest
    levels = nest.batch.arch.levels
    if levels[parent].limited:
        moved = found.moved(DataMovement(nest, tensor, child, parent=parent, origin=True))
        if tensor.output:
            found.add("origin_writes", (parent,), moved)
            found.add("origin_reads", (parent,), moved - nest.distinct(tensor, parent, origin=True))
        else:
            found.add("origin_reads", (parent,), moved)
    if child < nest.levels and levels[child].limited:
        filled = DataMovement(nest, tensor, child, origin=True).words()
        first = nest.distinct(tensor, child, origin=True) if tensor.output else 0
        found.add("origin_writes", (child,), filled - first)
        if tensor.output:
            found.add("origin_drains", (child,), filled)
