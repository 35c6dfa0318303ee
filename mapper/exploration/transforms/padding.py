"""Padding rounds dims up so that perfect factors fill the array, at the price of MACs on zeros."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod

from ....arch import Architecture
from ....workloads import Network, Workload
from ...mapspace import Rules, array_fill, perfect_rules

MOST_CHOICES = 2**12  # of dims for all axes: seconds

_Choice = tuple[int | None, ...]  # (axis,) the dim that an axis goes to


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
    single axis that which fills it. Of more than MOST_CHOICES the axes choose one after the other, the largest first.
    `ineffectual_macs` counts the MACs added.
    docs/decisions/010-padding.md has the reasons.
    """
    rules = perfect_rules(arch, workload)
    axes = [(index, slot.axis.size) for index, slot in enumerate(arch.slots) if slot.axis is not None]
    fixed = {workload.dims.index(dim) for dim in workload.block_dims}  # a block has the elements of its format
    takers = [[None, *(d for d in sorted(rules.loops[i] - fixed) if rules.bounds(i, d)[1] >= size)] for i, size in axes]
    places = [size for _, size in axes]
    if prod(map(len, takers)) <= MOST_CHOICES:
        best = _cheapest(rules, places, product(*takers))
    else:
        best = (None,) * len(axes)
        for axis in sorted(range(len(axes)), key=lambda axis: (-places[axis], axis)):
            best = _cheapest(rules, places, [(*best[:axis], dim, *best[axis + 1 :]) for dim in takers[axis]])
    sizes = _rounded_up(workload.sizes, best, places)
    if sizes == workload.sizes:
        return workload
    macs = workload.macs - workload.ineffectual_macs
    return replace(workload, sizes=sizes, ineffectual_macs=prod(sizes) - macs).transformed("pad")


def _cheapest(rules: Rules, places: Sequence[int], choices: Iterable[_Choice]) -> _Choice:
    """The choice with the fewest steps; see `padded` for equal ones."""
    choice_by_sizes = {_rounded_up(rules.sizes, choice, places): choice for choice in choices}

    def least(sizes: tuple[int, ...]) -> Fraction:
        return Fraction(prod(sizes), min(prod(places), prod(sizes)))  # steps with all places used

    def price(sizes: tuple[int, ...]) -> tuple[Fraction, int, tuple[int, ...]]:
        used = array_fill(replace(rules, sizes=sizes))
        return Fraction(prod(sizes), used), -used if len(places) == 1 else prod(sizes), sizes

    first, *later_sizes = sorted(choice_by_sizes, key=lambda sizes: (least(sizes), sizes))
    best = price(first)
    for sizes in later_sizes:
        if least(sizes) > best[0]:
            break
        best = min(best, price(sizes))
    return choice_by_sizes[best[2]]


def _rounded_up(sizes: tuple[int, ...], choice: _Choice, steps: Sequence[int]) -> tuple[int, ...]:
    """Round `sizes` up to multiples of the axes that go to each dim by `choice`."""
    multiples = [prod(step for d, step in zip(choice, steps, strict=True) if d == dim) for dim in range(len(sizes))]
    return tuple(-(-size // step) * step for size, step in zip(sizes, multiples, strict=True))
