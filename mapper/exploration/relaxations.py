"""The changes that `--why` tries: each relaxes one limit of a machine or mapspace by a step, and leaves all others.

Every mapping of the mapspace is a mapping of each changed mapspace, valid where it was valid. Changes that could not
matter (a limit on a dim of size 1, an order of one loop) are left out.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

from ...arch import Architecture, FactorRule, LoopConstraint, Slot, Storage, of_stacks, unstacked
from ...energy import EnergyTable
from ...workloads import Workload
from ..mapspace import PRESETS, Mapspace, remainders


@dataclass(frozen=True)
class Change:
    """One change: its text for the user, the changed architecture, and which slots may have remainders there."""

    text: str
    arch: Architecture
    remainders: tuple[bool, ...]


@dataclass(frozen=True)
class _Limits:
    """The limits of a mapspace, of the machine as it is written: a slot for each memory's loops."""

    arch: Architecture
    workload: Workload
    remainders: tuple[bool, ...]  # by slot
    loops: tuple[frozenset[int], ...]  # the dims that may loop at each slot

    @classmethod
    def of(cls, space: Mapspace) -> Self:
        """Take those of a mapspace: of a stack of levels any loop of them is one of the memory."""
        arch, loops = unstacked(space.arch), dict[str, frozenset[int]]()
        for slot, dims in zip(space.arch.slots, space.rules.loops, strict=True):
            loops[slot.name] = loops.get(slot.name, frozenset()) | dims
        flags = of_stacks(space.remainders, space.arch, arch)
        return cls(arch, space.workload, flags, tuple(loops[slot.name] for slot in arch.slots))


def changes(space: Mapspace) -> list[Change]:
    """List all changes of the architecture and the mapspace, by kind."""
    limits = _Limits.of(space)
    return [change for kind in KINDS for change in kind(limits)]


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


def _capacities(limits: _Limits) -> Iterator[Change]:
    for i, level in enumerate(limits.arch.levels):
        if level.capacity_bits is not None:
            yield _level(limits, i, f"capacity of {level.name} x2", capacity_bits=2 * level.capacity_bits)


def _buffers(limits: _Limits) -> Iterator[Change]:
    for i, level in enumerate(limits.arch.levels):
        if level.capacity_bits is not None and level.multiple_buffering > 1:
            yield _level(limits, i, f"no multiple buffering at {level.name}", multiple_buffering=1)


def _bandwidths(limits: _Limits) -> Iterator[Change]:
    for i, level in enumerate(limits.arch.levels):
        for own in level.bandwidths:
            yield _level(limits, i, f"{own.kind} bandwidth of {level.name} x2", **{own.key: 2 * own.rate})


def _starts(limits: _Limits) -> Iterator[Change]:
    for i, level in enumerate(limits.arch.levels):
        if level.start_cycles:
            yield _level(limits, i, f"tiles of {level.name} begin at once", start_cycles=0)


def _layouts(limits: _Limits) -> Iterator[Change]:
    """Another rank of a tensor innermost in a DRAM, the others as they are."""
    for i, level in enumerate(limits.arch.levels):
        for tensor in limits.workload.tensors if level.dram is not None else ():
            assert level.dram is not None
            order = level.dram.order(tensor)
            for r in [r for r in order if limits.workload.length(tensor.ranks[r]) > 1][1:]:
                first = [r, *(own for own in order if own != r)]
                dims = tuple(dict.fromkeys(tensor.ranks[own][0].dim for own in first))
                rank, dram = " + ".join(map(str, tensor.ranks[r])), level.dram.laid({tensor.name: dims})
                yield _level(limits, i, f"{tensor.name} with {rank} innermost in {level.name}", dram=dram)


def _kept(limits: _Limits) -> Iterator[Change]:
    for i, level in enumerate(limits.arch.levels):
        for tensor in (tensor.name for tensor in limits.workload.tensors):
            if tensor in level.keep and i:  # the outermost level keeps everything
                yield _level(limits, i, f"{level.name} may bypass {tensor}", keep=level.keep - {tensor})
            elif tensor in level.bypass:
                yield _level(limits, i, f"{level.name} may keep {tensor}", bypass=level.bypass - {tensor})


def _placements(limits: _Limits) -> Iterator[Change]:
    for i, level in enumerate(limits.arch.levels):
        several = sum(tensor.name not in level.bypass for tensor in limits.workload.tensors) > 1
        if i and several and level.placement == "even":  # the outermost level holds whole tensors
            yield _level(limits, i, f"uneven placement at {level.name}", placement="uneven")


# Axes


def _longer_axes(limits: _Limits) -> Iterator[Change]:
    for slot in limits.arch.slots:
        if slot.axis is not None:
            size, constraint = slot.axis.size + 1, slot.constraint
            if slot.least:  # the same number of instances, of more
                constraint = replace(constraint, min_utilization=slot.least / size)
            text = f"{slot.name} has {size} places, not {slot.axis.size}"
            yield _axis(limits, slot, text, size=size, constraint=constraint)


def _dims_on_axes(limits: _Limits) -> Iterator[Change]:
    for slot in limits.arch.slots:
        if slot.axis is not None and slot.axis.size > 1:
            for dim in _shut_out(limits, slot):
                yield _loops(limits, slot, f"{slot.name} may hold {dim}", **_admitting(slot.constraint, dim))


def _utilizations(limits: _Limits) -> Iterator[Change]:
    for slot in limits.arch.slots:
        if slot.least > 1:
            yield _loops(limits, slot, f"{slot.name} may be used less", min_utilization=0.0)


# Loops


def _dims_at_levels(limits: _Limits) -> Iterator[Change]:
    for slot in limits.arch.slots:
        allowed = slot.constraint.dims
        if slot.axis is None and allowed is not None and any(dim not in allowed for dim in _over_one(limits)):
            yield _loops(limits, slot, f"any dim may loop at {slot.name}", dims=None)


def _rules(limits: _Limits) -> Iterator[Change]:
    for slot in limits.arch.slots:
        for rule in slot.constraint.factors:
            # a rule that keeps a dim off an axis is dropped where the axis may hold the dim
            if rule.dim in _over_one(limits) and not (slot.axis is not None and _excludes(rule)):
                kept_rules = tuple(other for other in slot.constraint.factors if other is not rule)
                yield _loops(limits, slot, f"without {rule} at {slot.name}", factors=kept_rules)


def _orders(limits: _Limits) -> Iterator[Change]:
    for index, slot in enumerate(limits.arch.slots):
        loops = _possible(limits, index)
        if len(loops) > 1 and loops.intersection(slot.constraint.outermost + slot.constraint.innermost):
            yield _loops(limits, slot, f"any loop order at {slot.name}", outermost=(), innermost=())


def _numbers_of_loops(limits: _Limits) -> Iterator[Change]:
    most_in_all, temporal = limits.arch.max_loops, [s for s, slot in enumerate(limits.arch.slots) if slot.axis is None]
    if most_in_all is not None and most_in_all < sum(len(_possible(limits, index)) for index in temporal):
        yield Change("any number of temporal loops", replace(limits.arch, max_loops=None), limits.remainders)
    for index, slot in enumerate(limits.arch.slots):
        most = slot.constraint.max_loops
        if slot.axis is None and most is not None and most < len(_possible(limits, index)):
            yield _loops(limits, slot, f"any number of loops at {slot.name}", max_loops=None)


def _slots_with_remainders(limits: _Limits) -> Iterator[Change]:
    for index, slot in enumerate(limits.arch.slots):
        if slot.constraint.remainders is False and _possible(limits, index):
            flags = tuple(flag or i == index for i, flag in enumerate(limits.remainders))
            yield replace(_loops(limits, slot, f"remainders at {slot.name}", remainders=True), remainders=flags)


def _mapspaces(limits: _Limits) -> Iterator[Change]:
    seen = {limits.remainders}
    for preset in PRESETS:
        if preset != "auto":  # which chooses one of the others slot by slot
            flags, _ = remainders(limits.arch, limits.workload, preset)
            more = all(new or not old for new, old in zip(flags, limits.remainders, strict=True))
            if more and flags not in seen:
                seen.add(flags)
                yield Change(f"mapspace {preset}", limits.arch, flags)


KINDS: tuple[Callable[[_Limits], Iterator[Change]], ...] = (
    _capacities,
    _buffers,
    _bandwidths,
    _starts,
    _layouts,
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
    _placements,
)


def _over_one(limits: _Limits) -> list[str]:
    """The dims of size over 1."""
    return [dim for dim, size in zip(limits.workload.dims, limits.workload.sizes, strict=True) if size > 1]


def _possible(limits: _Limits, index: int) -> set[str]:
    """The dims that the limits of slot `index` let loop there."""
    return {limits.workload.dims[d] for d in limits.loops[index]}


def _excludes(rule: FactorRule) -> bool:
    return rule.op != ">=" and rule.value == 1


def _shut_out(limits: _Limits, slot: Slot) -> list[str]:
    """The dims of size over 1 that the constraint of `slot` excludes."""
    allowed, rules = slot.constraint.dims, slot.constraint.factors
    excluded = {rule.dim for rule in rules if _excludes(rule)}
    return [dim for dim in _over_one(limits) if dim in excluded or (allowed is not None and dim not in allowed)]


def _admitting(constraint: LoopConstraint, dim: str) -> dict[str, Any]:
    """The fields of a constraint that no longer exclude `dim`."""
    dims = constraint.dims
    factors = tuple(rule for rule in constraint.factors if rule.dim != dim or not _excludes(rule))
    return {"dims": dims if dims is None or dim in dims else (*dims, dim), "factors": factors}


def _level(limits: _Limits, index: int, text: str, **fields: Any) -> Change:
    """A change of fields of one level."""
    arch = limits.arch
    levels = tuple(replace(level, **fields) if i == index else level for i, level in enumerate(arch.levels))
    return Change(text, replace(arch, levels=levels), limits.remainders)


def _axis(limits: _Limits, slot: Slot, text: str, **fields: Any) -> Change:
    """A change of fields of the axis of `slot`."""
    storage: Storage = limits.arch.levels[slot.level]
    fanout = tuple(replace(axis, **fields) if axis is slot.axis else axis for axis in storage.fanout)
    return _level(limits, slot.level, text, fanout=fanout)


def _loops(limits: _Limits, slot: Slot, text: str, **fields: Any) -> Change:
    """A change of fields of the constraint of `slot`."""
    constraint = replace(slot.constraint, **fields)
    if slot.axis is not None:
        return _axis(limits, slot, text, constraint=constraint)
    return _level(limits, slot.level, text, temporal=constraint)
