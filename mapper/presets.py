"""Which slots may have remainders: the presets by name, and a choice by the shape of the problem."""

from itertools import pairwise
from typing import Literal, get_args

from ..arch import Architecture, Slot, Storage
from ..workloads import Workload
from .factor import divisors
from .rules import Rules, limits

Preset = Literal["pfm", "ruby", "ruby-s", "ruby-t", "auto"]
PRESETS: tuple[Preset, ...] = get_args(Preset)
GAP = 4  # a dim whose neighbouring divisors lie further apart than this cannot be fitted to a capacity


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

    An axis gets them when no product of divisors of the dims it may take fills it. A level's loops get them when the
    level cannot hold all tensors and a dim of more than 16 has neighbouring divisors further apart than GAP.
    """
    rules = perfect_rules(arch, workload)
    chosen, reasons = [], []
    for index, slot in enumerate(arch.slots):
        dims = {workload.dims[d]: workload.sizes[d] for d in sorted(rules.loops[index])}
        if slot.axis is None:
            why = _capacity_misfit(arch.levels[slot.level], workload, dims)
        else:
            most, could = axis_fill(rules, index)
            why = f"divisors of {', '.join(dims)} fill {most} of {slot.axis.size}" if most < could else ""
        chosen.append(_own(slot, bool(why)))
        if why and chosen[-1]:
            reasons.append(f"{slot.name}: {why}")
    return tuple(chosen), "; ".join(reasons) or "perfect factors fit every axis and capacity"


def perfect_rules(arch: Architecture, workload: Workload) -> Rules:
    """The limits of `workload` on `arch`, nothing having remainders."""
    return Rules(arch.slots, workload.sizes, (False,) * len(arch.slots), limits(arch, workload))


def axis_fill(rules: Rules, slot: int) -> tuple[int, int]:
    """How much of an axis divisors of the dims it may take can fill, and how much any bounds could."""
    axis = rules.slots[slot].axis
    if axis is None:
        raise ValueError(f"{rules.slots[slot].name} is not a fanout axis")
    products, could = {1}, 1
    for dim in rules.loops[slot]:
        least, most = rules.bounds(slot, dim)
        steps = [int(step) for step in divisors(rules.sizes[dim]) if least <= step <= most]
        products = {a * b for a in products for b in steps if a * b <= axis.size}
        could *= most
    return max(products, default=0), min(axis.size, could)


def _own(slot: Slot, otherwise: bool) -> bool:
    return otherwise if slot.constraint.remainders is None else slot.constraint.remainders


def _capacity_misfit(level: Storage, workload: Workload, dims: dict[str, int]) -> str:
    """Why perfect tiles of `dims` cannot come near the capacity of the level, or nothing."""
    needed = sum(workload.tensor_words(t) * level.bits(t.name, t.word_bits) for t in workload.tensors)
    if level.capacity_bits is None or needed <= level.capacity_bits // level.multiple_buffering:
        return ""
    for dim, size in dims.items():
        if size > 16 and any(b > GAP * a for a, b in pairwise(divisors(size).tolist())):
            return f"the tensors do not fit and the divisors of {dim}={size} are far apart"
    return ""
