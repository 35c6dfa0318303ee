"""What mappings make a DRAM do: bursts, how many of their words are of use, and rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from ...mapping import MappingBatch
from ..counts import Counts


@dataclass(frozen=True)
class TensorUse:
    """Of one tensor: what lies in a burst and in a row, as pairs of a rank and so many indices, innermost first."""

    burst: tuple[tuple[str, int], ...]
    row: tuple[tuple[str, int], ...] | None
    burst_reads: int
    burst_updates: int
    rows: int | None  # that are opened


@dataclass(frozen=True)
class DramUse:
    """Of a layer, or of a network."""

    burst_bits: int
    bursts: int
    burst_words: int  # words that these move
    words: int  # those of use: which some level or MAC needs then
    rows: int | None  # that are opened; None: they are not counted
    row_pj: float
    tensors: dict[str, TensorUse]  # of a layer alone

    @classmethod
    def of(cls, batch: MappingBatch, counts: Counts) -> Self | None:
        """Of the one mapping of `batch`; None on a machine whose outermost level has no bursts."""
        storage = batch.arch.levels[0]
        if storage.dram is None:
            return None
        tensors, burst_words = {}, 0
        for v, tensor in enumerate(batch.workload.tensors):
            blocks = storage.blocks(batch.workload, tensor)
            names = [" + ".join(map(str, rank)) for rank in tensor.ranks]
            order = storage.dram.order(tensor)
            burst, row = (
                None if box is None else tuple((names[r], box[r]) for r in order if box[r] > 1)
                for box in (blocks.burst, blocks.row)
            )
            reads, updates, rows = (
                int(of[0, v]) for of in (counts.burst_reads, counts.burst_updates, counts.activations)
            )
            tensors[tensor.name] = TensorUse(burst or (), row, reads, updates, None if row is None else rows)
            burst_words += blocks.words * (reads + updates)
        rows = int(counts.activations[0].sum())
        return cls(
            burst_bits=storage.dram.burst_bits,
            bursts=sum(own.burst_reads + own.burst_updates for own in tensors.values()),
            burst_words=burst_words,
            words=int((counts.reads + counts.updates)[0, 0].sum()),
            rows=None if storage.dram.row_bits is None else rows,
            row_pj=rows * storage.dram.activate_pj,
            tensors=tensors,
        )

    @classmethod
    def total(cls, every: Iterable[tuple[Self | None, int]]) -> Self | None:
        """The sum of those of layers, each so many times."""
        uses = [(use, times) for use, times in every if use is not None]
        if not uses:
            return None
        sums: dict[str, Any] = {
            name: sum(times * getattr(use, name) for use, times in uses)
            for name in ("bursts", "burst_words", "words", "row_pj")
        }
        rows = [times * use.rows for use, times in uses if use.rows is not None]
        return cls(burst_bits=uses[0][0].burst_bits, rows=sum(rows) if rows else None, tensors={}, **sums)
