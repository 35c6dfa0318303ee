"""Mappings as Timeloop writes them: entries of target, type, factors, permutation, split, keep and bypass."""

from collections.abc import Callable
from typing import Any

import numpy as np
import yaml

from ...arch import Architecture, Axis
from .batch import Ints, MappingBatch

Entry = dict[str, Any]


def _factors(names: tuple[str, ...], bounds: Ints, residuals: Ints) -> str:
    """`M=4,2 N=1`: a bound, and its residual where that differs. `bounds`, `residuals`: (dim,)."""
    factors = []
    for name, bound, residual in zip(names, bounds.tolist(), residuals.tolist(), strict=True):
        factors.append(f"{name}={bound}" + (f",{residual}" if residual != bound else ""))
    return " ".join(factors)


def _permutation(names: list[str]) -> str | list[str]:
    """Dims innermost first: one word where each is a letter, else a list."""
    return "".join(names) if all(len(name) == 1 for name in names) else names


def _temporal(batch: MappingBatch, level: int, slot: int, factors: Ints, residuals: Ints) -> Entry:
    names = batch.workload.dims
    inner_first = [names[d] for d in batch.order[0, level, ::-1]]
    return {
        "target": batch.arch.levels[level].of_memory,
        **_tensor(batch, level),
        "type": "temporal",
        "factors": _factors(names, factors[slot], residuals[slot]),
        "permutation": _permutation(inner_first),
    }


def _tensor(batch: MappingBatch, level: int) -> dict[str, str]:
    """The tensor above these loops, of a memory with uneven placement."""
    kept = np.flatnonzero(batch.keep[0, level]).tolist()
    return {"tensor": batch.workload.tensors[kept[0]].name} if batch.arch.levels[level].memory and kept else {}


def _spatial(batch: MappingBatch, level: int, first: int, factors: Ints, residuals: Ints) -> list[Entry]:
    """The fan-out below `level`, whose axes have the slots from `first` on.

    One entry where one can say it: at most one axis per mesh and no dim on two of them. Else one per axis.
    """
    names = batch.workload.dims
    axes = batch.arch.levels[level].fanout
    slots = range(first, first + len(axes))
    used = {axis.mesh: np.flatnonzero(factors[slot] > 1).tolist() for axis, slot in zip(axes, slots, strict=True)}
    spread = [d for dims in used.values() for d in dims]
    if len(used) == len(axes) and len(set(spread)) == len(spread):
        on_x = used.get("X", [])
        inner_first = [*on_x, *(d for d in range(len(names)) if d not in on_x)]
        return [
            {
                "target": batch.arch.levels[level].of_memory,
                "type": "spatial",
                "factors": _factors(names, factors[slots].prod(axis=0), residuals[slots].prod(axis=0)),
                "permutation": _permutation([names[d] for d in inner_first]),
                "split": len(on_x) if "Y" in used else len(names),
            }
        ]
    return [
        {
            "target": _axis_target(batch.arch, axis, slot),
            "type": "spatial",
            "factors": _factors(names, factors[slot], residuals[slot]),
            "permutation": _permutation(list(names)),
            "split": len(names) if axis.mesh == "X" else 0,
        }
        for axis, slot in zip(axes, slots, strict=True)
    ]


def write_mapping(batch: MappingBatch) -> list[Entry]:
    """The entries of a batch of one, outermost level first; `read_mapping` makes the same batch of them.

    Residuals stand where they differ from their bound. The outermost level keeps everything and says nothing of it.
    A memory with uneven placement has an entry of loops for each tensor that it keeps: those below it.
    """
    if len(batch) != 1:
        raise ValueError(f"one mapping is expected, got a batch of {len(batch)}")
    factors, residuals = batch.factors[0], batch.residuals[0]  # (slot, dim)
    entries: list[Entry] = []
    for slot, place in enumerate(batch.arch.slots):
        if not place.spatial:
            if batch.stands(place.level):
                entries.append(_temporal(batch, place.level, slot, factors, residuals))
            elif (factors[slot] > 1).any():
                raise ValueError(f"{place.name} has loops above its first tensor")
            if batch.arch.levels[place.level].fanout:
                entries += _spatial(batch, place.level, slot + 1, factors, residuals)
    return entries + [_kept(batch, stack) for stack in batch.arch.stacks[1:]]


def write_mapping_of_axes(batch: MappingBatch, target: Callable[[Axis], str], dummies: bool) -> list[Entry]:
    """The entries of a batch of one with an entry for each axis, `target(axis)`, in Timeloop's nesting.

    With `dummies` the targets are dummy storages, which have temporal loops of bound 1 and keep nothing. Raises
    ValueError for uneven placement, which Timeloop does not have.
    """
    if any(len(stack) > 1 for stack in batch.arch.stacks):
        raise ValueError("uneven placement cannot be written for Timeloop")
    names, factors, residuals = batch.workload.dims, batch.factors[0], batch.residuals[0]
    entries: list[Entry] = []
    for slot, place in enumerate(batch.arch.slots):
        if place.axis is not None and place.axis.size == 1:
            continue  # no fan-out: Timeloop has no level for it
        if place.axis is None:
            entries.append(_temporal(batch, place.level, slot, factors, residuals))
            continue
        own: Entry = {"target": target(place.axis)}
        split = len(names) if place.axis.mesh == "X" else 0
        bounds, order = _factors(names, factors[slot], residuals[slot]), _permutation(list(names))
        entries.append(own | {"type": "spatial", "factors": bounds, "permutation": order, "split": split})
        if dummies:
            ones = " ".join(f"{name}=1" for name in names)
            entries.append(own | {"type": "temporal", "factors": ones, "permutation": order})
            bypassed = [tensor.name for tensor in batch.workload.tensors]
            entries.append(own | {"type": "bypass", "keep": [], "bypass": bypassed})
    return entries + [_kept(batch, stack) for stack in batch.arch.stacks[1:]]


def _kept(batch: MappingBatch, stack: range) -> Entry:
    """The entry of what a memory keeps; with uneven placement in the order of its tensors, outermost first."""
    names = [tensor.name for tensor in batch.workload.tensors]
    kept = [names[v] for level in stack for v in np.flatnonzero(batch.keep[0, level])]
    bypass = [name for name in names if name not in kept]
    return {"target": batch.arch.levels[stack[0]].of_memory, "type": "bypass", "keep": kept, "bypass": bypass}


def mapping_yaml(batch: MappingBatch) -> str:
    """`write_mapping` as the text of a YAML file; a comment says which layer, where that is not as it was written."""
    marks = " ".join(f"--{name}" for name in batch.workload.transformations)
    head = f"# of {batch.workload.title}: ruby-model reads it with {marks}\n" if marks else ""
    entries = {"mapping": write_mapping(batch)}
    return head + yaml.safe_dump(entries, sort_keys=False, default_flow_style=None, width=1000)


def _axis_target(arch: Architecture, axis: Axis, slot: int) -> str:
    """The name of an axis, or that of its slot where another axis or a memory has the same."""
    known = [arch.levels[stack[0]].of_memory for stack in arch.stacks]
    known += [place.axis.name for place in arch.slots if place.axis]
    return axis.name if known.count(axis.name) == 1 else arch.slots[slot].name
