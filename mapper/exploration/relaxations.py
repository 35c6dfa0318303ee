"""The changes that `--why` tries: each relaxes one limit of a machine or mapspace by a step, and leaves all others.

Every mapping of the mapspace is a mapping of each changed mapspace, valid where it was valid. Changes that could not
matter (a limit on a dim of size 1, an order of one loop) are left out.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ...arch import Architecture, FactorRule, LoopConstraint, Slot, Storage
from ...energy import EnergyTable
from ..mapspace import PRESETS, Mapspace, remainders


@dataclass(frozen=True)
class Change:
    """One change: its text for the user, the changed architecture, and which slots may have remainders there."""

    text: str
    arch: Architecture
    remainders: tuple[bool, ...]


def changes(space: Mapspace) -> list[Change]:
    """List all changes of the architecture and the mapspace, by kind."""
    return [change for kind in KINDS for change in kind(space)]


def as_it_was(table: EnergyTable, before: Architecture, after: Architecture) -> EnergyTable:
    """Return the energies of `before` for `after`, where a longer axis has more instances.

    Energies per access stay; leakage is shared by the instances, so that all of them leak as much as before.
    """
    shares = [before.instances(i) / after.instances(i) for i in range(len(before.levels) + 1)]
    levels = tuple(
        replace(level, leak_pj_per_cycle=level.leak_pj_per_cycle * share)
        for level, share in zip(table.levels, shares, strict=False)
    )
    compute = replace(table.compute, leak_pj_per_cycle=table.compute.leak_pj_per_cycle * shares[-1])
    return replace(table, levels=levels, compute=compute)


# Levels


def _capacities(space: Mapspace) -> Iterator[Change]:
    for i, level in enumerate(space.arch.levels):
        if level.capacity_bits is not None:
            yield _level(space, i, f"capacity of {level.name} x2", capacity_bits=2 * level.capacity_bits)


def _buffers(space: Mapspace) -> Iterator[Change]:
    for i, level in enumerate(space.arch.levels):
        if level.capacity_bits is not None and level.multiple_buffering > 1:
            yield _level(space, i, f"no multiple buffering at {level.name}", multiple_buffering=1)


def _bandwidths(space: Mapspace) -> Iterator[Change]:
    for i, level in enumerate(space.arch.levels):
        if level.read_bandwidth is not None:
            yield _level(space, i, f"read bandwidth of {level.name} x2", read_bandwidth=2 * level.read_bandwidth)
        if level.write_bandwidth is not None:
            yield _level(space, i, f"write bandwidth of {level.name} x2", write_bandwidth=2 * level.write_bandwidth)


def _kept(space: Mapspace) -> Iterator[Change]:
    for i, level in enumerate(space.arch.levels):
        for tensor in (tensor.name for tensor in space.workload.tensors):
            if tensor in level.keep and i:  # the outermost level keeps everything
                yield _level(space, i, f"{level.name} may bypass {tensor}", keep=level.keep - {tensor})
            elif tensor in level.bypass:
                yield _level(space, i, f"{level.name} may keep {tensor}", bypass=level.bypass - {tensor})


# Axes


def _longer_axes(space: Mapspace) -> Iterator[Change]:
    for slot in space.arch.slots:
        if slot.axis is not None:
            size, constraint = slot.axis.size + 1, slot.constraint
            if slot.least:  # the same number of instances, of more
                constraint = replace(constraint, min_utilization=slot.least / size)
            text = f"{slot.name} has {size} places, not {slot.axis.size}"
            yield _axis(space, slot, text, size=size, constraint=constraint)


def _dims_on_axes(space: Mapspace) -> Iterator[Change]:
    for slot in space.arch.slots:
        if slot.axis is not None and slot.axis.size > 1:
            for dim in _shut_out(space, slot):
                yield _loops(space, slot, f"{slot.name} may hold {dim}", **_admitting(slot.constraint, dim))


def _utilizations(space: Mapspace) -> Iterator[Change]:
    for slot in space.arch.slots:
        if slot.least > 1:
            yield _loops(space, slot, f"{slot.name} may be used less", min_utilization=0.0)


# Loops


def _dims_at_levels(space: Mapspace) -> Iterator[Change]:
    for slot in space.arch.slots:
        allowed = slot.constraint.dims
        if slot.axis is None and allowed is not None and any(dim not in allowed for dim in _over_one(space)):
            yield _loops(space, slot, f"any dim may loop at {slot.name}", dims=None)


def _rules(space: Mapspace) -> Iterator[Change]:
    for slot in space.arch.slots:
        for rule in slot.constraint.factors:
            # a rule that keeps a dim off an axis is dropped where the axis may hold the dim
            if rule.dim in _over_one(space) and not (slot.axis is not None and _excludes(rule)):
                others = tuple(other for other in slot.constraint.factors if other is not rule)
                yield _loops(space, slot, f"without {rule} at {slot.name}", factors=others)


def _orders(space: Mapspace) -> Iterator[Change]:
    for index, slot in enumerate(space.arch.slots):
        loops = _possible(space, index)
        if len(loops) > 1 and loops.intersection(slot.constraint.outermost + slot.constraint.innermost):
            yield _loops(space, slot, f"any loop order at {slot.name}", outermost=(), innermost=())


def _numbers_of_loops(space: Mapspace) -> Iterator[Change]:
    for index, slot in enumerate(space.arch.slots):
        most = slot.constraint.max_loops
        if slot.axis is None and most is not None and most < len(_possible(space, index)):
            yield _loops(space, slot, f"any number of loops at {slot.name}", max_loops=None)


def _slots_with_remainders(space: Mapspace) -> Iterator[Change]:
    for index, slot in enumerate(space.arch.slots):
        if slot.constraint.remainders is False and _possible(space, index):
            flags = tuple(flag or i == index for i, flag in enumerate(space.remainders))
            yield replace(_loops(space, slot, f"remainders at {slot.name}", remainders=True), remainders=flags)


def _mapspaces(space: Mapspace) -> Iterator[Change]:
    seen = {space.remainders}
    for preset in PRESETS:
        if preset != "auto":  # which chooses one of the others slot by slot
            flags, _ = remainders(space.arch, space.workload, preset)
            more = all(new or not old for new, old in zip(flags, space.remainders, strict=True))
            if more and flags not in seen:
                seen.add(flags)
                yield Change(f"mapspace {preset}", space.arch, flags)


KINDS: tuple[Callable[[Mapspace], Iterator[Change]], ...] = (
    _capacities,
    _buffers,
    _bandwidths,
    _longer_axes,
    _dims_on_axes,
    _utilizations,
    _dims_at_levels,
    _rules,
    _orders,
    _numbers_of_loops,
    _slots_with_remainders,
    _mapspaces,
    _kept,
)


def _over_one(space: Mapspace) -> list[str]:
    """The dims of size over 1."""
    return [dim for dim, size in zip(space.workload.dims, space.workload.sizes, strict=True) if size > 1]


def _possible(space: Mapspace, index: int) -> set[str]:
    """The dims that the limits of slot `index` let loop there."""
    return {space.workload.dims[d] for d in space.rules.loops[index]}


def _excludes(rule: FactorRule) -> bool:
    return rule.op != ">=" and rule.value == 1


def _shut_out(space: Mapspace, slot: Slot) -> list[str]:
    """The dims of size over 1 that the constraint of `slot` excludes."""
    allowed, rules = slot.constraint.dims, slot.constraint.factors
    excluded = {rule.dim for rule in rules if _excludes(rule)}
    return [dim for dim in _over_one(space) if dim in excluded or (allowed is not None and dim not in allowed)]


def _admitting(constraint: LoopConstraint, dim: str) -> dict[str, Any]:
    """The fields of a constraint that no longer exclude `dim`."""
    dims = constraint.dims
    factors = tuple(rule for rule in constraint.factors if rule.dim != dim or not _excludes(rule))
    return {"dims": dims if dims is None or dim in dims else (*dims, dim), "factors": factors}


def _level(space: Mapspace, index: int, text: str, **fields: Any) -> Change:
    """A change of fields of one level."""
    arch = space.arch
    levels = tuple(replace(level, **fields) if i == index else level for i, level in enumerate(arch.levels))
    return Change(text, replace(arch, levels=levels), space.remainders)


def _axis(space: Mapspace, slot: Slot, text: str, **fields: Any) -> Change:
    """A change of fields of the axis of `slot`."""
    storage: Storage = space.arch.levels[slot.level]
    fanout = tuple(replace(axis, **fields) if axis is slot.axis else axis for axis in storage.fanout)
    return _level(space, slot.level, text, fanout=fanout)


def _loops(space: Mapspace, slot: Slot, text: str, **fields: Any) -> Change:
    """A change of fields of the constraint of `slot`."""
    constraint = replace(slot.constraint, **fields)
    if slot.axis is not None:
        return _axis(space, slot, text, constraint=constraint)
    return _level(space, slot.level, text, temporal=constraint)
