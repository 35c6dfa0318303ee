"""What no mapping can beat: lower bounds on cycles and energy, to say how far the best found is from the ideal."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import permutations
from math import ceil, prod

import numpy as np

from ....arch import Architecture
from ....energy import EnergyTable, as_written
from ....workloads import Tensor, Workload
from ..exactness import rate
from ..ranks import distinct_sums

LISTED = 2**20  # sums of a rank that are listed to be counted


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

    Cycles: every MAC unit busy in every cycle; and each word that a MAC touches once through every level that must keep
    the tensor, spread evenly over its instances, at its bandwidth. Energy: every MAC once; each word that a MAC touches
    once through every level that must keep the tensor (an output: updated there); and at the level next to the MACs one
    access per MAC, divided by the MAC units that one access can serve (all below one instance), where that is cheapest.
    """
    arch, table = as_written(arch, table)
    energy = workload.macs * table.compute.compute_pj
    energy += sum(_tensor_energy(arch, workload, table, tensor) for tensor in workload.tensors)
    compute = -(-workload.macs // arch.instances(len(arch.levels)))
    return Ideal(max([compute, *(_least_cycles(arch, workload, level) for level in range(len(arch.levels)))]), energy)


def _least_cycles(arch: Architecture, workload: Workload, level: int) -> int:
    """The least cycles that the bandwidths of a level leave: reads and writes go on at the same time."""
    storage, reads, writes = arch.levels[level], 0, 0
    for tensor in workload.tensors:
        if level == 0 or tensor.name in storage.keep:
            touched = touched_words(workload, tensor)
            reads += 0 if tensor.output else touched
            writes += touched if level or tensor.output else 0
    cycles = [0]
    for words, bandwidth in ((reads, storage.read_bandwidth), (writes, storage.write_bandwidth)):
        if bandwidth is not None:
            many, of_cycles = rate(bandwidth)
            cycles.append(ceil(Fraction(words * of_cycles, many * arch.instances(level))))
    return max(cycles)


def least_between(arch: Architecture, workload: Workload, table: EnergyTable) -> float:
    """Part of the energy of `ideal`, in pJ: all but what the outermost level hands out, and what is handed to MACs."""
    arch, table = as_written(arch, table)
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
    """Words of `tensor` that some MAC uses: fewer than `tensor_words` where a stride leaves gaps.

    At least so many where a rank of three terms or more leaves gaps among more than LISTED sums.
    """
    return prod(_sums([(term.coef, workload.size(term.dim)) for term in rank]) for rank in tensor.ranks)


def _sums(terms: Iterable[tuple[int, int]]) -> int:
    """How many different sums of coef * x there are, 0 <= x < size, for terms (coef, size); of no term, one."""
    terms = _without_gaps([(coef, size) for coef, size in terms if size > 1])
    sizes = [size for _, size in terms]
    if len(terms) < 2:
        return prod(sizes)
    if len(terms) > 2 and prod(sizes) <= LISTED:
        listed = (np.arange(size) * coef for coef, size in terms)
        return len(reduce(lambda sums, more: np.unique(np.add.outer(sums, more)), listed))
    (coef, size), (other, times) = terms[:2]
    # in Python's integers, which the product of two sizes may need
    (of_two,) = distinct_sums(*(np.array([n], object) for n in (size, times, coef, other)))
    # any set of numbers grows by size - 1 at least with another term
    return int(of_two) + sum(size - 1 for size in sizes[2:])


def _without_gaps(terms: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same sums, with two terms as one wherever the steps of one fill the strides of the other."""
    for one, other in permutations(range(len(terms)), 2):
        (coef, size), (stride, times) = terms[one], terms[other]
        if not stride % coef and stride // coef <= size:
            left = [term for index, term in enumerate(terms) if index not in (one, other)]
            return _without_gaps([*left, (coef, size + stride // coef * (times - 1))])
    return terms


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
