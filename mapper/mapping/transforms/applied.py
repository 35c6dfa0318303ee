"""Makes the mapping of a list of transforms, or reports every conflict among them."""

from dataclasses import replace
from math import prod

import numpy as np

from ....arch import Architecture, stacked
from ....workloads import Document, InputError, Keys, Workload
from ..batch import MappingBatch
from .transform_names import TransformNames
from .transforms import ROOT, Keep, Pad, Reorder, Spread, Tile, Transform, Transforms, usual_keep


def applied(
    transforms: Transforms, arch: Architecture, workload: Workload, document: Document | None = None
) -> MappingBatch:
    """Make the mapping of `transforms`, as a batch of one, of the padded workload where some pad it.

    `document` is the file that they are from. Raises InputError with every fault: unknown names, two transforms of one
    decision, bounds for which a dim or an axis has no room.
    """
    return _Application(transforms, stacked(arch, workload), workload, document).batch()


class _Application(TransformNames):
    """A mapping while transforms are applied to it."""

    def __init__(
        self, transforms: Transforms, arch: Architecture, workload: Workload, document: Document | None
    ) -> None:
        super().__init__(
            arch,
            workload.dims,
            [tensor.name for tensor in workload.tensors],
            document or Document(ROOT, transforms.model_dump(mode="json"), {}),
        )
        self.workload = workload
        self.sizes = list(workload.sizes)
        self.bounds = np.ones((len(arch.slots), len(self.dims)), np.int64)
        self.order = np.tile(np.arange(len(self.dims), dtype=np.int8)[::-1], (len(arch.levels), 1))
        self.keep = usual_keep(arch, workload)
        for number, transform in enumerate(transforms.transforms):
            self._apply((ROOT, number), transform)
        self._check()
        if self.faults:
            raise InputError(dict.fromkeys(self.faults))

    def batch(self) -> MappingBatch:
        """Return the mapping."""
        workload = self.workload
        if self.sizes != list(workload.sizes):
            zeros = prod(self.sizes) - (workload.macs - workload.ineffectual_macs)
            workload = replace(workload, sizes=tuple(self.sizes), ineffectual_macs=zeros).transformed("pad")
        return MappingBatch.of(self.arch, workload, self.bounds[None], self.order[None], self.keep[None])

    def _apply(self, path: Keys, transform: Transform) -> None:
        match transform:
            case Tile():
                self._tile(path, transform)
            case Spread():
                self._spread(path, transform)
            case Reorder():
                self._reorder(path, transform)
            case Keep():
                self._keeps(path, transform)
            case Pad():
                self._pad(path, transform)

    def _tile(self, path: Keys, own: Tile) -> None:
        """Take in a temporal loop."""
        level, d = self.level(path, own.level), self.known((*path, "dim"), "dimension", own.dim, self.dims)
        if level is None or d is None:
            return
        slot = next(s for s, slot in enumerate(self.arch.slots) if slot.level == level and not slot.spatial)
        if self.inner(path, own.level, slot) and self.first(path, "slot", slot, d):
            self.bounds[slot, d] = min(own.bound, 2**62)

    def _spread(self, path: Keys, own: Spread) -> None:
        """Take in a loop that is spread over an axis."""
        level, d = self.level(path, own.level), self.known((*path, "dim"), "dimension", own.dim, self.dims)
        if level is None:
            return
        axes = {slot.axis.name: s for s, slot in enumerate(self.arch.slots) if slot.axis and slot.level == level}
        if self.axis(path, own, list(axes)) is not None and d is not None:
            slot = axes[own.axis]
            if self.first(path, "slot", slot, d):
                self.bounds[slot, d] = min(own.bound, 2**62)

    def _reorder(self, path: Keys, own: Reorder) -> None:
        """Take in the order of a level's loops."""
        level, at = self.level(path, own.level), (*path, "dims")
        dims = [self.known(at, "dimension", dim, self.dims) for dim in own.dims]
        self.twice(at, own.dims)
        if level is None or not self.first(path, "order", level) or len(set(dims) - {None}) < len(dims):
            return
        named = [d for d in dims if d is not None]
        self.order[level] = [*(d for d in reversed(range(len(self.dims))) if d not in named), *named]

    def _keeps(self, path: Keys, own: Keep) -> None:
        """Take in what a level keeps."""
        level, at = self.level(path, own.level), (*path, "tensors")
        kept = [self.known(at, "tensor", name, self.tensors) for name in own.tensors]
        self.twice(at, own.tensors)
        if level is None or not self.first(path, "keep", level):
            return
        self.keep[level] = [v in kept for v in range(len(self.tensors))]
        if level == 0 and not self.keep[0].all():
            self.fault(at, f"the outermost level {own.level} keeps every tensor")

    def _pad(self, path: Keys, own: Pad) -> None:
        """Take in a dim's size."""
        d = self.known((*path, "dim"), "dimension", own.dim, self.dims)
        if d is None or not self.first(path, "pad", d):
            return
        size = self.workload.sizes[d]
        if own.size < size:
            self.fault((*path, "size"), f"{own.dim} has size {size}, which padding cannot lower to {own.size}")
        elif own.size >= 2**62:
            self.fault((*path, "size"), f"must be below 2**62, got {own.size:.3g}")
        else:
            self.sizes[d] = own.size

    def _check(self) -> None:
        """Report bounds for which there is no room, and leave the rest of each dim to the outermost level."""
        for d, (dim, size) in enumerate(zip(self.dims, self.sizes, strict=True)):
            remaining = size
            for slot in range(len(self.arch.slots) - 1, 0, -1):
                bound = int(self.bounds[slot, d])
                if bound > remaining:
                    inner = " * ".join(str(own) for own in self.bounds[slot:, d].tolist() if own > 1)
                    rule = f"the bounds of {dim} from {self._name(slot)} inwards are {inner}, more than its size {size}"
                    self.fault(self.places["slot", slot, d], f"{rule}: at most {remaining} is left there")
                    break
                remaining = -(-remaining // bound)
            else:
                self.bounds[0, d] = remaining
        for s, place in enumerate(self.arch.slots):
            used = prod(self.bounds[s].tolist())
            if place.axis is not None and used > place.axis.size:
                at = max(path for key, path in self.places.items() if key[:2] == ("slot", s))
                self.fault(at, f"{self._name(s)} has {place.axis.size} instances, the loops spread over it need {used}")
        self._check_stacks()

    def _check_stacks(self) -> None:
        """Report levels of a stack that no mapping has: one keeps a tensor at most, and loops stand below a tensor."""
        for stack in self.arch.stacks:
            if len(stack) == 1:
                continue
            memory, kept = self.arch.levels[stack[0]].of_memory, self.keep[stack.start : stack.stop]
            if (kept.sum(axis=1) > 1).any() or (kept.sum(axis=0) > 1).any():
                self.fault((ROOT,), f"each level of {memory} keeps one tensor at most, each tensor at one level")
            for level, row in list(zip(stack, kept, strict=True))[:-1]:
                slot = next(s for s, slot in enumerate(self.arch.slots) if slot.level == level)
                if not row.any() and (self.bounds[slot] > 1).any():
                    name = self.arch.levels[level].name
                    self.fault((ROOT,), f"{name} has loops and keeps nothing: give its loops to the level outside")

    def _name(self, slot: int) -> str:
        """Return the name of a slot: of its level, and its axis."""
        place = self.arch.slots[slot]
        level = self.arch.levels[place.level].name
        return level if place.axis is None else f"{level}.{place.axis.name}"
