"""Mappings as Timeloop writes them: entries of target, type, factors, permutation, split, keep and bypass."""

from typing import Any

import numpy as np
import yaml

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
        "target": batch.arch.levels[level].name,
        "type": "temporal",
        "factors": _factors(names, factors[slot], residuals[slot]),
        "permutation": _permutation(inner_first),
    }


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
                "target": batch.arch.levels[level].name,
                "type": "spatial",
                "factors": _factors(names, factors[slots].prod(axis=0), residuals[slots].prod(axis=0)),
                "permutation": _permutation([names[d] for d in inner_first]),
                "split": len(on_x) if "Y" in used else len(names),
            }
        ]
    known = [level.name for level in batch.arch.levels]
    known += [slot.axis.name for slot in batch.arch.slots if slot.axis]
    return [
        {
            "target": axis.name if known.count(axis.name) == 1 else batch.arch.slots[slot].name,
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
    """
    if len(batch) != 1:
        raise ValueError(f"one mapping is expected, got a batch of {len(batch)}")
    factors, residuals = batch.factors[0], batch.residuals[0]  # (slot, dim)
    entries: list[Entry] = []
    for slot, place in enumerate(batch.arch.slots):
        if not place.spatial:
            entries.append(_temporal(batch, place.level, slot, factors, residuals))
            if batch.arch.levels[place.level].fanout:
                entries += _spatial(batch, place.level, slot + 1, factors, residuals)
    tensors = [tensor.name for tensor in batch.workload.tensors]
    for level, row in list(zip(batch.arch.levels, batch.keep[0].tolist(), strict=True))[1:]:
        lists: dict[str, list[str]] = {"keep": [], "bypass": []}
        for name, keep in zip(tensors, row, strict=True):
            lists["keep" if keep else "bypass"].append(name)
        entries.append({"target": level.name, "type": "bypass", **lists})
    return entries


def mapping_yaml(batch: MappingBatch) -> str:
    """`write_mapping` as the text of a YAML file."""
    return yaml.safe_dump({"mapping": write_mapping(batch)}, sort_keys=False, default_flow_style=None, width=1000)
