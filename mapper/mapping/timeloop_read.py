"""Timeloop's mapping files, read: target, type, factors, permutation (innermost first), split, keep and bypass.

A bound P and its residual R stand as `M=4,2`. Residuals are derived here, so a file may leave them out: then each dim
is tiled upwards from the innermost loop, with ceil(tiles / P) tiles left outside each.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ...arch import Architecture, stacked
from ...workloads import Document, Keys, Workload
from ...workloads.timeloop import Factor, Reader, choices, read_timeloop
from .batch import MappingBatch
from .timeloop_bounds import Bounds
from .timeloop_kept import Kept

KEYS = ("target", "tensor", "type", "factors", "permutation", "split", "keep", "bypass", "no_link_transfer")
TYPES = {
    "temporal": "temporal",
    "spatial": "spatial",
    **dict.fromkeys(("bypass", "bypassing", "datatype", "dataspace"), "dataspace"),
}
_REFUSED = (
    "stream",
    "no_reuse",
    "no_temporal_reuse",
    "no_multicast_no_reduction",
    "rmw_first_update",
    "no_coalesce",
    "remainders",
)


class _Mapping:
    """One mapping while the entries of its file are read: where each speaks of, and what it says there."""

    def __init__(self, reader: Reader, arch: Architecture, workload: Workload):
        self.reader, self.arch, self.workload = reader, arch, workload
        self.dims = workload.dims
        self.tensors = [tensor.name for tensor in workload.tensors]
        self.bounds = Bounds(reader, arch, workload)
        # Missing dims come after those named, in their own order, further out.
        self.order = np.tile(np.arange(len(self.dims), dtype=np.int8)[::-1], (len(arch.levels), 1))
        self.kept = Kept(reader, arch, self.tensors)
        self.seen: dict[tuple[str, int], Keys] = {}  # (type, slot) -> the entry that described it
        self.levels = {name: stack[-1] for name, stack in self.kept.memories.items()}  # the last has the fanout
        self.temporal_slots = [number for number, slot in enumerate(arch.slots) if not slot.spatial]
        self.axes = {name: {"": slot} for name, slot in axis_slots(arch).items()} | axis_pairs(arch)
        self.apart: set[int] = set()  # slots of axes that have an entry of their own

    def entry(self, path: Keys) -> None:
        """Take in one entry of the list."""
        entry = self.reader.mapping(path, (*KEYS, *_REFUSED))
        for key in _REFUSED:
            if entry.get(key) not in (None, []):
                self.reader.fault((*path, key), f"{key} is not supported")
        target, written = self.target(path), self.reader.text((*path, "type"), required=True)
        kind = TYPES.get(written or "")
        if written == "skew":
            self.reader.fault((*path, "type"), "skew is not supported")
        elif written is not None and kind is None:
            self.reader.fault((*path, "type"), f"unknown type {written!r}{choices(written, TYPES)}")
        self.kept.check_key(path, kind)
        if target is not None and kind is not None:
            getattr(self, kind)(path, target)

    def in_turn(self, entries: Sequence[Keys]) -> list[Keys]:
        """The entries; with uneven placement those of what is kept come before the loops that stand below it."""
        self.apart = _apart(self.reader, entries, self.axes)
        several = any(len(stack) > 1 for stack in self.arch.stacks)
        kept = [key for key, kind in TYPES.items() if kind == "dataspace"]
        return sorted(entries, key=lambda path: several and self.reader.value((*path, "type")) not in kept)

    def target(self, path: Keys) -> str | None:
        """The entry's target: a level or an axis."""
        name = self.reader.text((*path, "target"), required=True)
        if name is None or name in self.levels or name in self.axes:
            return name
        self.reader.fault((*path, "target"), f"unknown target {name!r}{choices(name, (*self.levels, *self.axes))}")
        return None

    def once(self, path: Keys, kind: str, slot: int) -> None:
        """Report an entry that describes what another entry has described already."""
        first = self.seen.setdefault((kind, slot), path)
        if first != path:
            line = self.reader.document.line(first)
            self.reader.fault(path, f"a second {kind} entry for {self.arch.slots[slot].name}, first on line {line}")

    def loops(self, path: Keys) -> tuple[dict[str, Factor], tuple[str, ...]]:
        """The factors by dim, and all dims innermost first."""
        at = (*path, "factors")
        factors: dict[str, Factor] = {}
        for factor in self.reader.factors(at):
            if factor.op != "=":
                self.reader.fault(at, f"a mapping has = only, got {factor.dim}{factor.op}{factor.bound}")
            elif factor.dim not in self.dims:
                self.reader.fault(at, f"unknown dimension {factor.dim!r}{choices(factor.dim, self.dims)}")
            elif factor.dim in factors:
                self.reader.fault(at, f"two factors of {factor.dim}")
            else:
                factors[factor.dim] = self.checked(at, factor)
        at = (*path, "permutation")
        written = self.reader.permutation(at, self.dims)
        for dim in written:
            if dim not in self.dims:
                self.reader.fault(at, f"unknown dimension {dim!r}{choices(dim, self.dims)}")
        return factors, tuple(dict.fromkeys([*(dim for dim in written if dim in self.dims), *self.dims]))

    def checked(self, path: Keys, factor: Factor) -> Factor:
        """The factor with 0 as the dim's size, and a residual within its bound."""
        bound = factor.bound or self.workload.size(factor.dim)
        if factor.residual is not None and not 1 <= factor.residual <= bound:
            written = f"{factor.dim}={bound},{factor.residual}"
            self.reader.fault(path, f"a residual must be at least 1 and at most its bound, got {written}")
            return factor._replace(bound=bound, residual=None)
        return factor._replace(bound=bound)

    def temporal(self, path: Keys, target: str) -> None:
        """Take in the loops of a level and their order."""
        factors, inner_first = self.loops(path)
        if self.reader.value((*path, "split")) is not None:
            self.reader.fault((*path, "split"), "only spatial entries have a split")
        if target not in self.levels:
            if any(factor.bound > 1 for factor in factors.values()):
                self.reader.fault(path, f"the axis {target} has no temporal loops")
            return
        level = self.kept.below(path, target)
        slot = self.temporal_slots[level]
        self.once(path, "temporal", slot)
        self.order[level] = [self.dims.index(dim) for dim in reversed(inner_first)]
        for factor in factors.values():
            self.bounds.put(path, slot, factor)

    def spatial(self, path: Keys, target: str) -> None:
        """The first `split` loops of the permutation (else all) go to mesh X, the others to Y; one axis takes all."""
        factors, inner_first = self.loops(path)
        split = self.reader.integer((*path, "split"), least=0)
        split = len(self.dims) if split is None else split
        slots = self.spatial_slots(path, target, any(factor.bound > 1 for factor in factors.values()))
        if slots is None:
            return
        for slot in slots.values():
            self.once(path, "spatial", slot)
        for factor in factors.values():
            mesh = "X" if inner_first.index(factor.dim) < split else "Y"
            if (place := slots.get("", slots.get(mesh))) is not None:
                self.bounds.put(path, place, factor)
            elif factor.bound > 1:
                self.reader.fault(path, f"{target} has no fan-out below it, got {factor.dim}={factor.bound}")

    def spatial_slots(self, path: Keys, target: str, spread: bool) -> Mapping[str, int] | None:
        """The slots of a target's axes by their meshes, of one axis by "".

        None, with a fault, where axes share a mesh and loops are to be `spread` over them.
        """
        if target not in self.levels:
            return self.axes[target]
        first = self.temporal_slots[self.levels[target]] + 1
        fanout = enumerate(self.arch.levels[self.levels[target]].fanout, first)
        axes = [(slot, axis) for slot, axis in fanout if slot not in self.apart]
        slots = {axis.mesh if len(axes) > 1 else "": slot for slot, axis in axes}
        if len(slots) < len(axes) and spread:
            names = ", ".join(axis.name for _, axis in axes)
            self.reader.fault((*path, "target"), f"several axes of {target} share a mesh; name one of {names}")
            return None
        return slots

    def dataspace(self, path: Keys, target: str) -> None:
        """Keep and bypass lists; a tensor in neither is kept, unless the architecture bypasses it."""
        lists = {key: self.reader.words((*path, key)) for key in ("keep", "bypass")}
        for key, names in lists.items():
            for name in names:
                if name not in self.tensors:
                    self.reader.fault((*path, key), f"unknown tensor {name!r}{choices(name, self.tensors)}")
        for name in sorted(set(lists["keep"]) & set(lists["bypass"])):
            self.reader.fault(path, f"{name} is both kept and bypassed")
        if target not in self.levels:
            if lists["keep"]:
                self.reader.fault((*path, "keep"), f"the axis {target} keeps nothing")
            return
        level = self.levels[target]
        self.once(path, "dataspace", self.temporal_slots[level])
        if level == 0 and lists["bypass"]:
            self.reader.fault((*path, "bypass"), f"the outermost level {target} keeps every tensor")
            return
        self.kept.put(path, target, {key: [name for name in lists[key] if name in self.tensors] for key in lists})

    def batch(self) -> MappingBatch:
        """The mapping as a batch of one."""
        return MappingBatch.of(
            self.arch, self.workload, self.bounds.bounds[np.newaxis], self.order[np.newaxis], self.kept.keep[np.newaxis]
        )


def _apart(reader: Reader, entries: Sequence[Keys], axes: Mapping[str, Mapping[str, int]]) -> set[int]:
    """The slots of the axes that have a spatial entry of their own."""
    spatial = (path for path in entries if reader.value((*path, "type")) == "spatial")
    names = (reader.value((*path, "target")) for path in spatial)
    return {slot for name in names if isinstance(name, str) for slot in axes.get(name, {}).values()}


def _ordered(mapping: _Mapping) -> _Mapping:
    """Give the loops of a memory that no entry orders, all of bound 1, the order of its last."""
    for stack in mapping.arch.stacks:
        for level in stack[:-1]:
            if ("temporal", mapping.temporal_slots[level]) not in mapping.seen:
                mapping.order[level] = mapping.order[stack[-1]]
    return mapping


def axis_slots(arch: Architecture) -> dict[str, int]:
    """The slot of each fanout axis, by every name that a file may give it."""
    slots: dict[str, int] = {}
    levels, names = {level.name for level in arch.levels}, [slot.axis.name for slot in arch.slots if slot.axis]
    for number, slot in enumerate(arch.slots):
        if slot.axis is not None:
            slots[slot.name] = number
            if names.count(slot.axis.name) == 1 and slot.axis.name not in levels:
                slots |= {slot.axis.name: number, f"inter_{slot.axis.name}_spatial": number}
    return slots


def axis_pairs(arch: Architecture) -> dict[str, dict[str, int]]:
    """The slots by mesh of the two axes of one container, by the names that it and its dummy storage have."""
    slots, pairs, levels = axis_slots(arch), dict[str, dict[str, int]](), [level.name for level in arch.levels]
    for name, slot in slots.items():
        twin = name.removesuffix("_X") + "_Y"
        if name.endswith("_X") and twin in slots and arch.slots[slot].level == arch.slots[slots[twin]].level:
            both = {"X": slot, "Y": slots[twin]}
            names = (name[:-2], f"inter_{name[:-2]}_spatial")
            pairs |= {known: both for known in names if known not in slots and known not in levels}
    return pairs


def read_mapping(
    source: Document | Path | str, arch: Architecture, workload: Workload, at: Keys | None = None
) -> MappingBatch:
    """The one mapping of a file (root key `mapping`, or a list alone; or `at`), checked against `arch` and `workload`.

    Targets are levels, and axes by name (`PE_column`, `shared_glb.PE_column`, `inter_PE_column_spatial`, and `PE` for
    `PE_X` and `PE_Y`). Of a memory with uneven placement `keep` lists tensors outermost first, and `tensor` says below
    which one loops stand; without it they stand below all. What a file leaves out: factors are 1, orders the
    workload's, tensors kept unless the architecture bypasses them. Raises InputError with every fault.
    """
    reader = Reader(source if isinstance(source, Document) else read_timeloop(source))
    root: Keys = at if at is not None else () if isinstance(reader.document.data, list) else ("mapping",)
    mapping = _Mapping(reader, stacked(arch, workload), workload)
    if reader.value(root) is None:
        reader.fault((), 'the key "mapping" with a list is expected')
    for path in mapping.in_turn(reader.items(root)):
        mapping.entry(path)
    if not reader.faults:
        mapping.bounds.check(root)
    reader.finish()
    return _ordered(mapping).batch()
