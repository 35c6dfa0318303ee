"""How a memory that hands out bursts of words from rows behaves, and how tensors lie in it (docs/dram.md)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil

from ..workloads import Tensor, Workload

Box = tuple[int, ...]  # per rank of a tensor: so many neighbouring indices


@dataclass(frozen=True, slots=True)
class Blocks:
    """How words of a tensor lie in bursts and rows."""

    words: int  # that a burst moves, whether it has so many of the tensor or not: one at least
    burst: Box  # those of one burst
    row: Box | None  # those of one row; None: rows are not counted


@dataclass(frozen=True, slots=True)
class Dram:
    """A memory that moves whole bursts, out of rows that are opened first: activated."""

    burst_bits: int
    row_bits: int | None = None  # None: rows are not counted
    activate_pj: float = 0.0  # of opening a row, and of closing it
    refresh_pj_per_cycle: float = 0.0
    # (tensor, dims) pairs: its ranks of these dims lie innermost, the first as the innermost of all; the other ranks
    # outside them as the tensor has them, and so do those of a tensor that is not among them
    layout: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def order(self, tensor: Tensor) -> list[int]:
        """The numbers of the tensor's ranks, innermost first."""
        every = range(len(tensor.ranks))
        first = [
            r for dim in dict(self.layout).get(tensor.name, ()) for r in every
            if any(term.dim == dim for term in tensor.ranks[r])
        ]  # fmt: skip
        return list(dict.fromkeys([*first, *reversed(every)]))

    def laid(self, layout: Mapping[str, tuple[str, ...]]) -> "Dram":
        """Return the same with these layouts, dims by tensor, in place of its own or beside them."""
        return replace(self, layout=tuple(sorted({**dict(self.layout), **layout}.items())))

    def blocks(self, workload: Workload, tensor: Tensor, bits: int) -> Blocks:
        """The words of one burst: along the innermost rank as many as there are or fit, then along the next as fit;
        and of one row its bursts, in the same way."""
        words = max(1, self.burst_bits // bits)
        burst = self._filled(workload, tensor, (1,) * len(tensor.ranks), words)
        if self.row_bits is None:
            return Blocks(words, burst, None)
        return Blocks(words, burst, self._filled(workload, tensor, burst, self.row_bits // self.burst_bits))

    def _filled(self, workload: Workload, tensor: Tensor, unit: Box, room: int) -> Box:
        """Put units beside each other, rank by rank, as far as there is room for them."""
        box = list(unit)
        for r in self.order(tensor):
            along = min(ceil(workload.length(tensor.ranks[r]) / unit[r]), room)
            box[r], room = unit[r] * along, room // along
        return tuple(box)
