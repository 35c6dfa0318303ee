"""How large the figures of a workload can get, and so whether float64 holds all of them (docs/model.md, "Numbers")."""

from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from math import prod
from typing import Any
from warnings import warn

from ...arch import Architecture, Storage
from ...workloads import Tensor, ToldWarning, Workload
from ..mapping import MappingBatch

HELD = 2**53  # float64 holds every whole number up to here
MOST_CYCLES = 10_000  # of a bandwidth written as a fraction

Rate = tuple[Any, int]  # words in so many cycles


class RoundingWarning(ToldWarning):
    """Mappings are ranked by figures that float64 may round."""


def largest(workload: Workload) -> int:
    """No count of a mapping of `workload` is larger, nor any sum on the way to one, over all tensors together."""
    return workload.macs * sum(_words_per_mac(tensor) for tensor in workload.tensors)


def _words_per_mac(tensor: Tensor) -> int:
    """Words of the tiles where each MAC has its own, times the sums that are added up: a level is filled with an output
    and updated, and of a window, which has no outputs, what all children keep and what some keep are sums apart."""
    words = prod(sum(term.coef for term in rank) for rank in tensor.ranks)
    return words * (3 if any(len(rank) > 1 for rank in tensor.ranks) else 2 if tensor.output else 1)


def figures_exact(arch: Architecture, workload: Workload) -> bool:
    """Whether float64 holds all figures of all mappings of `workload` on `arch`: batches are counted exactly."""
    return largest(workload) * max(_scales(arch, workload)) <= HELD


def _scales(arch: Architecture, workload: Workload) -> Iterable[float]:
    """What words are multiplied by: for cycles, and bits where a level could hold more of them than `HELD`."""
    if arch.systolic is not None:
        # a cycle for each word of each tile, the tiles at full size: of each dim less than twice its size
        yield (arch.systolic.rows + 1) * 2 ** len(workload.dims) + arch.systolic.skew
    yield 1 + sum(cycles for _, cycles in arch.starts)
    for level in arch.levels:
        # a word moves a whole burst, at most
        a_word = 1 if level.dram is None else max(level.blocks(workload, tensor).words for tensor in workload.tensors)
        for bandwidth in level.bandwidths:
            words, cycles = rate(bandwidth.rate)
            most = a_word * bandwidth.of(1, 1, 2)  # reads and writes together are twice as many at most
            yield from (most * cycles, most * cycles / words)
        if (level.capacity_bits or 0) >= HELD:
            yield from (level.bits(tensor.name, tensor.word_bits) for tensor in workload.tensors)


@cache
def rate(bandwidth: float) -> Rate:
    """A bandwidth as words in so many cycles, as it was written: 0.7 is 7 in 10, and the float a little less."""
    near = Fraction(bandwidth).limit_denominator(MOST_CYCLES)
    return near.as_integer_ratio() if float(near) == bandwidth else (bandwidth, 1)


def cycles_of(level: Storage, reads: int, writes: int) -> int:
    """The whole cycles in which an instance reads and writes so many words: the most that a bandwidth asks for."""
    asked = ((limit.of(reads, writes), *rate(limit.rate)) for limit in level.bandwidths)
    return max((int(-(-words * cycles // many)) for words, many, cycles in asked), default=0)


def exactly(batch: MappingBatch) -> MappingBatch:
    """The one mapping of `batch`, such that whatever the model says of it is exact: in Python integers where floats
    may round."""
    counted = batch.numbers is object or figures_exact(batch.arch, batch.workload)
    return batch if counted else batch.own(object)


def warn_of_rounding(arch: Architecture, layers: Iterable[Workload]) -> None:
    """A RoundingWarning if a search of some of `layers` may have to round."""
    rounded = [layer.name for layer in layers if not figures_exact(arch, layer)]
    if rounded:
        why = f"{', '.join(rounded)}: figures may pass 2^53, which the search rounds to compare mappings"
        warn(f"{why}; reported counts are exact", RoundingWarning, stacklevel=3)
