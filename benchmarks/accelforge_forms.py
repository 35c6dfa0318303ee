"""Machines, layers and mappings in the form of AccelForge, which need not be installed for it.

It reads outputs that move up at the memory that they leave; here that read is a part of `update_pj` of the memory that
they reach. So `update_pj` of each memory has to be its `write_pj` plus the `read_pj`
of the next memory inside, where there is one.
"""

from collections.abc import Container, Sequence
from math import isclose
from typing import Any

import yaml
from mapping_nodes import Node
from ruby_map.arch import Architecture, Axis, Storage
from ruby_map.energy import EnergyTable
from ruby_map.workloads import Tensor, Workload


def specification(arch: Architecture, table: EnergyTable, workload: Workload, nodes: Sequence[Node] = ()) -> str:
    """The YAML of a machine as it is written (no stacks), of a layer, and of a mapping if there are nodes.

    Raises ValueError for energies of updates that AccelForge does not have.
    """
    parts: list[tuple[str, dict[str, Any]]] = []
    inner = [*(level.read_pj for level in table.levels[1:]), 0.0]
    for level, energy, drain in zip(arch.levels, table.levels, inner, strict=True):
        if not isclose(energy.update_pj, energy.write_pj + drain):
            raise ValueError(f"{level.name}: update_pj is {energy.update_pj}, not {energy.write_pj + drain}")
        parts.append(("Memory", _memory(level, energy.read_pj, energy.write_pj)))
        if level.fanout:
            parts.append(
                ("Container", {"name": _array(level), "spatial": [_axis(axis, workload) for axis in level.fanout]})
            )
    parts.append(("Compute", _unit(arch.compute.name, [("compute", table.compute.compute_pj, {"throughput": 1})])))
    text = yaml.safe_dump({"workload": _layer(workload)}) + "arch:\n" + _nodes(parts)
    return text + ("mapping:\n" + _nodes(_mapping(nodes, arch, workload)) if nodes else "")


def _nodes(parts: Sequence[tuple[str, dict[str, Any]]]) -> str:
    """Tagged nodes, each on a line."""
    lines = [yaml.safe_dump(part, default_flow_style=True, width=10_000).strip() for _, part in parts]
    return "  nodes:\n" + "".join(f"  - !{tag} {line}\n" for (tag, _), line in zip(parts, lines, strict=True))


def _memory(level: Storage, read_pj: float, write_pj: float) -> dict[str, Any]:
    access = {"bits_per_action": level.width_bits, "throughput": "inf"}
    unit = _unit(level.name, [("read", read_pj, access), ("write", write_pj, access)])
    size = "inf" if level.capacity_bits is None else level.capacity_bits
    return unit | {"size": size, "tensors": {"keep": "All"}}


def _unit(name: str, actions: Sequence[tuple[str, float, dict[str, Any]]]) -> dict[str, Any]:
    listed = [{"name": action, "energy": energy} | more for action, energy, more in actions]
    return {"name": name, "leak_power": 0, "area": 0, "actions": listed}


def _array(level: Storage) -> str:
    return f"below_{level.name}"


def _axis(axis: Axis, workload: Workload) -> dict[str, Any]:
    """An axis that only the dims of its constraint may be spread over.

    Where these have size 1 it is a single place: AccelForge knows no dims of size 1, and a rule about them is none.
    """
    dims = axis.constraint.dims
    if dims is None:
        return {"name": axis.name, "fanout": axis.size}
    spread = [dim.lower() for dim in dims if dim in workload.dims and workload.size(dim) > 1]
    if not spread:
        return {"name": axis.name, "fanout": 1}
    rule = {"expression": f"~({' | '.join(spread)})", "operator": "==", "value": 1}
    return {"name": axis.name, "fanout": axis.size, "loop_bounds": [rule]}


def _layer(workload: Workload) -> dict[str, Any]:
    """The layer without its dims of size 1, which have no loops."""
    sizes = {dim: size for dim, size in zip(workload.dims, workload.sizes, strict=True) if size > 1}
    accesses = [
        {"name": tensor.name, "projection": _projection(tensor, sizes)} | ({"output": True} if tensor.output else {})
        for tensor in workload.tensors
    ]
    shape = {dim.lower(): f"0 <= {dim.lower()} < {size}" for dim, size in sizes.items()}
    einsum = {"name": "layer", "tensor_accesses": accesses}
    return {"iteration_space_shape": shape, "bits_per_value": {"All": 16}, "einsums": [einsum]}


def _projection(tensor: Tensor, dims: Container[str]) -> dict[str, str]:
    """The index expressions; the rank of a window is named after its dims."""
    ranks = [[term for term in rank if term.dim in dims] for rank in tensor.ranks]
    return {
        "".join(term.dim for term in rank): " + ".join(
            term.dim.lower() if term.coef == 1 else f"{term.coef}*{term.dim.lower()}" for term in rank
        )
        for rank in ranks
        if rank
    }


def _mapping(nodes: Sequence[Node], arch: Architecture, workload: Workload) -> list[tuple[str, dict[str, Any]]]:
    array = next((_array(level) for level in arch.levels if level.fanout), "")
    parts: list[tuple[str, dict[str, Any]]] = []
    for node in nodes:
        if "memory" in node:
            parts.append(("Storage", {"tensors": node["tensors"], "component": node["memory"]}))
            continue
        loop = {"rank_variable": node["dim"].lower(), "tile_shape": node["tile"]}
        spatial = {"name": node["axis"], "component": array} if "axis" in node else {}
        parts.append(("Spatial" if spatial else "Temporal", loop | spatial))
    return [*parts, ("Compute", {"einsum": "layer", "component": arch.compute.name})]
