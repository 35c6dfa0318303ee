"""Mappings read for another machine or layer than theirs: whatever both know by name, the rest left out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arch import Architecture, stacked
from ...workloads import Document, Keys, Workload
from ...workloads.timeloop import Reader, read_timeloop
from .batch import Bools, Ints
from .timeloop_kept import Kept
from .timeloop_read import TYPES, axis_slots

MOST = 2**62  # as large as a bound is held, more than the size of any dim


@dataclass(frozen=True, eq=False)
class Outline:
    """What a mapping says about a machine and a layer that it was not made for. It may break any of their limits."""

    bounds: Ints  # (slot, dim); 1 where it says nothing
    order: NDArray[np.int8]  # (level, position): the dim at each loop position, outermost first
    keep: Bools  # (level, tensor)
    common: int  # entries that speak of the machine and of a dim or tensor of the layer


def read_outline(
    source: Document | Path, arch: Architecture, workload: Workload, renamed: Mapping[str, str] | None = None
) -> Outline:
    """Read the one mapping of a file as far as it speaks of levels, axes, dims and tensors that are here.

    `renamed` says what levels and axes of the file are called here. Bounds that several entries of one place have are
    multiplied; residuals follow from the layer's sizes, so those written are left out. Raises InputError where the
    file is no mapping.
    """
    reader = Reader(source if isinstance(source, Document) else read_timeloop(source))
    root: Keys = () if isinstance(reader.document.data, list) else ("mapping",)
    if reader.value(root) is None:
        reader.fault((), 'the key "mapping" with a list is expected')
    entries = [entry for path in reader.items(root) if (entry := _entry(reader, path))]
    reader.finish()
    outline = _Outline(stacked(arch, workload), workload, dict(renamed or {}))
    for entry in sorted(entries, key=lambda entry: entry["type"] != "dataspace"):  # what is kept says below what
        outline.take_in(entry)
    return Outline(outline.bounds, outline.order(), outline.kept.keep, outline.common)


def _entry(reader: Reader, path: Keys) -> dict[str, Any]:
    """Read one entry of the list; an empty one where its type is none of ours."""
    reader.mapping(path)
    kind = TYPES.get(reader.text((*path, "type"), required=True) or "")
    factors = (
        [(factor.dim, factor.bound) for factor in reader.factors((*path, "factors"))] if kind != "dataspace" else []
    )
    inner_first = reader.permutation((*path, "permutation"), [dim for dim, _ in factors])
    texts = {key: reader.text((*path, key), required=key == "target") for key in ("target", "tensor")}
    lists = {key: reader.words((*path, key)) for key in ("keep", "bypass")}
    return (
        {
            "type": kind,
            **texts,
            "factors": dict(factors),
            "inner_first": list(inner_first),
            "split": reader.integer((*path, "split"), least=0),
            **lists,
        }
        if kind
        else {}
    )


class _Outline:
    """The arrays of a mapping while its entries are taken in."""

    def __init__(self, arch: Architecture, workload: Workload, renamed: Mapping[str, str]) -> None:
        self.arch, self.dims, self.renamed, self.common = arch, workload.dims, renamed, 0
        self.tensors = [tensor.name for tensor in workload.tensors]
        self.bounds = np.ones((len(arch.slots), len(self.dims)), np.int64)  # (slot, dim)
        self.kept = Kept(Reader(Document("", {}, {})), arch, self.tensors)
        self.temporal = [number for number, slot in enumerate(arch.slots) if not slot.spatial]
        self.axes = axis_slots(arch)
        self._inner_first: list[list[str]] = [[] for _ in arch.levels]  # of dims with loops, as entries tell

    def take_in(self, entry: Mapping[str, Any]) -> None:
        """Take in one entry, if it speaks of something that is here."""
        target = self.renamed.get(entry["target"], entry["target"])
        if target not in self.kept.memories and target not in self.axes:
            return
        known = any(dim in self.dims for dim in entry["factors"])
        known |= any(name in self.tensors for key in ("keep", "bypass") for name in entry[key])
        self.common += known
        {"temporal": self._temporal, "spatial": self._spatial, "dataspace": self._keep}[entry["type"]](entry, target)

    def order(self) -> NDArray[np.int8]:
        """The loop orders; dims that no entry orders stand outside those it does, in the order of the workload."""
        orders = [[*inner, *(dim for dim in self.dims if dim not in inner)][::-1] for inner in self._inner_first]
        return np.array([[self.dims.index(dim) for dim in order] for order in orders], np.int8)

    def _keep(self, entry: Mapping[str, Any], target: str) -> None:
        """Take in what a memory keeps, but for the outermost, which keeps all."""
        if target not in self.kept.memories or self.kept.memories[target][0] == 0:
            return
        without = self.arch.levels[self.kept.memories[target][0]].bypass
        lists = {key: [name for name in entry[key] if name in self.tensors] for key in ("keep", "bypass")}
        self.kept.put((), target, lists | {"keep": [name for name in lists["keep"] if name not in without]})

    def _temporal(self, entry: Mapping[str, Any], target: str) -> None:
        if target not in self.kept.memories:
            return
        stack, tensor = self.kept.memories[target], entry["tensor"]
        level = stack[-1]
        if len(stack) > 1 and tensor in self.tensors:
            level = next((at for at in stack if self.kept.keep[at, self.tensors.index(tensor)]), level)
        earlier = self._inner_first[level]  # of an entry before, whose loops stand outside these
        new = [dim for dim in entry["inner_first"] if dim in self.dims and dim not in earlier]
        self._inner_first[level] = [*dict.fromkeys([*new, *earlier])]
        self._multiply(self.temporal[level], entry["factors"])

    def _spatial(self, entry: Mapping[str, Any], target: str) -> None:
        """Spread dims over the axis that is the target, or over those below the level by their mesh."""
        if target not in self.kept.memories:
            self._multiply(self.axes[target], entry["factors"])
            return
        level = self.kept.memories[target][-1]
        first = self.temporal[level] + 1
        inner_first, split = entry["inner_first"], entry["split"]
        for dim, bound in entry["factors"].items():
            at = inner_first.index(dim) if dim in inner_first else len(inner_first)
            mesh = "X" if split is None or at < split else "Y"
            axes = self.arch.levels[level].fanout
            slots = [slot for slot, axis in enumerate(axes, first) if len(axes) == 1 or axis.mesh == mesh]
            for slot in slots[:1]:
                self._multiply(slot, {dim: bound})

    def _multiply(self, slot: int, factors: Mapping[str, int]) -> None:
        for dim, bound in self._known(factors):
            self.bounds[slot, dim] = min(int(self.bounds[slot, dim]) * bound, MOST)

    def _known(self, factors: Mapping[str, int]) -> Iterator[tuple[int, int]]:
        """Yield the dims that are here; a bound of 0, all of the dim, becomes more than any has."""
        for dim, bound in factors.items():
            if dim in self.dims:
                yield self.dims.index(dim), bound or MOST
