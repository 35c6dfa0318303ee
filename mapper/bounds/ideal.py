"""What no mapping can beat: lower bounds on cycles and energy, to say how far the best found is from the ideal."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Self

from ...arch import Architecture
from ...energy import EnergyTable, as_written
from ...workloads import Tensor, Workload
from ..model import rate
from ..model.nests import touched_words
from ..problem import Charges


@dataclass(frozen=True)
class Ideal:
    """Lower bounds. They hold together but need not be reached, alone or at once."""

    cycles: int
    energy_pj: float

    @property
    def edp(self) -> float:
        return self.cycles * self.energy_pj


def ideal(arch: Architecture, workload: Workload, table: EnergyTable, costs: Charges | None = None) -> Ideal:
    """Bounds that hold for every mapping of `workload` on `arch`, imperfect ones too; leakage and network not counted.

    Cycles: every MAC unit busy in every cycle; and each word that a MAC touches once through every level that must keep
    the tensor, spread evenly over its instances, at its bandwidth; and one tile of every memory that takes cycles to
    begin. Energy: every MAC once; each word that a MAC touches
    once through every level that must keep the tensor (an output: updated there, and read at an inner level where
    `costs` count drained words); and at the level next to the MACs one access per MAC, divided by the MAC units that
    one access can serve (all below one instance), where that is cheapest.
    """
    least = _Least.of(arch, workload, table, costs)
    energy = workload.macs * table.compute.mac_pj(workload) + sum(map(least.tensor_pj, workload.tensors))
    compute = -(-workload.macs // least.arch.instances(len(least.arch.levels)))
    starts = sum(cycles for _, cycles in least.arch.starts)
    return Ideal(max(compute, *map(least.cycles, range(len(least.arch.levels)))) + starts, energy)


def least_between(arch: Architecture, workload: Workload, table: EnergyTable, costs: Charges | None = None) -> float:
    """Part of the energy of `ideal`, in pJ: all but what the outermost level hands out, and what is handed to MACs."""
    least = _Least.of(arch, workload, table, costs)
    energy = workload.macs * table.compute.mac_pj(workload)
    for tensor in workload.tensors:
        touched = touched_words(workload, tensor)
        kept = [level for level in least.kept(tensor) if level != least.arch.home(tensor.name)]
        for level in kept:  # the innermost of them may be the one next to the MACs
            energy += least.through_pj(level, tensor, touched, 0 if level == kept[-1] else touched)
    return float(energy)


def least_outermost(arch: Architecture, workload: Workload, table: EnergyTable, tensor: Tensor) -> float:
    """Of one tensor, the least energy of what the outermost level that has it hands out, in pJ: each word once."""
    touched = touched_words(workload, tensor)
    return _Least(arch, workload, table, False).through_pj(arch.home(tensor.name), tensor, touched, touched)


@dataclass(frozen=True)
class _Least:
    """The least that the levels of a machine as it is written do for a workload."""

    arch: Architecture
    workload: Workload
    table: EnergyTable
    drain_reads: bool

    @classmethod
    def of(cls, arch: Architecture, workload: Workload, table: EnergyTable, costs: Charges | None) -> Self:
        """Take stacks for the memories that they are."""
        arch, table = as_written(arch, table)
        return cls(arch, workload, table, costs is not None and costs.drain_reads)

    def kept(self, tensor: Tensor) -> list[int]:
        """List the levels that must keep a tensor, the outermost first."""
        home = self.arch.home(tensor.name)
        return [i for i, storage in enumerate(self.arch.levels) if i == home or tensor.name in storage.keep]

    def cycles(self, level: int) -> int:
        """The least cycles that the bandwidths of a level leave."""
        storage, reads, writes = self.arch.levels[level], 0, 0
        for tensor in self.workload.tensors:
            if level in self.kept(tensor):
                touched, inner = touched_words(self.workload, tensor), level != self.arch.home(tensor.name)
                reads += touched if not tensor.output or (inner and self.drain_reads) else 0
                writes += touched if inner or tensor.output else 0
        cycles = [0]
        for bandwidth in storage.bandwidths:
            (many, of_cycles), words = rate(bandwidth.rate), bandwidth.of(reads, writes)
            cycles.append(ceil(words * of_cycles / (Fraction(many) * self.arch.instances(level))))
        return max(cycles)

    def tensor_pj(self, tensor: Tensor) -> float:
        """The least energy of one tensor's accesses, over the choices of the level next to the MACs."""
        arch, touched, kept = self.arch, touched_words(self.workload, tensor), self.kept(tensor)
        units = arch.instances(len(arch.levels))
        least = []
        for last in range(kept[-1], len(arch.levels)):
            if last > kept[-1] and tensor.name in arch.levels[last].bypass:
                continue
            served = max(touched, self.workload.macs / (units // arch.instances(last)))
            outer = sum(self.through_pj(level, tensor, touched, touched) for level in kept if level < last)
            least.append(outer + self.through_pj(last, tensor, touched, served))
        return min(least)

    def through_pj(self, level: int, tensor: Tensor, passing: float, served: float) -> float:
        """Energy at one level: `served` words handed inwards (an output: updated), and at an inner level `passing`
        words written as they come in (an output: read as they move up, if that counts)."""
        figures, storage = self.table.levels[level], self.arch.levels[level]
        pj, inner = (
            served * (figures.update_pj if tensor.output else figures.read_pj),
            level != self.arch.home(tensor.name),
        )
        if inner and not tensor.output:
            pj += passing * figures.write_pj
        if inner and tensor.output and self.drain_reads:
            pj += passing * figures.read_pj
        return pj * storage.bits(tensor.name, tensor.word_bits) / storage.width_bits
