"""The memories of a machine, and what each may keep, listed again for the checker.

A memory with uneven placement is several levels, called `RF/1`, `RF/2`, ..., the outermost first: one for each tensor
that it may keep. Each keeps at most one tensor, and those that keep none come first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, permutations

import numpy as np

from ....arch import Architecture, Storage
from ....energy import EnergyTable, LevelEnergy
from ....workloads import Workload
from ...mapping import Bools

Kept = tuple[str, ...]  # names of tensors: sorted, but of a memory with several levels in their order


@dataclass(frozen=True)
class Memory:
    """The consecutive levels that are one memory: with even placement a single one."""

    name: str
    levels: tuple[int, ...]
    storage: Storage  # what all its levels share
    resident: frozenset[str]  # tensors that it has whole, at its last level

    @property
    def several(self) -> bool:
        """Whether it has a level for each tensor."""
        return len(self.levels) > 1

    def kept(self, names: Sequence[str]) -> Kept:
        """Return the names of tensors in the form that equal choices share."""
        if not self.several:
            return tuple(sorted(names))
        return *(name for name in names if name not in self.resident), *sorted(self.resident.intersection(names))

    def choices(self, workload: Workload) -> Iterator[tuple[Kept, Bools]]:
        """Yield whatever it may keep: the names, and which level keeps which tensor. # (level of it, tensor)"""
        names = [tensor.name for tensor in workload.tensors]
        for bits in np.ndindex(*(2,) * len(names)):
            if all(self._may(name, kept=bool(bit)) for name, bit in zip(names, bits, strict=True)):
                whole = [v for v, name in enumerate(names) if name in self.resident]
                kept = [v for v, bit in enumerate(bits) if bit and v not in whole]
                for sequence in permutations(kept) if self.several else [kept]:
                    keep = np.zeros((len(self.levels), len(names)), bool)
                    keep[range(len(keep) - len(sequence), len(keep)) if self.several else 0, list(sequence)] = True
                    keep[-1, whole] = True
                    yield self.kept([names[v] for v in (*sequence, *whole)]), keep

    def _may(self, name: str, *, kept: bool) -> bool:
        """Test whether it may keep a tensor, or may not; the outermost memory keeps all that are resident in none."""
        if kept:
            return name not in self.storage.bypass
        if self.levels[0] == 0:
            return name in self.storage.bypass
        return name not in self.storage.keep | self.resident


def memories(arch: Architecture) -> tuple[Memory, ...]:
    """List the memories of a machine whose levels are expanded, the outermost first."""
    grouped = groupby(range(len(arch.levels)), key=lambda level: arch.levels[level].of_memory)
    return tuple(
        Memory(name, stack, arch.levels[stack[0]], arch.levels[stack[-1]].resident)
        for name, levels in grouped
        for stack in [tuple(levels)]
    )


def expanded(arch: Architecture, table: EnergyTable, workload: Workload) -> tuple[Architecture, EnergyTable]:
    """Give each memory with uneven placement its levels, with equal figures; leakage and area count at the first.

    The fanout is below the last, which has what is resident. A memory that may keep fewer than two other tensors stays
    a single level.
    """
    levels, figures = list[Storage](), list[LevelEnergy]()
    for storage, energy in zip(arch.levels, table.levels, strict=True):
        tensors = [tensor for tensor in workload.tensors if tensor.name not in storage.bypass | storage.resident]
        if storage.placement == "even" or len(tensors) < 2:
            levels.append(storage)
            figures.append(energy)
            continue
        for place in range(len(tensors)):
            name, last = f"{storage.name}/{place + 1}", place == len(tensors) - 1
            fanout, resident = (storage.fanout, storage.resident) if last else ((), frozenset[str]())
            levels.append(replace(storage, name=name, memory=storage.name, fanout=fanout, resident=resident))
            named = replace(energy, name=name)
            figures.append(replace(named, leak_pj_per_cycle=0.0, area_um2=0.0) if place else named)
    return replace(arch, levels=tuple(levels)), replace(table, levels=tuple(figures))
