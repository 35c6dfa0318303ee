"""Counts and costs of memories, as reports show them: those of the levels of a stack added up."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from ....arch import Architecture
from ...mapping import Numbers
from ..cost import Costs
from ..counts import Counts
from ..nests import Crossings, NestAnalysis


def by_memory(costs: Costs, arch: Architecture) -> Costs:
    """Return `costs` of mappings on `arch` with a column for each memory in place of each level."""
    if len(arch.stacks) == len(arch.levels):
        return costs
    return replace(
        costs,
        counts=counts_by_memory(costs.counts, arch),
        level_energy_pj=_added(arch, costs.level_energy_pj),
        level_cycles=costs.level_cycles[:, [stack[0] for stack in arch.stacks]],
        interconnect_energy_pj=_added(arch, costs.interconnect_energy_pj),
    )


def counts_by_memory(counts: Counts, arch: Architecture) -> Counts:
    """Return `counts` of mappings on `arch` with a column for each memory in place of each level.

    A stack keeps each tensor once, so what is added up are zeros but for one level.
    """
    if len(arch.stacks) == len(arch.levels):
        return counts
    added, first = partial(_added, arch), [stack[0] for stack in arch.stacks]
    return replace(
        counts,
        reads=added(counts.reads),
        fills=added(counts.fills),
        updates=added(counts.updates),
        instances=counts.instances[:, [*first, len(arch.levels)]],
        origin_reads=added(counts.origin_reads),
        origin_writes=added(counts.origin_writes),
        inexact=added(counts.inexact) > 0,
        origin_inexact=added(counts.origin_inexact),
        drains=added(counts.drains),
        origin_drains=added(counts.origin_drains),
        tiles=_tiles(counts, added),
        crossings=_crossings(counts, added),
    )


def _added(arch: Architecture, figures: Numbers) -> Numbers:
    """Add up the levels of each stack. # (mapping, memory, ...)"""
    return np.stack([figures[:, stack.start : stack.stop].sum(axis=1) for stack in arch.stacks], axis=1)


def _tiles(counts: Counts, added: Callable[[Numbers], Numbers]) -> Callable[[], Numbers]:
    return lambda: added(counts.tile_words)


def _crossings(counts: Counts, added: Callable[[Numbers], Numbers]) -> Callable[..., Crossings]:
    def by_memory(nest: NestAnalysis | None = None) -> Crossings:
        crossed = counts.crossings(nest)
        return Crossings(added(crossed.words), crossed.exact)

    return by_memory
