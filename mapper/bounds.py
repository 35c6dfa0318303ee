"""What no mapping can beat: lower bounds on cycles and energy, to say how far the best found is from the ideal."""

from dataclasses import dataclass
from math import prod

import numpy as np

from ..arch import Architecture
from ..energy import EnergyTable
from ..workloads import Tensor, Workload
from .ranks import distinct_sums


@dataclass(frozen=True)
class Ideal:
    """Lower bounds. They hold together but need not be reached, alone or at once."""

    cycles: int
    energy_pj: float

    @property
    def edp(self) -> float:
        return self.cycles * self.energy_pj


def ideal(arch: Architecture, workload: Workload, table: EnergyTable) -> Ideal:
    """Bounds that hold for every mapping of `workload` on `arch`, imperfect ones too; leakage and network not counted.

    Cycles: every MAC unit busy in every cycle. Energy: every MAC once; each word that a MAC touches once through every
    level that must keep the tensor (an output: updated there); and at the level next to the MACs one access per MAC,
    divided by the MAC units that one access can serve (all below one instance), where that is cheapest.
    """
    energy = workload.macs * table.compute.compute_pj
    energy += sum(_tensor_energy(arch, workload, table, tensor) for tensor in workload.tensors)
    return Ideal(-(-workload.macs // arch.instances(len(arch.levels))), energy)


def least_between(arch: Architecture, workload: Workload, table: EnergyTable) -> float:
    """Part of the energy of `ideal`, in pJ: all but what the outermost level hands out, and what is handed to MACs."""
    energy = workload.macs * table.compute.compute_pj
    for tensor in workload.tensors:
        touched = touched_words(workload, tensor)
        kept = [level for level, storage in enumerate(arch.levels) if level and tensor.name in storage.keep]
        for level in kept:  # the innermost of them may be the one next to the MACs
            energy += _through_pj(arch, table, level, tensor, touched, 0 if level == kept[-1] else touched)
    return float(energy)


def least_outermost(arch: Architecture, workload: Workload, table: EnergyTable, tensor: Tensor) -> float:
    """Of one tensor, the least energy of what the outermost level hands out, in pJ: each word touched, once."""
    touched = touched_words(workload, tensor)
    return _through_pj(arch, table, 0, tensor, touched, touched)


def touched_words(workload: Workload, tensor: Tensor) -> int:
    """Words of `tensor` that some MAC uses: fewer than `tensor_words` where a stride leaves gaps."""
    return prod(_touched([(workload.size(term.dim), term.coef) for term in rank]) for rank in tensor.ranks)


def _touched(terms: list[tuple[int, int]]) -> int:
    """Different sums of an index, below its size, times its coefficient, over the terms of a rank."""
    if len(terms) == 1:
        return terms[0][0]
    if len(terms) == 2:
        (size_a, coef_a), (size_b, coef_b) = terms
        return int(distinct_sums(size_a, size_b, coef_a, coef_b))
    index = np.zeros(1, np.int64)
    for size, coef in terms:
        index = np.unique(np.add.outer(index, np.arange(size, dtype=np.int64) * coef))
    return len(index)


def _tensor_energy(arch: Architecture, workload: Workload, table: EnergyTable, tensor: Tensor) -> float:
    """The least energy of one tensor's accesses, over the choices of the level next to the MACs."""
    touched = touched_words(workload, tensor)
    kept = [level for level, storage in enumerate(arch.levels) if level == 0 or tensor.name in storage.keep]
    units = arch.instances(len(arch.levels))
    least = []
    for last in range(kept[-1], len(arch.levels)):
        if last > kept[-1] and tensor.name in arch.levels[last].bypass:
            continue
        served = max(touched, workload.macs / (units // arch.instances(last)))
        outer = sum(_through_pj(arch, table, level, tensor, touched, touched) for level in kept if level < last)
        least.append(outer + _through_pj(arch, table, last, tensor, touched, served))
    return min(least)


def _through_pj(
    arch: Architecture, table: EnergyTable, level: int, tensor: Tensor, filled: float, served: float
) -> float:
    """Energy at one level: `served` words handed inwards (an output: updated), and of an input `filled` words."""
    figures = table.levels[level]
    pj = served * (figures.update_pj if tensor.output else figures.read_pj)
    if level and not tensor.output:
        pj += filled * figures.write_pj
    storage = arch.levels[level]
    return pj * storage.bits(tensor.name, tensor.word_bits) / storage.width_bits
