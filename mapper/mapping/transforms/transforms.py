"""A mapping as a list of transforms, each a decision that can be read, replaced and evaluated alone.

After Matmap: a schedule is declarative, a decision an object of plain data. There transforms name loops by their place,
so one changes what another means; here by level (or axis) and dim, so they may stand in any order. The outermost level
takes what the others leave of each dim: no transform says it.
"""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

import numpy as np
import yaml
from pydantic import Field

from ....arch import Architecture
from ....workloads import Document, Section, Workload, check
from ....workloads.timeloop import Reader
from ..batch import Bools, MappingBatch
from ..timeloop_kept import Kept

ROOT = "transforms"  # the key of a file
Name = Annotated[str, Field(min_length=1)]


class Tile(Section):
    """A temporal loop of a dim at a level."""

    transform: Literal["tile"] = "tile"
    level: Name
    dim: Name
    bound: int = Field(ge=1)

    @property
    def address(self) -> tuple[str, ...]:
        """What it decides: of equal addresses there is one."""
        return "tile", self.level, self.dim


class Spread(Section):
    """A dim spread over an axis below a level."""

    transform: Literal["spread"] = "spread"
    level: Name
    axis: Name
    dim: Name
    bound: int = Field(ge=1)

    @property
    def address(self) -> tuple[str, ...]:
        """What it decides: of equal addresses there is one."""
        return "spread", self.level, self.axis, self.dim


class Reorder(Section):
    """The order of a level's loops, outermost first. Dims left out stand outside, the workload's last first."""

    transform: Literal["reorder"] = "reorder"
    level: Name
    dims: tuple[Name, ...]

    @property
    def address(self) -> tuple[str, ...]:
        """What it decides: of equal addresses there is one."""
        return "reorder", self.level


class Keep(Section):
    """The tensors that a level keeps; without it all that the architecture lets it keep."""

    transform: Literal["keep"] = "keep"
    level: Name
    tensors: tuple[Name, ...]

    @property
    def address(self) -> tuple[str, ...]:
        """What it decides: of equal addresses there is one."""
        return "keep", self.level


class Pad(Section):
    """A dim rounded up to a size; the MACs on zeros count."""

    transform: Literal["pad"] = "pad"
    dim: Name
    size: int = Field(ge=1)

    @property
    def address(self) -> tuple[str, ...]:
        """What it decides: of equal addresses there is one."""
        return "pad", self.dim


Transform = Tile | Spread | Reorder | Keep | Pad


class Transforms(Section):
    """A mapping, as the transforms that make it of a workload."""

    transforms: tuple[Annotated[Transform, Field(discriminator="transform")], ...]

    def replaced(self, *new: Transform) -> Self:
        """Return the same with `new` in the places of those with their addresses, or added."""
        by_address: dict[tuple[str, ...], Transform] = {transform.address: transform for transform in self.transforms}
        return type(self)(transforms=tuple((by_address | {transform.address: transform for transform in new}).values()))

    def yaml(self) -> str:
        """Write them as the text of a YAML file."""
        return yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False, default_flow_style=None, width=1000)


def read_transforms(document: Document) -> Transforms:
    """Read transforms from a YAML or JSON file. Raises InputError with every fault of its form."""
    return check(document, Transforms)


def transforms_of(batch: MappingBatch, workload: Workload | None = None) -> Transforms:
    """Return the transforms that make the single mapping of `batch`, of `workload` where its own is padded.

    `applied` (applied.py) makes the same mapping of them. What goes without saying has none.
    """
    if len(batch) != 1:
        raise ValueError(f"one mapping is expected, got a batch of {len(batch)}")
    arch, dims, transforms = batch.arch, batch.workload.dims, list[Transform]()
    for dim, size, own in zip(dims, batch.workload.sizes, (workload or batch.workload).sizes, strict=True):
        transforms += [Pad(dim=dim, size=size)] if size != own else []
    transforms += _loops(batch)
    orders = [tuple(dims[d] for d in order) for order in batch.order[0].tolist()]
    transforms += [
        Reorder(level=level.name, dims=order)
        for level, order in zip(arch.levels, orders, strict=True)
        if order != dims[::-1]
    ]
    names, usual = [tensor.name for tensor in batch.workload.tensors], usual_keep(arch, batch.workload)
    for level, keep, default in zip(arch.levels, batch.keep[0], usual, strict=True):
        if (keep != default).any():
            transforms.append(Keep(level=level.name, tensors=tuple(names[v] for v in np.flatnonzero(keep))))
    return Transforms(transforms=tuple(transforms))


def _loops(batch: MappingBatch) -> Iterator[Transform]:
    """The transforms of bounds over 1, but of the outermost loops, which take what is left."""
    arch = batch.arch
    for slot, bounds in list(zip(arch.slots, batch.factors[0].tolist(), strict=True))[1:]:
        name = arch.levels[slot.level].name
        for dim, bound in zip(batch.workload.dims, bounds, strict=True):
            if bound > 1 and slot.axis is None:
                yield Tile(level=name, dim=dim, bound=bound)
            elif bound > 1 and slot.axis is not None:
                yield Spread(level=name, axis=slot.axis.name, dim=dim, bound=bound)


def usual_keep(arch: Architecture, workload: Workload) -> Bools:
    """What each level keeps without a transform. # (level, tensor)"""
    return Kept(Reader(Document(ROOT, [], {})), arch, [tensor.name for tensor in workload.tensors]).keep
