"""Which slots may have remainders: the presets by name, and a choice by the shape of the problem."""

from collections.abc import Iterator
from itertools import pairwise
from math import prod
from typing import Literal, get_args

from ..arch import Architecture, Slot
from ..workloads import Workload
from .factor import divisors

Preset = Literal["pfm", "ruby", "ruby-s", "ruby-t"]
PRESETS: tuple[Preset, ...] = get_args(Preset)
GAP = 4  # a dim whose neighbouring divisors lie further apart than this cannot be fitted to a capacity


def remainders(arch: Architecture, preset: Preset) -> tuple[bool, ...]:
    """Per slot, whether bounds need not divide: as its own constraint says, else as `preset` says for its kind."""
    if preset not in PRESETS:
        raise ValueError(f'mapspace must be one of {", ".join(PRESETS)}; got "{preset}"')
    spatial, temporal = preset in ("ruby", "ruby-s"), preset in ("ruby", "ruby-t")
    return tuple(_own(slot, spatial if slot.spatial else temporal) for slot in arch.slots)


def auto_preset(arch: Architecture, workload: Workload) -> tuple[tuple[bool, ...], str]:
    """Per slot, whether remainders pay for this problem, and why in one sentence per slot.

    An axis gets them when no product of divisors of the dims it may take fills it. A level's loops get them when the
    level cannot hold all tensors and a dim of more than 16 has neighbouring divisors further apart than GAP.
    """
    chosen, reasons = [], []
    for slot in arch.slots:
        why = _axis_misfit(slot, workload) if slot.spatial else _capacity_misfit(arch, slot, workload)
        chosen.append(_own(slot, bool(why)))
        if why and chosen[-1]:
            reasons.append(f"{slot.name}: {why}")
    return tuple(chosen), "; ".join(reasons) or "perfect factors fit every axis and capacity"


def _own(slot: Slot, otherwise: bool) -> bool:
    return otherwise if slot.constraint.remainders is None else slot.constraint.remainders


def _dims(slot: Slot, workload: Workload) -> Iterator[tuple[str, int]]:
    """The dims of more than 1 that the slot may take."""
    allowed = slot.constraint.dims
    for dim, size in zip(workload.dims, workload.sizes, strict=True):
        if size > 1 and (allowed is None or dim in allowed):
            yield dim, size


def _axis_misfit(slot: Slot, workload: Workload) -> str:
    """Why perfect factors leave a part of the axis idle, or nothing."""
    assert slot.axis is not None
    dims = dict(_dims(slot, workload))
    products = {1}
    for size in dims.values():
        steps = [int(step) for step in divisors(size) if step <= slot.axis.size]
        products = {a * b for a in products for b in steps if a * b <= slot.axis.size}
    most, could = max(products), min(slot.axis.size, prod(dims.values()))
    return f"divisors of {', '.join(dims)} fill {most} of {slot.axis.size}" if most < could else ""


def _capacity_misfit(arch: Architecture, slot: Slot, workload: Workload) -> str:
    """Why perfect tiles cannot come near the capacity of the level, or nothing."""
    level = arch.levels[slot.level]
    needed = sum(workload.tensor_words(t) * level.bits(t.name, t.word_bits) for t in workload.tensors)
    if level.capacity_bits is None or needed <= level.capacity_bits // level.multiple_buffering:
        return ""
    for dim, size in _dims(slot, workload):
        if size > 16 and any(b > GAP * a for a, b in pairwise(divisors(size).tolist())):
            return f"the tensors do not fit and the divisors of {dim}={size} are far apart"
    return ""
