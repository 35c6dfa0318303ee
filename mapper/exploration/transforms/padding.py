"""Padding rounds dims up so that perfect factors fill the array, at the price of MACs on zeros."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod

from ....arch import Architecture
from ....workloads import Network, Workload
from ...mapspace import array_fill, perfect_rules


@dataclass(frozen=True)
class Padding:
    """The transformation that pads every layer; a layer that padding does not help stays as it is."""

    name: str = "pad"

    def apply(self, arch: Architecture, work: Network) -> Iterator[Network]:
        """Yield the padded network, the only alternative."""
        yield replace(work, layers=tuple((padded(arch, layer), count) for layer, count in work.layers))


def padded(arch: Architecture, workload: Workload) -> Workload:
    """Round dims up where that saves steps with perfect factors.

    Each axis goes to a single dim at least as large, or to none; a dim becomes a multiple of its axes. The choice with
    the fewest steps, MACs / places used, is taken; of equal choices that with the fewest MACs, but on an array of a
    single axis that which fills it. `ineffectual_macs` counts the MACs added.
    docs/decisions/010-padding.md has the reasons.
    """
    rules = perfect_rules(arch, workload)
    axes = [(index, slot.axis.size) for index, slot in enumerate(arch.slots) if slot.axis is not None]
    takers = [[None, *(d for d in sorted(rules.loops[i]) if rules.bounds(i, d)[1] >= size)] for i, size in axes]
    choices = {_rounded_up(workload.sizes, choice, [size for _, size in axes]) for choice in product(*takers)}

    def price(sizes: tuple[int, ...]) -> tuple[Fraction, int]:
        used = array_fill(replace(rules, sizes=sizes))
        return Fraction(prod(sizes), used), -used if len(axes) == 1 else prod(sizes)

    best = min(sorted(choices), key=price)
    if best == workload.sizes:
        return workload
    macs = workload.macs - workload.ineffectual_macs
    return replace(workload, sizes=best, ineffectual_macs=prod(best) - macs).transformed("pad")


def _rounded_up(sizes: tuple[int, ...], choice: tuple[int | None, ...], steps: list[int]) -> tuple[int, ...]:
    """Round `sizes` up to multiples of the axes that go to each dim by `choice`."""
    multiples = [prod(step for d, step in zip(choice, steps, strict=True) if d == dim) for dim in range(len(sizes))]
    return tuple(-(-size // step) * step for size, step in zip(sizes, multiples, strict=True))
