"""Architectures written as ZigZag's accelerator and mapping files."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..spec import Architecture, Storage

OPERANDS = {"Inputs": "I1", "Weights": "I2", "Outputs": "O"}
LINKS = {"O": "O", "W": "I2", "I": "I1"}
NAMES = {"N": "B", "G": "G", "M": "K", "C": "C", "P": "OY", "Q": "OX", "R": "FY", "S": "FX", "O": "OZ", "T": "FZ"}
UNBOUNDED = 10**10  # bits, where ours has no size
MOST_AXES = 4  # that its mapping files know
Energies = Mapping[str, tuple[float, float]]  # by level: pJ of a read and a write of the full width


def _faults(arch: Architecture) -> list[str]:
    """What ZigZag's files cannot say."""
    axes = [axis for level in arch.levels for axis in level.fanout]
    found = [f"{len(axes)} axes, its mapping files know {MOST_AXES}"] if len(axes) > MOST_AXES else []
    found += [f"{level.name}: systolic axes" for level in arch.levels if any(axis.systolic for axis in level.fanout)]
    found += [f"{axis.name}: two axes of one name" for axis in axes if [a.name for a in axes].count(axis.name) > 1]
    return found + [f"{level.name}: uneven placement" for level in arch.levels if level.memory]


def write_zigzag_accelerator(
    arch: Architecture, energies: Energies, mac_pj: float, kept: Mapping[str, Collection[str]]
) -> dict[str, Any]:
    """An architecture as an accelerator; `kept` are the tensors of each level. Raises ValueError for the rest.

    Memories have one port for reads and writes, as wide as an access. Constraints are left out.
    """
    if faults := _faults(arch):
        raise ValueError(f"{arch.name} cannot be written for ZigZag: {'; '.join(faults)}")
    dimensions = _dimensions(arch)
    memories = {}
    for index in range(len(arch.levels) - 1, -1, -1):
        level = arch.levels[index]
        operands = [OPERANDS[tensor] for tensor in OPERANDS if tensor in kept[level.name]]
        served = [dimensions[axis.name] for inner in arch.levels[index:] for axis in inner.fanout]
        if operands:
            memories[level.name] = _memory(level, energies[level.name], operands, served)
    array = {"input_precision": [arch.compute.word_bits] * 2, "unit_energy": mac_pj, "unit_area": 1}
    sizes = [axis.size for level in arch.levels for axis in level.fanout] or [1]
    array |= {"dimensions": list(dimensions.values()) or ["D1"], "sizes": sizes}
    return {"name": arch.name, "memories": memories, "operational_array": array}


def _dimensions(arch: Architecture) -> dict[str, str]:
    """D1, D2... by the name of the axis."""
    axes = [axis.name for level in arch.levels for axis in level.fanout]
    return {name: f"D{number}" for number, name in enumerate(axes, 1)}


def _memory(
    level: Storage, energies: tuple[float, float], operands: Sequence[str], served: list[str]
) -> dict[str, Any]:
    outward = {"I1": ("fh", "tl"), "I2": ("fh", "tl"), "O": ("fh", "tl", "fl", "th")}
    bits = [bandwidth for bandwidth in (level.read_bandwidth, level.write_bandwidth) if bandwidth is not None]
    wide = round(max(bits) * level.word_bits) if bits else level.width_bits
    port = {
        "name": "rw_port_1",
        "type": "read_write",
        "bandwidth_min": min(level.word_bits, wide),
        "bandwidth_max": wide,
    }
    share = wide / level.width_bits  # of an access as wide as the port
    return {
        "size": (level.capacity_bits or UNBOUNDED) // level.multiple_buffering,
        "r_cost": energies[0] * share,
        "w_cost": energies[1] * share,
        "area": 0,
        "latency": 1,
        "operands": list(operands),
        "ports": [port | {"allocation": [f"{op}, {way}" for op in operands for way in outward[op]]}],
        "served_dimensions": served,
    }


def write_zigzag_mapping(
    arch: Architecture, bounds: Mapping[str, Mapping[str, int]], windows: bool
) -> list[dict[str, Any]]:
    """The spatial loops of a mapping, dims and bounds by axis; an axis without loops has a bound of 1.

    `windows`: of a convolution, whose dims have other names there.
    """
    spatial = {}
    for axis, dimension in _dimensions(arch).items():
        loops = bounds.get(axis, {})
        spatial[dimension] = [f"{NAMES.get(dim, dim) if windows else dim}, {n}" for dim, n in loops.items() if n > 1]
    return [{"name": "default", "spatial_mapping": spatial, "memory_operand_links": LINKS}]
