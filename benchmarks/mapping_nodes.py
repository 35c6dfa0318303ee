"""Mappings as nodes from the outside in, as loop nests with a place for each tensor are written: to ours and back."""

from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
from ruby_map.arch import Architecture
from ruby_map.mapper.mapping import MappingBatch
from ruby_map.workloads import Tensor, Workload

Node = dict[str, Any]  # {memory, tensors}, {dim, tile} of a loop in time, {dim, tile, axis} of one over an axis


def as_nodes(batch: MappingBatch) -> list[Node]:
    """A mapping on a machine with stacks, node by node.

    AccelForge moves a tile again at each turn of a loop above its node, changed or not. So a node goes outwards over
    loops that leave its tile in place, as far as the array or another memory lets it.
    """
    arch, workload = batch.arch, batch.workload
    tile = dict(zip(workload.dims, workload.sizes, strict=True))
    inside = dict(zip(workload.dims, batch.tables, strict=True))
    nodes: list[Node] = []
    slot = 0
    for level, storage in enumerate(arch.levels):
        for t in np.flatnonzero(batch.keep[0, level]):
            _hoist(nodes, storage.of_memory, workload.tensors[t])
        order = [workload.dims[d] for d in batch.order[0, level]]
        for axis in (None, *storage.fanout):
            for dim in order if axis is None else workload.dims:
                size = min(int(inside[dim].strides[batch.rows[0, workload.dims.index(dim)], slot]), tile[dim])
                if size < tile[dim]:
                    nodes.append({"dim": dim, "tile": size} | ({"axis": axis.name} if axis else {}))
                    tile[dim] = size
            slot += 1
    return [node for node, next_one in pairwise([*nodes, {}]) if not _same_loop(node, next_one)]


def _same_loop(node: Node, inner: Node) -> bool:
    """Whether both are loops of one dim in time, which are one loop."""
    return "dim" in node and "axis" not in {**node, **inner} and node["dim"] == inner.get("dim")


def _hoist(nodes: list[Node], memory: str, tensor: Tensor) -> None:
    """Add the node of a tensor."""
    place = len(nodes)
    while place and _stays(nodes[place - 1], memory, tensor):
        place -= 1
    nodes.insert(place, {"memory": memory, "tensors": [tensor.name]})


def _stays(node: Node, memory: str, tensor: Tensor) -> bool:
    """Whether a tensor may be placed outside of a node and moves no word more."""
    if "memory" in node:
        return bool(node["memory"] == memory)
    return "axis" not in node and node["dim"] not in tensor.dims


def as_batch(nodes: Sequence[Node], arch: Architecture, workload: Workload) -> MappingBatch:
    """A mapping on a machine with stacks for all memories but the outermost. Raises ValueError for one we do not have.

    Ours are chains of bounds: only the outermost loop of a dim may end early. A level has one loop of each dim.
    """
    names = [tensor.name for tensor in workload.tensors]
    places = _places(nodes, arch, names)
    bounds = np.ones((len(arch.slots), len(workload.dims)), np.int64)
    keep = np.zeros((len(arch.levels), len(names)), bool)
    orders: list[list[int]] = [[] for _ in arch.levels]
    tile = list(workload.sizes)
    level = 0
    for outer, node in pairwise([{}, *nodes]):
        if "memory" in node:
            levels = [places[node["memory"], name] for name in node["tensors"]]
            keep[levels, [names.index(name) for name in node["tensors"]]] = True
            level = max(levels)
            continue
        d, slot = workload.dims.index(node["dim"]), _slot(arch, level, node.get("axis"))
        if bounds[slot, d] > 1 or ("axis" in outer and "axis" not in node):
            raise ValueError(f"loop {node} has no place of its own at {arch.levels[level].name}")
        if tile[d] < workload.sizes[d] and tile[d] % node["tile"]:
            raise ValueError(f"loop {node} ends early inside another of its dim")
        bounds[slot, d], tile[d] = ceil(tile[d] / node["tile"]), node["tile"]
        orders[level] += [] if "axis" in node else [d]
    order = [own + [d for d in range(len(workload.dims)) if d not in own] for own in orders]
    return MappingBatch.of(arch, workload, bounds[None], np.array([order]), keep[None])


def _slot(arch: Architecture, level: int, axis: str | None) -> int:
    """The number of a slot."""
    return next(
        s for s, slot in enumerate(arch.slots) if slot.level == level and axis == (slot.axis and slot.axis.name)
    )


def _places(nodes: Sequence[Node], arch: Architecture, names: Sequence[str]) -> dict[tuple[str, str], int]:
    """The level of each memory and tensor: the last at the end of a stack, those of a node as the workload has them."""
    places = {}
    for stack in arch.stacks:
        memory = arch.levels[stack[0]].of_memory
        own = [node["tensors"] for node in nodes if node.get("memory") == memory]
        kept = [name for tensors in own for name in sorted(tensors, key=names.index)]
        for i, name in enumerate(kept):
            places[memory, name] = max(stack[0], stack[-1] + 1 - len(kept) + i)
    return places
