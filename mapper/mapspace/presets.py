"""Which slots may have remainders: the presets by name, and a choice by the shape of the problem."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import prod
from typing import Literal, get_args

import numpy as np

from ...arch import Architecture, Slot
from ...workloads import Workload
from .constraints import Rules, limits, temporal_stacks
from .quotients import divisors

Preset = Literal["pfm", "ruby", "ruby-s", "ruby-t", "auto"]
PRESETS: tuple[Preset, ...] = get_args(Preset)
BY_MACHINE: frozenset[str] = frozenset({"auto"})  # what they have depends on sizes: a larger machine may have fewer
FILLED = 0.9  # of an axis or of the array: what is left over is not worth a larger mapspace
HALF = 0.5  # of a capacity
MOST_TILES = 2**20  # combinations of divisors; with more of them some come near any capacity


def remainders(arch: Architecture, workload: Workload, preset: Preset) -> tuple[tuple[bool, ...], str]:
    """Per slot, whether bounds need not divide, and why.

    A slot's own constraint decides; where it says nothing, `preset` does for its kind (auto: see auto_preset).
    """
    if preset not in PRESETS:
        raise ValueError(f'mapspace must be one of {", ".join(PRESETS)}; got "{preset}"')
    if preset == "auto":
        return auto_preset(arch, workload)
    spatial, temporal = preset in ("ruby", "ruby-s"), preset in ("ruby", "ruby-t")
    return tuple(_own(slot, spatial if slot.spatial else temporal) for slot in arch.slots), f"mapspace {preset}"


def auto_preset(arch: Architecture, workload: Workload) -> tuple[tuple[bool, ...], str]:
    """Per slot, whether remainders pay for this problem, and why, slot by slot.

    An axis gets them when products of divisors of the dims it may take fill less than FILLED of what any bounds could;
    all axes get them when each can be filled alone, but not all at once. A level's loops get them when perfect tiles
    fill less than HALF of its capacity. docs/mapspace.md has the figures behind the rule.
    """
    rules = perfect_rules(arch, workload)
    why = _axis_misfits(rules, workload.dims) | {
        index: reason
        for index, slot in enumerate(arch.slots)
        if slot.axis is None and (reason := _capacity_misfit(arch, workload, rules, index))
    }
    for slots in temporal_stacks(arch):  # alike: the first reason is that of all
        stack_reasons = [why[index] for index in slots if index in why]
        why |= dict.fromkeys(slots, stack_reasons[0]) if stack_reasons else {}
    chosen = tuple(_own(slot, index in why) for index, slot in enumerate(arch.slots))
    reasons = [f"{slot.name}: {why[i]}" for i, slot in enumerate(arch.slots) if chosen[i] and i in why]
    return chosen, "; ".join(dict.fromkeys(reasons)) or "perfect factors fit every axis and capacity"


def perfect_rules(arch: Architecture, workload: Workload) -> Rules:
    """The limits of `workload` on `arch`, nothing having remainders."""
    return Rules(arch.slots, workload.sizes, (False,) * len(arch.slots), limits(arch, workload))


def axis_fill(rules: Rules, slot: int) -> tuple[int, int]:
    """How much of an axis divisors of the dims it may take can fill, and how much any bounds could."""
    axis = rules.slots[slot].axis
    if axis is None:
        raise ValueError(f"{rules.slots[slot].name} is not a fanout axis")
    limits = {dim: rules.bounds(slot, dim) for dim in rules.loops[slot]}
    products = _products([_between(rules.sizes[dim], *own) for dim, own in limits.items()], axis.size)
    could = prod(most for _, most in limits.values())
    return max(products, default=0), min(axis.size, could)


def array_fill(rules: Rules) -> int:
    """How many places of the array perfect factors can use, over all axes at once.

    So many combinations of divisors that they are not tried count as all places that the sizes could fill.
    """
    axes = [(index, slot.axis.size) for index, slot in enumerate(rules.slots) if slot.axis is not None]
    dims, most = _together(rules, axes), min(prod(places for _, places in axes), prod(rules.sizes))
    if max((prod(len(steps[axis]) for _, steps in dims) for axis in range(len(axes))), default=0) > MOST_TILES:
        return most
    options = [_steps_on(axis, places, dims) for axis, (_, places) in enumerate(axes)]
    start = tuple(size for size, _ in dims)
    best = _greedily(start, options)
    remaining, tried = {start: 1}, 0  # what is left of the dims, the most places used up to it
    for axis, own in enumerate(options):
        tried, onward = tried + len(remaining) * len(own), prod(places for _, places in axes[axis + 1 :])
        if best == most or tried > MOST_TILES:
            return most
        remaining = _left_after(remaining, own, best, onward)
    return max([best, *remaining.values()]) or 1


def _steps_on(axis: int, places: int, dims: Sequence[tuple[int, list[list[int]]]]) -> list[tuple[int, ...]]:
    """The combinations of divisors, one of each of `dims`, that an axis has places for."""
    return [one for one in product(*(steps[axis] for _, steps in dims)) if prod(one) <= places]


def _left_after(
    remaining: Mapping[tuple[int, ...], int], own: Sequence[tuple[int, ...]], best: int, onward: int
) -> dict[tuple[int, ...], int]:
    """What is left of the dims after one more axis, with the most places used up to it.

    `own` are the combinations that the axis may take, and `onward` the places of all further axes: what cannot come to
    more than `best` with them is left out.
    """
    after = dict[tuple[int, ...], int]()
    for one in own:
        for sizes, so_far in remaining.items():
            used = so_far * prod(one)
            if used * onward > best and _divide(sizes, one):
                rest = _rest(sizes, one)
                after[rest] = max(after.get(rest, 0), used)
    return after


def _greedily(sizes: tuple[int, ...], options: Sequence[Sequence[tuple[int, ...]]]) -> int:
    """How many places are used where each axis in turn takes as much as it can; 0 where one can take none."""
    used = 1
    for own in options:
        possible = [one for one in own if _divide(sizes, one)]
        if not possible:
            return 0
        most = max(possible, key=prod)
        used, sizes = used * prod(most), _rest(sizes, most)
    return used


def _rest(sizes: tuple[int, ...], steps: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size // step for size, step in zip(sizes, steps, strict=True))


def _divide(sizes: tuple[int, ...], steps: tuple[int, ...]) -> bool:
    return not any(size % step for size, step in zip(sizes, steps, strict=True))


def _together(rules: Rules, axes: Sequence[tuple[int, int]]) -> list[tuple[int, list[list[int]]]]:
    """The dims that may go on axes, and the divisors that each axis may take of each.

    Dims that may go on the same axes, with any bound that an axis has places for, count as one, their product: its
    divisors are the products of theirs.
    """
    alone, joined = list[tuple[int, list[list[int]]]](), dict[tuple[bool, ...], list[int]]()
    for dim, size in enumerate(rules.sizes):
        limits = [rules.bounds(slot, dim) for slot, _ in axes]
        free = tuple(most >= min(size, places) for (_, most), (_, places) in zip(limits, axes, strict=True))
        if all(own == (1, 1) or (any_bound and own[0] == 1) for own, any_bound in zip(limits, free, strict=True)):
            joined.setdefault(free, []).append(size)
        else:
            alone.append((size, [_between(size, *own) for own in limits]))
    for free, sizes in joined.items():
        most = [places if any_bound else 1 for any_bound, (_, places) in zip(free, axes, strict=True)]
        steps = [sorted(_products([_between(size, 1, places) for size in sizes], places)) for places in most]
        alone.append((prod(sizes), steps))
    return alone


def _products(choices: Iterable[Iterable[int]], most: int) -> set[int]:
    """The products, up to `most`, of one number of each of the choices."""
    products = {1}
    for steps in choices:
        products = {a * b for a in products for b in steps if a * b <= most}
    return products


def _between(size: int, least: int, most: int) -> list[int]:
    """The divisors of `size` from `least` to `most`."""
    return [int(step) for step in divisors(size, most) if least <= step]


def capacity_fill(arch: Architecture, workload: Workload, rules: Rules, level: int) -> float:
    """How much of the usable capacity of `level` its largest perfect tiles that fit take up; 1 where all fits.

    Counts every tensor that may be kept there. So many combinations of divisors that they are not tried count as 1.
    """
    storage = arch.levels[level]
    kept = [tensor for tensor in workload.tensors if tensor.name not in storage.bypass]
    needed = sum(workload.tensor_words(t) * storage.bits(t.name, t.word_bits) for t in kept)
    if storage.capacity_bits is None or needed <= (usable := storage.capacity_bits // storage.multiple_buffering):
        return 1.0
    choices = _extents(arch, workload, rules, level)
    if prod(map(len, choices)) > MOST_TILES:
        return 1.0
    extents = dict(zip(workload.dims, np.meshgrid(*choices, indexing="ij", sparse=True), strict=True))
    bits = np.zeros(tuple(map(len, choices)))
    for tensor in kept:
        spans = [sum(term.coef * (extents[term.dim] - 1) for term in rank) + 1 for rank in tensor.ranks]
        bits += prod(spans) * storage.bits(tensor.name, tensor.word_bits)
    fitting = bits[bits <= usable]
    largest = float(bits.max(initial=0))  # where the loops inside cannot make a tile that fills it
    return float(fitting.max(initial=0)) / min(usable, largest) if largest else 1.0


def _extents(arch: Architecture, workload: Workload, rules: Rules, level: int) -> list[list[int]]:
    """The extents that a perfect tile of `level` can have, of each dim."""
    inside = [index for index, slot in enumerate(arch.slots) if slot.level >= level]
    extents = []
    for dim, size in enumerate(workload.sizes):
        least, most = (prod(rules.bounds(slot, dim)[end] for slot in inside) for end in (0, 1))
        extents.append(_between(size, least, most))
    return extents


def _own(slot: Slot, otherwise: bool) -> bool:
    return otherwise if slot.constraint.remainders is None else slot.constraint.remainders


def _axis_misfits(rules: Rules, names: tuple[str, ...]) -> dict[int, str]:
    """Why perfect factors do not fill an axis, for each axis that they do not."""
    axes = [index for index, slot in enumerate(rules.slots) if slot.axis is not None]
    fills = {index: axis_fill(rules, index) for index in axes}
    why = {}
    for index, (most, could) in fills.items():
        if most < FILLED * could:
            takers = ", ".join(names[dim] for dim in sorted(rules.loops[index]))
            why[index] = f"divisors of {takers} fill {most} of {could}"
    # no bounds could spread more than the dims that go on an axis have
    dims = {dim for index in axes for dim in rules.loops[index]}
    alone = min(prod(most for most, _ in fills.values()), prod(rules.sizes[dim] for dim in dims))
    together = array_fill(rules)
    if together < FILLED * alone:
        reason = f"divisors fill {together} places of all axes at once, {alone} axis by axis"
        why = {index: reason for index in axes if fills[index][1] > 1} | why
    return why


def _capacity_misfit(arch: Architecture, workload: Workload, rules: Rules, slot: int) -> str:
    """Why perfect tiles cannot come near the capacity of a level, or nothing."""
    if not rules.loops[slot]:
        return ""
    fill = capacity_fill(arch, workload, rules, arch.slots[slot].level)
    return f"perfect tiles fill {fill:.0%} of its capacity" if fill < HALF else ""
