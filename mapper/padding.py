"""Padding: dims rounded up so that perfect factors fill the array, at the price of MACs on zeros."""

from dataclasses import replace
from itertools import product
from math import prod

from ..arch import Architecture
from ..workloads import Workload
from .presets import axis_fill, perfect_rules


def padded(arch: Architecture, workload: Workload) -> Workload:
    """`workload` with dims rounded up where perfect factors leave a part of a fanout axis idle.

    Each such axis is given to one dim that may fill it alone, and that dim becomes a multiple of the axis size; of
    all such choices the one with the fewest MACs is taken. An axis that no dim reaches (all smaller) is left alone.
    A dim given several axes becomes a multiple of their product. `ineffectual_macs` counts the MACs added.
    docs/decisions/010-padding.md has the reasons.
    """
    rules = perfect_rules(arch, workload)
    takers: list[list[tuple[int, int]]] = []  # per axis to fill, the (dim, axis size) that could
    for index, slot in enumerate(arch.slots):
        if slot.axis is not None:
            filled, could = axis_fill(rules, index)
            dims = [d for d in sorted(rules.loops[index]) if rules.bounds(index, d)[1] >= slot.axis.size]
            if filled < could and dims:
                takers.append([(d, slot.axis.size) for d in dims])
    sizes = min((_rounded_up(workload.sizes, choice) for choice in product(*takers)), key=prod)
    macs = workload.macs - workload.ineffectual_macs
    return replace(workload, sizes=sizes, ineffectual_macs=prod(sizes) - macs)


def _rounded_up(sizes: tuple[int, ...], choice: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    """`sizes` rounded up to multiples of the axes each dim was given."""
    steps = [prod(size for d, size in choice if d == dim) for dim in range(len(sizes))]
    return tuple(-(-size // step) * step for size, step in zip(sizes, steps, strict=True))
