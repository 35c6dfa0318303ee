"""Writes an architecture in the tree dialect that Timeloop's own binaries read."""

from math import prod
from typing import Any

from ..ours_alone import without_counterpart
from ..spec import Architecture, Axis, Compute, Storage
from .components import kind

Entry = dict[str, Any]


def _faults(arch: Architecture) -> list[str]:
    """The properties of an architecture that the tree dialect cannot express."""
    faults = []
    for level in arch.levels:
        if level.tensor_bits:
            faults.append(f"{level.name}: word widths by tensor")
        if level.width_bits % level.word_bits:
            faults.append(f"{level.name}: a width of {level.width_bits} bits for words of {level.word_bits}")
        if level.capacity_bits is not None and level.capacity_bits % level.word_bits:
            faults.append(f"{level.name}: a capacity of {level.capacity_bits} bits for words of {level.word_bits}")
        faults += without_counterpart(level)
    return faults


def checked(arch: Architecture) -> None:
    """Raises ValueError with all that Timeloop's dialects cannot express."""
    faults = _faults(arch)
    if faults:
        raise ValueError(f"{arch.name} cannot be written for Timeloop: {'; '.join(faults)}")


def dummy_name(axis: Axis) -> str:
    """The name of the dummy storage that carries the loops of an axis."""
    return f"inter_{axis.name}_spatial"


def _plain(value: object) -> Any:
    """`value` with lists for tuples, as YAML has them."""
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _attributes(component: Storage | Compute) -> Entry:
    attributes = {name: _plain(value) for name, value in component.attributes}
    if "technology_nm" in attributes:
        attributes["technology"] = f"{attributes.pop('technology_nm'):g}nm"
    return attributes


def storage_entry(level: Storage) -> Entry:
    """The class and the attributes of a level."""
    shared = level.attribute("cluster_size", 1)
    row = level.width_bits // (shared if isinstance(shared, int) else 1)  # of one instance
    attributes: Entry = {"word_bits": level.word_bits, "width": level.width_bits, "block_size": row // level.word_bits}
    if level.capacity_bits is not None:
        whole = level.capacity_bits % row == 0
        words = level.capacity_bits // level.word_bits
        attributes |= {"depth": level.capacity_bits // row} if whole else {"entries": words}
    attributes |= {"n_banks": level.banks, "n_ports": level.ports}
    attributes |= {bandwidth.key: bandwidth.rate for bandwidth in level.bandwidths}
    if level.multiple_buffering != 1:
        attributes["multiple_buffering"] = level.multiple_buffering
    unbounded = level.capacity_bits is None and "DRAM" not in level.cls  # only a DRAM may be
    classed = {"class": "DRAM", "subclass": level.cls} if unbounded else _classed(level.cls, "storage")
    return classed | {"attributes": _attributes(level) | attributes}


def compute_entry(compute: Compute) -> Entry:
    """The class and the attributes of the compute units."""
    attributes = _attributes(compute) | {"datawidth": compute.word_bits}
    return _classed(compute.cls, "compute") | {"attributes": attributes}


def _classed(cls: str, wanted: str) -> Entry:
    """`cls` as the class where Timeloop takes it for `wanted`, else as the subclass of the class `wanted`."""
    return {"class": cls} if kind(cls) == wanted else {"class": wanted, "subclass": cls}


def _placed(name: str, entry: Entry, inside: list[Axis]) -> Entry:
    """The entry with its name and its instances: those of the axes around it."""
    instances = prod(axis.size for axis in inside)
    if instances == 1:
        return {"name": name, **entry}
    mesh_x = prod(axis.size for axis in inside if axis.mesh == "X")
    attributes = entry["attributes"] | {"meshX": mesh_x, "meshY": instances // mesh_x}
    return {**{"name": f"{name}[0..{instances - 1}]"}, **entry, "attributes": attributes}


def write_timeloop_arch(arch: Architecture, dummies: bool = False) -> dict[str, Any]:
    """The architecture as a Timeloop 0.3 tree; constraints are left out.

    One axis per mesh becomes a plain fan-out with meshX and meshY, in which Timeloop nests X inside Y. Where several
    axes of a level share a mesh, or everywhere with `dummies`, each axis gets a dummy storage `inter_AXIS_spatial` that
    only carries its loops. Raises ValueError with all that the dialect cannot express.
    """
    checked(arch)
    dummy = {"class": "dummy_storage", "attributes": {"word_bits": 1, "width": 1, "block_size": 1, "depth": 1}}
    local: list[Entry] = []
    inside: list[Axis] = []
    for level in arch.levels:
        local.append(_placed(level.name, storage_entry(level), inside))
        shared = dummies or len({axis.mesh for axis in level.fanout}) < len(level.fanout)
        for axis in level.fanout:
            if shared and axis.size > 1:
                local.append(_placed(dummy_name(axis), dummy, inside))
            inside = [*inside, axis]
    local.append(_placed(arch.compute.name, compute_entry(arch.compute), inside))
    return {"architecture": {"version": 0.3, "subtree": [{"name": arch.name, "local": local}]}}
