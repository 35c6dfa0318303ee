"""Writes the constraints of an architecture for a workload, as Timeloop's lists and as those of its nodes."""

from collections.abc import Iterator, Sequence
from typing import Any

from ...workloads import Workload
from ..loop_constraint import FactorRule, LoopConstraint
from ..spec import Architecture, Axis, Slot, Storage
from .write import dummy_name

Entry = dict[str, Any]
ALL_X = 999  # a split over any number of dims


def constraint_faults(arch: Architecture, workload: Workload) -> list[str]:
    """What of the constraints of an architecture Timeloop cannot express, or would pass over."""
    axes = [axis for level in arch.levels for axis in level.fanout]
    faults, several = list(_name_faults(arch, axes)), sum(axis.size > 1 for axis in axes) > 1
    if arch.max_loops is not None:
        faults.append(f"at most {arch.max_loops} temporal loops, which stand in its mapper's file")
    for level in arch.levels:
        if level.temporal.max_loops is not None:
            faults.append(f"{level.name}: at most {level.temporal.max_loops} loops")
    for slot in arch.slots:
        if slot.axis is not None and slot.axis.size > 1 and slot.constraint.min_utilization and several:
            faults.append(f"{slot.name}: a utilization of one of several axes")
        faults += [f"{slot.name}: {fault}" for fault in _rule_faults(slot, workload)]
    return faults


def _name_faults(arch: Architecture, axes: Sequence[Axis]) -> Iterator[str]:
    """Axes whose dummy storage could not be told from another or from a level."""
    taken = [level.name for level in arch.levels]
    for axis in axes:
        if axis.name in taken:
            yield f"{axis.name}: an axis with the name of another axis or level"
        taken.append(axis.name)


def _rule_faults(slot: Slot, workload: Workload) -> Iterator[str]:
    """Rules that no bound meets, most of which Timeloop forgets or never gets to see."""
    dims = slot.constraint.dims
    for rule in slot.constraint.factors:
        if rule.dim not in workload.dims:
            continue
        size = workload.size(rule.dim)
        if rule.value is not None and rule.value > size and rule.op != "<=":
            yield f"{rule} where {rule.dim} has {size}"
        elif (rule.value or size) > 1 and rule.op != "<=":
            if dims is not None and rule.dim not in dims:
                yield f"{rule} beside dims without {rule.dim}"
            elif slot.axis is not None and slot.axis.size == 1:
                yield f"{rule} on an axis of 1"


def write_timeloop_constraints(arch: Architecture, workload: Workload) -> dict[str, Any]:
    """The constraints as the root key `architecture_constraints` beside a tree in which each axis has a dummy storage.

    Dims that a constraint leaves out have bounds of 1. Raises ValueError with all that Timeloop cannot express.
    """
    if faults := constraint_faults(arch, workload):
        raise ValueError(f"constraints of {arch.name} cannot be written for Timeloop: {'; '.join(faults)}")
    return {"architecture_constraints": {"version": 0.3, "targets": [*_targets(arch, workload)]}}


def _targets(arch: Architecture, workload: Workload) -> Iterator[Entry]:
    names = [tensor.name for tensor in workload.tensors]
    innermost = arch.levels[0].name
    for number, level in enumerate(arch.levels):
        innermost = level.name
        if entry := temporal_entry(level.temporal, workload):
            yield {"target": level.name, "type": "temporal", **entry}
        if number and (entry := kept_entry(level, workload)):
            yield {"target": level.name, "type": "dataspace", **entry}
        for axis in (axis for axis in level.fanout if axis.size > 1):
            innermost = dummy_name(axis)
            yield {"target": dummy_name(axis), "type": "spatial", **axis_entry(axis, workload)}
            ones = " ".join(f"{dim}=1" for dim in workload.dims)
            yield {"target": dummy_name(axis), "type": "temporal", "factors": ones}
            yield {"target": dummy_name(axis), "type": "dataspace", "keep": [], "bypass": names}
    for slot in arch.slots:  # of the one axis there is: Timeloop has it at the innermost storage, for all fan-outs
        if slot.axis is not None and slot.axis.size > 1 and slot.constraint.min_utilization:
            yield {"target": innermost, "type": "utilization", "min": slot.constraint.min_utilization}


def temporal_entry(constraint: LoopConstraint, workload: Workload) -> Entry:
    """Factors and order of the temporal loops of a level; permutations are innermost first, free dims at `_`."""
    entry = _factors(constraint, workload)
    inner = [dim for dim in reversed(constraint.innermost) if dim in workload.dims]
    outer = [dim for dim in reversed(constraint.outermost) if dim in workload.dims]
    if inner or outer:  # as text: its binaries pass over a list
        entry["permutation"] = "".join([*inner, *(["_", *outer] if outer else [])])
    return entry


def axis_entry(axis: Axis, workload: Workload) -> Entry:
    """Factors of an axis, with the split that puts all its dims on its mesh."""
    return _factors(axis.constraint, workload) | {"split": ALL_X if axis.mesh == "X" else 0}


def kept_entry(level: Storage, workload: Workload) -> Entry:
    """The tensors that a level must keep and those that pass it by."""
    names = [tensor.name for tensor in workload.tensors]
    keep, bypass = ([name for name in names if name in selection] for selection in (level.keep, level.bypass))
    return {"keep": keep, "bypass": bypass} if keep or bypass else {}


def _value(rule: FactorRule, workload: Workload) -> int:
    """The whole dim is 0 where it is meant exactly; a limit of 0 ends Timeloop."""
    return rule.value or (0 if rule.op == "=" else workload.size(rule.dim))


def _factors(constraint: LoopConstraint, workload: Workload) -> Entry:
    without = [dim for dim in workload.dims if constraint.dims is not None and dim not in constraint.dims]
    words = [
        f"{rule.dim}{rule.op}{_value(rule, workload)}"
        for rule in constraint.factors
        if rule.dim in workload.dims and rule.dim not in without
    ]
    words += [f"{dim}=1" for dim in without]
    entry: Entry = {"factors": " ".join(words)} if words else {}
    if constraint.remainders is not None:
        entry["remainders"] = 2 if constraint.remainders else 1
    return entry
