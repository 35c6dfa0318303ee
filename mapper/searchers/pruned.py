"""`--search pruned`: random draws that dMazeRunner's pruners leave; the best mapping may be among those dropped.

Dave et al., "dMazeRunner: Executing Perfectly Nested Loops on Dataflow Accelerators" (ACM TECS 18(5s), 2019): least use
of resources, accesses to DRAM, and reuse. Unlike the bounds of mapper/search/pruning.py these may lose the optimum.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from ..mapping import Bools, Ints, MappingBatch, Mappings
from ..mapspace import Mapspace
from ..model import validity
from ..search import NonLearning, random_batch
from ..search.options import SearchOptions, setting
from ..search.variation import Individuals, MappingSampler, sampler_of


def enough_used(batch: Mappings, share: float) -> Bools:
    """Mark mappings whose bounds on all axes together use that share of the MAC units. # (mapping,)"""
    axes = [s for s, slot in enumerate(batch.arch.slots) if slot.spatial]
    units = batch.arch.instances(len(batch.arch.levels))
    used = batch.factors[:, axes].prod(axis=(1, 2), dtype=np.float64)
    enough: Bools = used >= share * units * (1 - 1e-9)
    return enough


def plain_dram(batch: Mappings) -> Bools:
    """Mark mappings whose loops at the outermost level reuse one tensor fully, and leave windows whole. # (mapping,)

    Windows: the dims that slide over others, as R over P of a convolution, have no loop there. Reuse: where there are
    loops that a tensor does not depend on, all those of some tensor stand inside all that it depends on.
    """
    order, bounds = batch.arranged().order[:, 0], batch.factors[:, 0]  # slot 0: the loops of level 0
    workload, rows = batch.workload, np.arange(len(batch))[:, None]
    looped = bounds[rows, order.astype(np.int64)] > 1  # (mapping, position)
    reuses, reused = np.zeros(len(batch), bool), np.zeros(len(batch), bool)
    for tensor in workload.tensors:
        needs = np.isin(order, [workload.dims.index(dim) for dim in tensor.dims])
        idle = looped & ~needs  # the tensor stays while these go round, if they stand inside the others
        inside = np.maximum.accumulate(idle, axis=1) & looped & needs
        reuses |= idle.any(axis=1)
        reused |= idle.any(axis=1) & ~inside.any(axis=1)
    slides = [workload.dims.index(dim) for dim in sliding(batch)]
    plain: Bools = (reused | ~reuses) & (bounds[:, slides] == 1).all(axis=1)
    return plain


def sliding(batch: Mappings) -> list[str]:
    """List the dims that share a rank of a tensor with others and are no dim of the output: those of filters."""
    tensors = batch.workload.tensors
    windows = {term.dim for tensor in tensors for rank in tensor.ranks if len(rank) > 1 for term in rank}
    return [dim for dim in batch.workload.dims if dim in windows - batch.workload.output.dims]


@dataclass(frozen=True, eq=False)
class Reuse:
    """The pruner of local reuse, for one mapspace."""

    sampler: MappingSampler

    def full(self, batch: Mappings) -> Bools:
        """Mark valid mappings whose innermost tiles cannot grow. # (mapping,)

        They can where the smallest prime factor of the nearest loop of a dim may go to the innermost loop that the dim
        may have, and the mapping stays valid.
        """
        individuals = Individuals.of_batch(batch.arranged())
        full = np.ones(len(individuals), bool)
        for d, slots in enumerate(self.sampler.moves.loops):
            remaining = np.flatnonzero(full)
            if len(slots) > 1 and len(remaining):
                full[remaining] = ~self._grows(individuals.take(remaining), d, slots)
        return full

    def _grows(self, individuals: Individuals, d: int, slots: Ints) -> Bools:
        """Test whether the innermost loop of dim d, whose loops are in `slots`, can grow. # (mapping,)"""
        *outer, inner = slots.tolist()
        looped = individuals.bounds[:, outer, d] > 1  # (mapping, outer)
        can = np.flatnonzero(looped.any(axis=1))
        source = np.array(outer)[len(outer) - 1 - looped[can, ::-1].argmax(axis=1)]
        rows, grown = np.arange(len(can)), individuals.take(can)
        bound = grown.bounds[rows, source, d]
        prime = self.sampler.variation.least_primes(bound)
        bounds = grown.bounds.copy()
        bounds[rows, source, d] = bound // prime
        bounds[rows, inner, d] *= prime
        chained, within = self.sampler.repair.chained(replace(grown, bounds=bounds.copy()))
        within &= (chained.bounds == bounds).all(axis=(1, 2))
        grows = np.zeros(len(individuals), bool)
        fit = chained.take(within)
        if len(fit):
            grows[can[within]] = validity(self.sampler.batch(fit)) == 0
        return grows


@dataclass(frozen=True)
class Pruners:
    """Which pruners work, and how much they ask for."""

    utilization: float
    dram: bool
    reuse: bool

    def survivors(self, sampler: MappingSampler, batch: Mappings) -> Ints:
        """Find the valid mappings that the pruners leave. # (left,)"""
        remaining = np.flatnonzero(validity(batch) == 0)
        rules: list[Callable[[Mappings], Bools]] = [lambda mappings: enough_used(mappings, self.utilization)]
        rules += [plain_dram] if self.dram else []
        rules += [Reuse(sampler).full] if self.reuse else []
        for rule in rules:
            if len(remaining):
                remaining = remaining[rule(batch.take(remaining))]
        return remaining


@dataclass(frozen=True)
class Pruned(NonLearning):
    """See Proposer. A chunk is what the pruners leave of CHUNK mappings drawn at random; it may be empty.

    The least use of the array is that of dMazeRunner's program, where a user gives none.
    """

    finite: bool = False
    lazy: bool = False
    utilization: float = setting(0.8, "least share of the MAC units that bounds use", least=0, most=1)
    dram: bool = setting(True, "outermost loops reuse one tensor fully and leave filters whole")
    reuse: bool = setting(True, "the innermost tiles cannot grow")

    def chunks(self, space: Mapspace, options: SearchOptions) -> Iterable[int]:
        """Count chunks without end."""
        return count()

    def numbers(self, space: Mapspace, chunk: int) -> None:
        """Return None: the numbers of drawn mappings are not consecutive."""

    def propose(self, space: Mapspace, seed: int, memory: None, chunk: int) -> MappingBatch:
        """Draw mappings uniformly, and take the valid ones that the pruners leave."""
        batch = random_batch(space, seed, chunk)
        pruners = Pruners(self.utilization, self.dram, self.reuse)
        return batch.take(pruners.survivors(sampler_of(space), batch)).arranged()
