"""Lower bounds of counts, where the closed form may count too many."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np

from ..mapping import Bools, Mappings, Numbers, keeper_pairs
from .counts import Counts
from .figure_columns import FigureColumns
from .nests import DataMovement, NestAnalysis, crossings

FIGURES = ("reads", "burst_reads", "activations")  # that may be too many


def least_counts(batch: Mappings, counts: Counts) -> Counts:
    """`counts`, which are those of `batch`, with lower bounds in place of the reads that may be too many.

    `exact` is then where they are the executor's; elsewhere they never exceed it. All else is as it was.
    """
    nest, bounds = NestAnalysis(batch), _Bounds.of(counts)
    for v in range(len(batch.workload.tensors)):
        for parent, child, pair in keeper_pairs(batch.keep[:, :, v]):
            # of arrays that are traced no value is known: there all mappings have the same pairs
            where = pair[counts.inexact[pair, parent, v]] if nest.xp is np else pair
            if len(where):
                columns = FigureColumns(nest).of(None if len(where) == len(batch) else where)
                bounds.lower(columns, _moved(columns.nest, v, parent, child), counts.inexact[:, parent, v])
    reads, burst_reads, activations = (bounds.together(nest, name) for name in FIGURES)
    return replace(
        counts,
        reads=reads,
        burst_reads=burst_reads,
        activations=activations,
        origin_reads=nest.together(bounds.origin_reads, nest.levels),
        crossings=partial(crossings, batch, reads, counts.updates, exact=counts.exact, least=True),
    )


@dataclass(eq=False)
class _Bounds:
    """Lower bounds of figures, by name and place; of the words that the origin reads, by level."""

    counts: Counts
    figures: dict[tuple[str, tuple[int, ...]], Numbers]
    origin_reads: list[Numbers]  # without the reads that may be too many; their bounds are added

    @classmethod
    def of(cls, counts: Counts) -> Self:
        """Begin with the counts."""
        every = {name: getattr(counts, name) for name in FIGURES}
        figures = {(name, at): own[:, *at] for name, own in every.items() for at in np.ndindex(own.shape[1:])}
        known = counts.origin_reads - counts.origin_inexact
        return cls(counts, figures, [known[:, i] for i in range(known.shape[1])])

    def lower(self, columns: FigureColumns, moved: "_Moved", flagged: Bools) -> None:
        """Take the bounds of what moves of a tensor, where the counts may be too many: `flagged`. # (mapping,)"""
        nest, xp = columns.whole or columns.nest, columns.nest.xp
        doubtful = {place: movement for place, movement in moved.figures.items() if movement.windows}
        for place, movement in doubtful.items():
            least = columns.spread(movement.least_words())
            self.figures[place] = xp.where(columns.spread(~movement.exact()), least, self.figures[place])
        if doubtful and moved.limited:
            least = moved.words * columns.spread(moved.busiest.least_words())
            self.origin_reads[moved.parent] += xp.where(flagged, least, nest.zeros())

    def together(self, nest: NestAnalysis, name: str) -> Numbers:
        """One figure as an array."""
        columns = [own for (figure, _), own in self.figures.items() if figure == name]
        return nest.together(columns, *getattr(self.counts, name).shape[1:])


@dataclass(frozen=True, eq=False)
class _Moved:
    """What may count too many of a tensor between two keepers."""

    parent: int
    figures: dict[tuple[str, tuple[int, ...]], DataMovement]
    busiest: DataMovement  # what passes the bandwidths of the parent at the origin,
    words: int  # with so many words for each
    limited: bool  # whether it has a bandwidth


def _moved(nest: NestAnalysis, v: int, parent: int, child: int) -> _Moved:
    tensor, storage = nest.batch.workload.tensors[v], nest.batch.arch.levels[parent]
    read, limited = DataMovement(nest, tensor, child, parent=parent), bool(storage.bandwidths)
    figures: dict[tuple[str, tuple[int, ...]], DataMovement] = {("reads", (parent, v)): read}
    if storage.dram is None:
        return _Moved(parent, figures, replace(read, origin=True), 1, limited)
    blocks = storage.blocks(nest.batch.workload, tensor)
    figures["burst_reads", (v,)] = burst = replace(read, box=blocks.burst)
    if blocks.row is not None:
        figures["activations", (v,)] = replace(read, box=blocks.row)
    return _Moved(parent, figures, burst, blocks.words, limited)
