"""Architectures written as ZigZag's accelerator and mapping files."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ..ours_alone import without_counterpart
from ..spec import Architecture, Compute, Storage
from .read import LIMITS

OPERANDS = {"Inputs": "I1", "Weights": "I2", "Outputs": "O"}
LINKS = {"O": "O", "W": "I2", "I": "I1"}
UNBOUNDED = 10**10  # bits, where ours has no size
MOST_AXES = 4  # that its mapping files know
Energies = Mapping[str, tuple[float, float, float]]  # by level: pJ of a read, write and update of the full width


def _faults(arch: Architecture, energies: Energies, kept: Mapping[str, Collection[str]]) -> list[str]:
    """What ZigZag's files cannot say."""
    axes = [axis for level in arch.levels for axis in level.fanout]
    faults = [f"{len(axes)} axes, its mapping files know {MOST_AXES}"] if len(axes) > MOST_AXES else []
    faults += [rule for level in arch.levels for rule in without_counterpart(level)]
    faults += [f"{axis.name}: two axes of one name" for axis in axes if [a.name for a in axes].count(axis.name) > 1]
    for level in arch.levels:
        _, write, update = energies[level.name]
        if write != update and "Outputs" in kept[level.name]:
            faults.append(
                f"{level.name}: a write of {write:g} pJ and an update of {update:g} pJ, which have one cost there"
            )
        faults += _bandwidth_faults(level, arch.compute)
    return faults


def _bandwidth_faults(level: Storage, compute: Compute) -> Iterator[str]:
    """Bandwidths that are no whole bits of a port, or in other words than the MAC units have, or of several ports."""
    limits = _limits(level)
    if "shared" in limits and len(limits) > 1:
        yield f"{level.name}: a bandwidth of reads or writes below that of both together, but each word passes one port"
    for bandwidth in set(limits.values()):
        if level.word_bits != compute.word_bits:
            rule = f"those of {compute.name} have {compute.word_bits}"
            yield f"{level.name}: a bandwidth in words of {level.word_bits} bits, {rule}"
        elif not (bandwidth * level.word_bits).is_integer():
            yield f"{level.name}: a bandwidth of {bandwidth * level.word_bits:g} bits, ports have whole ones"


def _limits(level: Storage) -> dict[str, float]:
    """The bandwidths of a level by kind, without those that others imply."""
    limits: dict[str, float] = {limit.kind: limit.rate for limit in level.bandwidths}
    if "shared" in limits:
        shared = limits.pop("shared")
        limits = {kind: rate for kind, rate in limits.items() if rate < shared}
        if len(limits) < 2 or sum(limits.values()) > shared:
            limits["shared"] = shared
    return limits


def write_zigzag_accelerator(
    arch: Architecture, energies: Energies, mac_pj: float, kept: Mapping[str, Collection[str]]
) -> dict[str, Any]:
    """An architecture as an accelerator; `kept` are the tensors of each level. Raises ValueError for the rest.

    A memory has one port for reads and writes where they share a bandwidth, or have none; else one for each. A port
    without a bandwidth is as wide as an access and says so in its name. Constraints are left out.
    """
    if faults := _faults(arch, energies, kept):
        raise ValueError(f"{arch.name} cannot be written for ZigZag: {'; '.join(faults)}")
    dimensions = _dimensions(arch)
    alone = [] if dimensions else ["D1"]  # a machine without axes: an array of a single MAC unit
    memories = {}
    for index in range(len(arch.levels) - 1, -1, -1):
        level = arch.levels[index]
        operands = [OPERANDS[tensor] for tensor in OPERANDS if tensor in kept[level.name]]
        served = [dimensions[axis.name] for inner in arch.levels[index:] for axis in inner.fanout]
        if operands:
            memories[level.name] = _memory(level, energies[level.name], operands, served or alone)
    array = {"input_precision": [arch.compute.word_bits] * 2, "unit_energy": mac_pj, "unit_area": 1}
    sizes = [axis.size for level in arch.levels for axis in level.fanout] or [1]
    array |= {"dimensions": list(dimensions.values()) or alone, "sizes": sizes}
    return {"name": arch.name, "memories": memories, "operational_array": array}


def _dimensions(arch: Architecture) -> dict[str, str]:
    """D1, D2... by the name of the axis."""
    axes = [axis.name for level in arch.levels for axis in level.fanout]
    return {name: f"D{number}" for number, name in enumerate(axes, 1)}


def _memory(
    level: Storage, energies: tuple[float, float, float], operands: Sequence[str], served: list[str]
) -> dict[str, Any]:
    ports = list(_ports(level, operands, bool(served)))
    share = max(port["bandwidth_max"] for port in ports) / level.width_bits  # of an access as wide as the widest port
    return {
        "size": (level.capacity_bits or UNBOUNDED) // level.multiple_buffering,
        "r_cost": energies[0] * share,
        "w_cost": energies[1] * share,
        "area": 0,
        "latency": 1,
        "operands": list(operands),
        "ports": ports,
        "served_dimensions": served,
    }


def _ports(level: Storage, operands: Sequence[str], serves: bool) -> Iterator[dict[str, Any]]:
    """A port for reads and writes, or one for each; a name says where a reader would take it for the contrary."""
    inward, outward = {"I1": ["fh"], "I2": ["fh"], "O": ["fh", "fl"]}, {"I1": ["tl"], "I2": ["tl"], "O": ["tl", "th"]}
    both = {op: [*inward[op], *outward[op]] for op in operands}
    limits = _limits(level)
    kinds = [("rw_port_1", "read_write", limits.get("shared"), both)]
    if "read" in limits or "write" in limits:
        kinds = [("r_port_1", "read", limits.get("read"), outward)]
        kinds += [("w_port_1", "write", limits.get("write"), inward)]
    for name, kind, bandwidth, ways in kinds:
        wide = level.width_bits if bandwidth is None else round(bandwidth * level.word_bits)
        yield {
            "name": f"{LIMITS[bandwidth is not None]}_{name}" if (bandwidth is not None) != serves else name,
            "type": kind,
            "bandwidth_min": min(level.word_bits, wide),
            "bandwidth_max": wide,
            "allocation": [f"{op}, {way}" for op in operands for way in ways[op]],
        }


def write_zigzag_mapping(
    arch: Architecture, bounds: Mapping[str, Mapping[str, int]], names: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The spatial loops of a mapping, dims and bounds by axis; `names` are those of the dims there.

    Without `bounds` nothing is said of them: the array may be spread as a reader likes.
    """
    spatial = {}
    for axis, dimension in _dimensions(arch).items():
        loops = bounds.get(axis, {})
        spatial[dimension] = [f"{names[dim]}, {n}" for dim, n in loops.items() if n > 1]
    entry = {"name": "default"} | ({"spatial_mapping": spatial} if bounds else {})
    return [entry | {"memory_operand_links": LINKS}]
