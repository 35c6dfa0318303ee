"""The least cycles of every mapping: all MAC units busy, and each word that is used once at its bandwidth."""

from fractions import Fraction
from math import ceil, prod

import numpy as np

from ....arch import Architecture
from ....workloads import Rank, Tensor, Workload

SLACK = 1 + Fraction(1, 10**12)  # of bandwidths, for how floats round them
LISTED = 1 << 22  # values of a rank's index, with repetitions


def least_cycles(arch: Architecture, workload: Workload, drain_reads: bool) -> int:
    """Bound the cycles of every mapping from below, on a machine as it is written.

    Every MAC takes a unit for a cycle. A level that must keep a tensor sends each word of it that is used inwards, or
    receives it, at least once (the outermost level keeps all, and receives only outputs), and its instances share these
    words; what it reads and writes passes each of its bandwidths. With `drain_reads` an inner level reads each word of
    an output that moves up. A tensor that is resident at a level is there from the beginning, and leaves it never. Of
    each level one tile begins.
    """
    instances, least, starts = 1, 0, 0
    for number, level in enumerate(arch.levels):
        reads = writes = 0
        for tensor in workload.tensors:
            first = tensor.name in level.resident or (number == 0 and tensor.name not in level.bypass)
            if first or tensor.name in level.keep:
                words = _used_words(workload, tensor)
                if tensor.output:
                    reads, writes = reads + (words if drain_reads and not first else 0), writes + words
                else:
                    reads, writes = reads + words, writes + (0 if first else words)
        for bandwidth in level.bandwidths:
            most = Fraction(bandwidth.rate) * instances * SLACK  # words per cycle; a file may have written 1/3
            least = max(least, ceil(bandwidth.of(reads, writes) / most))
        instances *= prod(axis.size for axis in level.fanout)
        starts += level.start_cycles
    return max(least, ceil(Fraction(prod(workload.sizes), instances))) + starts


def _used_words(workload: Workload, tensor: Tensor) -> int:
    """Count the words of a tensor that some MAC uses, or fewer: a dim of several ranks counts in the first alone."""
    seen, words = set[str](), 1
    for rank in tensor.ranks:
        own = tuple(term for term in rank if term.dim not in seen)
        seen |= {term.dim for term in rank}
        words *= _indices(workload, own)
    return words


def _indices(workload: Workload, rank: Rank) -> int:
    """Count the values of a rank's index by listing them; where they are many, bound them by sums of sets: the sums of
    two sets of numbers are at least as many as both together, less one."""
    sizes = [workload.size(term.dim) for term in rank]
    if len(rank) < 2 or prod(sizes) > LISTED:
        return sum(size - 1 for size in sizes) + 1
    values = np.zeros(1, np.int64)
    for term, size in zip(rank, sizes, strict=True):
        values = np.unique(values[:, None] + term.coef * np.arange(size))
    return len(values)
