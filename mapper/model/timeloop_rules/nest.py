"""A mapping as Timeloop sees it: loops from the innermost on, in blocks of one memory each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Literal

import numpy as np

from ....arch import Axis
from ....workloads import Tensor
from ...mapping import MappingBatch

Arrays = Literal["meshes", "nested", "one"]
Box = tuple[tuple[int, int], ...]  # [low, high) of each rank


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of a dim: `bound` trips, or `residual` on the last path."""

    dim: int
    bound: int
    residual: int
    mesh: str = ""  # X or Y; none: temporal

    @property
    def perfect(self) -> bool:
        return self.bound == self.residual


NOTHING = Loop(0, 1, 1)  # of a memory without loops


@dataclass(frozen=True)
class Block:
    """The loops of one memory, innermost first: those over the array below it, then those in time."""

    level: int | None  # of the architecture; None: a dummy storage, which keeps nothing
    spatial: tuple[Loop, ...]
    temporal: tuple[Loop, ...]  # at least one
    size_x: int  # of the array
    size_y: int

    @property
    def fanout(self) -> int:
        """The elements that the loops use, where all bounds run."""
        return prod(loop.bound for loop in self.spatial)


class TimeloopNest:
    """The nest of the one mapping of `batch`. Raises ValueError for what Timeloop does not have.

    `arrays` says how the axes below a level are written: "meshes", as one array where each has its own mesh and no dim
    is on two of them, else with dummy storages between them; "nested", with dummy storages everywhere, as Timeloop 0.4
    writes fan-outs; "one", always as one array, which Timeloop cannot: what is read for it is as we count.
    """

    MOST_VISITS = 1 << 16  # some 10 s for a walk; eight at most where no version of Timeloop gives a count

    def __init__(self, batch: MappingBatch, arrays: Arrays = "meshes") -> None:
        if any(len(stack) > 1 for stack in batch.arch.stacks):
            raise ValueError("uneven placement has no counterpart in Timeloop")
        if batch.arch.systolic is not None:
            raise ValueError("systolic axes have no counterpart in Timeloop")
        if batch.arch.starts:
            raise ValueError("start_cycles have no counterpart in Timeloop")
        if batch.arch.levels[0].dram is not None:
            raise ValueError("bursts and rows of a dram have no counterpart in Timeloop")
        self.batch, self.arrays, self.sizes = batch, arrays, batch.workload.sizes
        self._bounds, self._residuals = batch.factors[0].tolist(), batch.residuals[0].tolist()  # (slot, dim)
        self.blocks = tuple(self._blocks())[::-1]
        self.loops = tuple(loop for block in self.blocks for loop in (*block.spatial, *block.temporal))
        for number, loop in enumerate(self.loops):
            outer = any(other.dim == loop.dim for other in self.loops[number + 1 :])
            if loop.mesh and not loop.perfect and not outer:
                dim = batch.workload.dims[loop.dim]
                raise ValueError(
                    f"the outermost loop of {dim} is spatial and has a remainder: Timeloop ends with an error"
                )

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """How far a step of each loop moves along its dim."""
        inside = [1] * len(self.sizes)
        strides = []
        for loop in self.loops:
            strides.append(inside[loop.dim])
            inside[loop.dim] *= loop.bound
        return tuple(strides)

    @cached_property
    def extents(self) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        """The last index of each dim inside each loop, that loop included: on full paths, on the last one."""
        full, last = [0] * len(self.sizes), [0] * len(self.sizes)
        extents: tuple[list[tuple[int, ...]], list[tuple[int, ...]]] = ([], [])
        for loop, stride in zip(self.loops, self.strides, strict=True):
            full[loop.dim] = stride * loop.bound - 1
            last[loop.dim] += stride * (loop.residual - 1)
            extents[0].append(tuple(full))
            extents[1].append(tuple(last))
        return extents

    @property
    def visits(self) -> int:
        """How often the innermost loop is reached at most, where of each loop a few steps are taken.

        Over an array of 1024 elements a visit takes twice the time.
        """
        taken = prod(min(loop.bound, 2 if loop.perfect else 4) for loop in self.loops if not loop.mesh)
        return taken * (1 + max(block.fanout for block in self.blocks) // 1024)

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """The number of the outermost loop of each block."""
        counts = [len(block.spatial) + len(block.temporal) for block in self.blocks]
        return tuple(int(end) - 1 for end in np.cumsum(counts))

    @cached_property
    def used(self) -> tuple[float, ...]:
        """The elements in use outside each loop: averages over the trips where a spatial loop has a residual."""
        elements, product = [], 1.0
        trips: dict[int, int] = {}
        for loop in reversed(self.loops):
            elements.append(product)
            outer = trips.get(loop.dim, 1)
            if loop.mesh:
                average = (loop.residual + loop.bound * (outer - 1)) / outer
                product *= loop.bound if loop.perfect else average
            trips[loop.dim] = loop.residual + loop.bound * (outer - 1)
        return tuple(elements[::-1])

    def box(self, tensor: Tensor, start: Sequence[int], extents: Sequence[int]) -> Box:
        """What a tensor spans where each dim begins at `start` and ends `extents` later: a bounding box."""
        dims = self.batch.workload.dims
        box = []
        for rank in tensor.ranks:
            low = high = 0
            for term in rank:
                at = dims.index(term.dim)
                ends = (term.coef * start[at], term.coef * (start[at] + extents[at]))
                low, high = low + min(ends), high + max(ends)
            box.append((low, high + 1))
        return tuple(box)

    def _blocks(self) -> Iterator[Block]:
        """The blocks, outermost first. Axes of a level that Timeloop cannot nest below one level get dummies."""
        slot = 0
        for number, level in enumerate(self.batch.arch.levels):
            order = self.batch.order[0, number, ::-1].tolist()
            temporal = tuple(self._loops(slot, order)) or (NOTHING,)
            axes = list(enumerate(level.fanout, slot + 1))
            slot += 1 + len(axes)
            pairs = [(at, axis) for at, axis in axes if axis.size > 1]
            together = len(pairs) < 2 or self._together(pairs)
            yield self._block(number, pairs if together else [], temporal)
            for pair in [] if together else pairs:
                yield self._block(None, [pair], (NOTHING,))

    def _together(self, axes: list[tuple[int, Axis]]) -> bool:
        """Whether the axes are one array for Timeloop: an axis per mesh, and no dim on both."""
        if self.arrays != "meshes":
            return self.arrays == "one"
        spread = [d for at, _ in axes for d, bound in enumerate(self._bounds[at]) if bound > 1]
        return len({axis.mesh for _, axis in axes}) == len(axes) and len(set(spread)) == len(spread)

    def _block(self, level: int | None, axes: list[tuple[int, Axis]], temporal: tuple[Loop, ...]) -> Block:
        inner_first = sorted(axes, key=lambda pair: (pair[1].mesh, -pair[0]))  # X inside Y
        dims = range(len(self.sizes))
        spatial = [loop for at, axis in inner_first for loop in self._loops(at, dims, axis.mesh)]
        sizes = [prod(axis.size for _, axis in axes if axis.mesh == mesh) for mesh in "XY"]
        return Block(level, tuple(spatial), temporal, *sizes)

    def _loops(self, slot: int, order: Sequence[int], mesh: str = "") -> Iterator[Loop]:
        """The loops of a slot that run more than once, innermost first."""
        for d in order:
            if self._bounds[slot][d] > 1:
                yield Loop(d, self._bounds[slot][d], self._residuals[slot][d], mesh)
