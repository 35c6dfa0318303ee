"""Makes the fan-outs between components of the meshes and instances that a file gives."""

from dataclasses import dataclass, replace
from itertools import pairwise

from ...workloads import Keys
from ...workloads.timeloop import Reader
from ..spec import Axis, Compute, Storage
from .components import Attributes, is_dummy


@dataclass
class Part:
    """A storage level or the compute units of a file, before the fan-outs are known."""

    path: Keys
    name: str
    component: Storage | Compute
    mesh_x: int = 1
    mesh_y: int = 1


def meshes(reader: Reader, path: Keys, attributes: Attributes, instances: int) -> tuple[int, int]:
    """The sizes meshX and meshY of a component with `instances`; without either, all instances stand on X."""
    mesh_x, mesh_y = attributes.integer("meshX"), attributes.integer("meshY")
    if mesh_x is None and mesh_y is None:
        return instances, 1
    if mesh_x is not None and mesh_y is not None and instances == 1:
        return mesh_x, mesh_y
    given = mesh_x or mesh_y or 1
    if instances % given or (mesh_x and mesh_y and mesh_x * mesh_y != instances):
        rule = f"{_product(mesh_x, mesh_y)} does not make {instances} instances"
        reader.fault(attributes.paths["meshX" if mesh_x else "meshY"], rule)
        return instances, 1
    return (mesh_x, instances // mesh_x) if mesh_x else (instances // given, given)


def _product(mesh_x: int | None, mesh_y: int | None) -> str:
    """The meshes that a file gives, in its words: `meshX 2 * meshY 4`."""
    return " * ".join(f"{key} {n}" for key, n in (("meshX", mesh_x), ("meshY", mesh_y)) if n)


def joined(reader: Reader, parts: list[Part]) -> tuple[tuple[Storage, ...], Compute | None]:
    """The levels with the fan-out axes between consecutive parts, Y outside X as in Timeloop's nests; the MAC units."""
    if parts and (parts[0].mesh_x, parts[0].mesh_y) != (1, 1):
        first = parts[0]
        reader.fault(
            first.path, f"the outermost level must have 1 instance, {first.name} has {first.mesh_x * first.mesh_y}"
        )
    levels: list[Storage] = []
    for outer, inner in pairwise(parts):
        if not isinstance(outer.component, Storage):
            continue
        axes = []
        for mesh, above, below in (("Y", outer.mesh_y, inner.mesh_y), ("X", outer.mesh_x, inner.mesh_x)):
            if below % above:
                reader.fault(
                    inner.path, f"mesh{mesh} of {inner.name} ({below}) must be a multiple of {outer.name}'s ({above})"
                )
            elif below > above:
                axes.append(Axis(f"{inner.name}_{mesh}", below // above, "X" if mesh == "X" else "Y"))
        levels.append(replace(outer.component, fanout=tuple(axes)))
    last = parts[-1].component if parts else None
    return _folded(levels), last if isinstance(last, Compute) else None


def _folded(levels: list[Storage]) -> tuple[Storage, ...]:
    """`levels` without dummy storages, which only carry the spatial loops of an axis of the level outside them."""
    folded: list[Storage] = []
    for level in levels:
        if not is_dummy(level) or not folded:
            folded.append(level)
            continue
        name = level.name.removeprefix("inter_").removesuffix("_spatial")
        several = len(level.fanout) > 1
        axes = tuple(replace(axis, name=f"{name}_{axis.mesh}" if several else name) for axis in level.fanout)
        folded[-1] = replace(folded[-1], fanout=folded[-1].fanout + axes)
    return tuple(folded)
