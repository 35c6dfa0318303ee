"""Memories with uneven placement as stacks of levels, each for one tensor (docs/decisions/080-uneven-placement.md)."""

from collections.abc import Sequence
from dataclasses import replace

from ..workloads import InputError, Workload, unknown_choice
from .spec import PLACEMENTS, Architecture, Storage


def stacked(arch: Architecture, workload: Workload) -> Architecture:
    """Return `arch` with each memory of uneven placement as a stack of levels, one per tensor that it may keep.

    A memory that may keep a single tensor, or none, is as it was.
    """
    if not any(level.placement == "uneven" for level in arch.levels):
        return arch
    return replace(arch, levels=tuple(member for level in arch.levels for member in _stack(level, workload)))


def _stack(level: Storage, workload: Workload) -> list[Storage]:
    """List the levels of a memory: all its figures at each, its fanout below the last."""
    number = sum(tensor.name not in level.bypass | level.resident for tensor in workload.tensors)
    if level.placement == "even" or level.memory or number < 2:
        return [level]
    names = [f"{level.name}/{i}" for i in range(1, number + 1)]
    members = [replace(level, name=name, memory=level.name, fanout=(), resident=frozenset()) for name in names]
    # what is resident is in the last, no matter what loops there are in the stack
    return [*members[:-1], replace(members[-1], fanout=level.fanout, resident=level.resident)]


def of_stacks[T](values: Sequence[T], written: Architecture, arch: Architecture) -> tuple[T, ...]:
    """Return what the slots of `written` have for those of `arch`, the same machine with or without its stacks."""
    if len(written.levels) == len(arch.levels):
        return tuple(values)
    by_slot: dict[str, T] = dict(zip((slot.name for slot in written.slots), values, strict=True))
    return tuple(by_slot[slot.name] for slot in arch.slots)


def placed(arch: Architecture, placement: str) -> Architecture:
    """Return `arch` with this placement in every memory but the outermost, which holds whole tensors.

    Raises InputError for a word that is no placement.
    """
    if placement not in PLACEMENTS:
        raise InputError(unknown_choice("placement", placement, PLACEMENTS))
    inner = (replace(level, placement=placement) for level in arch.levels[1:])
    return replace(arch, levels=(arch.levels[0], *inner))


def unstacked(arch: Architecture) -> Architecture:
    """Return `arch` with one level for each memory again."""
    if len(arch.stacks) == len(arch.levels):
        return arch
    return replace(arch, levels=tuple(_memory(arch.levels[stack[-1]]) for stack in arch.stacks))


def _memory(last: Storage) -> Storage:
    """Return the memory of whose stack a level is the last; any other level as it is."""
    return replace(last, name=last.of_memory, memory="")
