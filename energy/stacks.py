"""The energy table of an architecture whose memories are stacks of levels (arch/stacks.py)."""

from dataclasses import replace

from ..arch import Architecture, unstacked
from .spec import EnergyTable, LevelEnergy


def stacked_table(table: EnergyTable, arch: Architecture) -> EnergyTable:
    """Return `table` with the figures of each memory at every level of its stack, leakage and area at the first."""
    if len(table.levels) == len(arch.levels):
        return table
    levels = [
        _at(figures, arch.levels[level].name, first=level == stack[0])
        for figures, stack in zip(table.levels, arch.stacks, strict=True)
        for level in stack
    ]
    return replace(table, levels=tuple(levels))


def as_written(arch: Architecture, table: EnergyTable) -> tuple[Architecture, EnergyTable]:
    """Return an architecture and its table with one level for each stack."""
    if len(arch.stacks) == len(arch.levels):
        return arch, table
    written = unstacked(arch)
    levels = [
        replace(table.levels[stack[0]], name=level.name)
        for stack, level in zip(arch.stacks, written.levels, strict=True)
    ]
    return written, replace(table, levels=tuple(levels))


def _at(figures: LevelEnergy, name: str, *, first: bool) -> LevelEnergy:
    """Return the figures of a memory at a level of its stack."""
    return replace(figures, name=name) if first else replace(figures, name=name, leak_pj_per_cycle=0.0, area_um2=0.0)
