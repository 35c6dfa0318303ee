"""A mapping as the nest of loops that a program runs, outermost first."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import ceil, prod

from ...arch import Architecture
from ...workloads import Tensor, Workload
from ..mapping import MappingBatch


@dataclass(frozen=True)
class Loop:
    """One loop: `bound` steps over one dim, each `stride` further. The last may be cut off by the size of the dim."""

    dim: int
    bound: int  # more than 1
    stride: int  # the tile of the dim below this loop
    level: int
    axis: str = ""  # the fanout axis; empty: a temporal loop of the level
    code: str = "loop"  # what the axis becomes: loop, threads, lanes

    @property
    def tile(self) -> int:
        """The tile of the dim that the loop runs through."""
        return self.bound * self.stride


@dataclass(frozen=True, eq=False)
class Nest:
    """The loops of one mapping, and what each level keeps.

    An index of a dim is the sum of (step x stride) over its loops; a program runs those below the size of the dim.
    """

    arch: Architecture
    workload: Workload
    loops: tuple[Loop, ...]  # outermost first; those of bound 1 are left out
    keep: tuple[tuple[bool, ...], ...]  # by level and tensor

    @classmethod
    def of(cls, batch: MappingBatch) -> "Nest":
        """Make the nest of a batch of one mapping."""
        if len(batch) != 1:
            raise ValueError(f"a nest is of one mapping, got {len(batch)}")
        arch, workload = batch.arch, batch.workload
        bounds = batch.factors[0]  # (slot, dim)
        strides = [table.strides[row] for table, row in zip(batch.tables, batch.rows[0].tolist(), strict=True)]
        safe = separate_dims(workload)
        loops = []
        for s, slot in enumerate(arch.slots):
            axis = slot.axis
            # an axis runs its dims in any order: first those that make different outputs, which threads may share
            parallel_first = sorted(range(len(workload.dims)), key=lambda d: d not in safe)
            dims = parallel_first if axis else batch.order[0, slot.level].tolist()
            name, code = (axis.name, axis.code) if axis else ("", "loop")
            loops += [
                Loop(d, int(bounds[s, d]), int(strides[d][s]), slot.level, name, code) for d in dims if bounds[s, d] > 1
            ]
        return cls(arch, workload, tuple(loops), tuple(map(tuple, batch.keep[0].tolist())))

    @cached_property
    def relevant(self) -> tuple[frozenset[int], ...]:
        """The dims, by number, of each tensor."""
        number = {dim: d for d, dim in enumerate(self.workload.dims)}
        return tuple(frozenset(number[dim] for dim in tensor.dims) for tensor in self.workload.tensors)

    @cached_property
    def output(self) -> int:
        """The number of the output among the tensors."""
        return next(v for v, tensor in enumerate(self.workload.tensors) if tensor.output)

    def first_of(self, level: int) -> int:
        """The place of the first loop of `level` or of a level below it; the number of loops where there is none."""
        return next((i for i, loop in enumerate(self.loops) if loop.level >= level), len(self.loops))

    def tile(self, d: int, place: int) -> int:
        """The tile of dim d that the loops from `place` on run through."""
        return prod(loop.bound for loop in self.loops[place:] if loop.dim == d)

    def visits(self, place: int, dims: Iterable[int] | None = None) -> int:
        """How often a program comes to `place`: of each dim, or of `dims`, the size over the tile, rounded up."""
        counted_dims = range(len(self.workload.dims)) if dims is None else dims
        return prod(ceil(self.workload.sizes[d] / self.tile(d, place)) for d in counted_dims)

    def levels(self, code: str) -> list[int]:
        """The levels that become `code`: buffer, registers."""
        return [index for index, storage in enumerate(self.arch.levels) if storage.code == code]


def separate_dims(workload: Workload) -> frozenset[int]:
    """The dims along which different steps make different outputs: each alone in a rank of the output.

    >>> from ruby_map.workloads import load_workload
    >>> layer = load_workload("alexnet/conv1")
    >>> " ".join(layer.dims[d] for d in sorted(separate_dims(layer)))
    'N M P Q'
    """
    alone = {
        term.dim
        for rank in workload.output.ranks
        for term in rank
        if all(other == term or workload.size(other.dim) == 1 for other in rank)
    }
    return frozenset(d for d, dim in enumerate(workload.dims) if dim in alone)


def extents(tensor: Tensor, workload: Workload) -> tuple[int, ...]:
    """The words of a tensor along each rank; of a window, those between its ends."""
    return tuple(sum(term.coef * (workload.size(term.dim) - 1) for term in rank) + 1 for rank in tensor.ranks)
