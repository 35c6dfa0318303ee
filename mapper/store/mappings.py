"""Mappings as plain values, by the names of levels, dims and tensors, and back.

A mapping that does the same as another has the same values: they leave out loops of bound 1.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...arch import Architecture, stacked
from ...workloads import Workload
from ..mapping import Bools, Ints, MappingBatch
from ..problem import Json


@dataclass(frozen=True)
class Names:
    """The names of a machine's slots and levels, and of a layer's dims and tensors, in the order of their axes."""

    arch: Architecture  # perhaps with stacks of levels
    workload: Workload
    slots: tuple[str, ...] = field(init=False)
    levels: tuple[str, ...] = field(init=False)
    tensors: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        every = self.arch.slots
        slots = (slot.name if slot.spatial else self.arch.levels[slot.level].name for slot in every)
        object.__setattr__(self, "slots", tuple(slots))
        object.__setattr__(self, "levels", tuple(level.name for level in self.arch.levels))
        object.__setattr__(self, "tensors", tuple(tensor.name for tensor in self.workload.tensors))

    @property
    def dims(self) -> tuple[str, ...]:
        """The dims."""
        return self.workload.dims


def plain_mappings(batch: MappingBatch) -> list[Json]:
    """Convert each mapping to `{"bounds": {SLOT: {DIM: n}}, "orders": {LEVEL: [DIM]}, "keep": {LEVEL: [TENSOR]}}`.

    Bounds and orders have loops over 1 alone, orders are outermost first. The outermost level keeps everything and is
    not listed. Of a memory with uneven placement the levels are NAME/1, NAME/2... `read_mappings` reads them.
    """
    names, factors = Names(batch.arch, batch.workload), batch.factors
    return [_plain(names, *rows) for rows in zip(factors, batch.order.tolist(), batch.keep, strict=True)]


def key_of(mapping: Json) -> str:
    """Hash a plain mapping: equal for mappings that do the same."""
    return hashlib.sha256(json.dumps(mapping, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:32]


def _plain(names: Names, factors: Ints, orders: list[list[int]], keep: Bools) -> Json:
    """Convert a mapping: `factors` # (slot, dim), `orders` per level, `keep` # (level, tensor)."""
    bounds: dict[str, dict[str, int]] = {}
    for slot, d in np.argwhere(factors > 1).tolist():
        bounds.setdefault(names.slots[slot], {})[names.dims[d]] = int(factors[slot, d])
    loops = {
        level: [names.dims[d] for d in own if names.dims[d] in bounds.get(level, {})]
        for level, own in zip(names.levels, orders, strict=True)
    }
    kept = {
        level: [name for name, keeps in zip(names.tensors, row, strict=True) if keeps]
        for level, row in zip(names.levels[1:], keep[1:].tolist(), strict=True)
    }
    return {"bounds": bounds, "orders": {level: own for level, own in loops.items() if own}, "keep": kept}


def read_mappings(
    arch: Architecture, workload: Workload, mappings: Sequence[Json]
) -> tuple[MappingBatch, dict[int, str]]:
    """Read plain mappings as a batch; and why some of them are none of this machine and layer, by their places.

    The batch has the others, in turn. Names that a mapping has and this machine has not make it none of it.
    """
    names = Names(stacked(arch, workload), workload)
    n, slots, levels = len(mappings), len(names.slots), len(names.levels)
    factors = np.ones((n, slots, len(names.dims)), np.int64)
    order = np.empty((n, levels, len(names.dims)), np.int8)
    keep = np.zeros((n, levels, len(names.tensors)), bool)
    keep[:, 0] = [not names.arch.home(name) for name in names.tensors]
    faults: dict[int, str] = {}
    for i, values in enumerate(mappings):
        try:
            _read(names, values, factors[i], order[i], keep[i])
        except (ValueError, TypeError, AttributeError, KeyError, OverflowError) as error:
            faults[i] = str(error)
    wrong = np.flatnonzero(~_covers(factors, workload.sizes))
    faults |= {i: "its bounds are none of the sizes of this layer" for i in wrong.tolist() if i not in faults}
    good = [i for i in range(n) if i not in faults]
    return MappingBatch.of(names.arch, workload, factors[good], order[good], keep[good]), faults


def _read(names: Names, values: Mapping[str, Json], factors: Ints, order: Ints, keep: Bools) -> None:
    """Fill the rows of a mapping: `factors` # (slot, dim), `order` # (level, position), `keep` # (level, tensor)."""
    for slot, bounds in values["bounds"].items():
        for dim, bound in bounds.items():
            factors[_place(names.slots, slot), _place(names.dims, dim)] = bound
    orders = values["orders"]
    for place, name in enumerate(names.levels):
        over = {names.dims.index(dim) for dim in values["bounds"].get(name, {})}
        own = [_place(names.dims, dim) for dim in orders.get(name, [])]
        if sorted(own) != sorted(over):
            raise ValueError(f"the order of {name} has other loops than its bounds")
        order[place] = [*(d for d in range(len(names.dims)) if d not in over), *own]
    for level, tensors in values["keep"].items():
        for tensor in tensors:
            keep[_place(names.levels, level), _place(names.tensors, tensor)] = True
    _known(orders, names.levels)


def _known(used: Mapping[str, object], names: Sequence[str]) -> None:
    for name in used:
        _place(names, name)


def _place(names: Sequence[str], name: str) -> int:
    """Find a name. Raises ValueError where there is none."""
    if name not in names:
        raise ValueError(f"unknown name {name!r}, not of {', '.join(names)}")
    return names.index(name)


def _covers(factors: Ints, sizes: Sequence[int]) -> Bools:
    """Whether all chains of bounds `factors` # (mapping, slot, dim) are canonical chains of the sizes. # (mapping,)"""
    remaining, whole = np.array(sizes)[None].repeat(len(factors), axis=0), (factors >= 1).all(axis=(1, 2))
    for bounds in np.maximum(factors, 1).transpose(1, 0, 2)[::-1]:
        whole &= (bounds <= remaining).all(axis=1)
        remaining = -(-remaining // bounds)
    covered: Bools = whole & (remaining == 1).all(axis=1)
    return covered
