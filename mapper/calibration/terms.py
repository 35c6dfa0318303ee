"""What a mapping does that may take time or energy on a real machine: the terms of a fit (docs/calibration.md)."""

from collections.abc import Sequence
from math import prod

from ...arch import Architecture
from ...arch.calibration import cycle_terms, energy_terms
from ..mapping import MappingBatch
from ..model import Costs
from ..model.figures import Mapped


def cycle_terms_of(mapped: Mapped, arch: Architecture) -> dict[str, float]:
    """Return the terms of cycles of a mapping on `arch`, by name.

    `layer` is 1, `steps` are those of the MAC units and `cycles` the model's. Of each level `words` are those that are
    read, filled and updated, the mean of the instances that are ever active, and `tiles` those that one instance holds
    one after another; the outermost level holds one.
    """
    costs, levels = mapped.costs, [level.name for level in arch.levels]
    counts = costs.counts
    steps = counts.cycles[0] - counts.starts[0] - counts.fill_drain[0]
    figures = [1.0, float(steps), float(costs.cycles[0])]
    tiles = tiles_in_turn(mapped.batch)
    for memory in range(len(levels)):
        figures += [_words(costs, memory)] if memory == 0 else [float(tiles[memory]), _words(costs, memory)]
    return dict(zip(cycle_terms(levels), figures, strict=True))


def energy_terms_of(mapped: Mapped, arch: Architecture) -> dict[str, float]:
    """Return the terms of the energy of a mapping on `arch`, by name: pJ of each part, and the model's cycles."""
    costs = mapped.costs
    of_levels = [float(pj) for pj in costs.level_energy_pj[0].sum(axis=1).tolist()]
    wires = float(costs.interconnect_energy_pj.sum())
    figures = [*of_levels, costs.compute_energy_pj, wires, float(costs.cycles[0])]
    names = energy_terms([level.name for level in arch.levels], arch.compute.name)
    return dict(zip(names, figures, strict=True))


def _words(costs: Costs, memory: int) -> float:
    """The words read, filled and updated, of an instance."""
    counts = costs.counts
    every = sum(float(words[0, memory].sum()) for words in (counts.reads, counts.fills, counts.updates))
    return every / max(1.0, float(counts.instances[0, memory]))


def tiles_in_turn(batch: MappingBatch) -> Sequence[int]:
    """How many tiles the memory of a single mapping holds one after another, at the spatial origin. # (memory,)"""
    arch = batch.arch
    tiles = []
    for stack in arch.stacks:
        outside = [s for s, slot in enumerate(arch.slots) if slot.level < stack[0]]
        tiles.append(
            prod(
                _iterations(table.bounds[row, outside].tolist(), table.digits[row, outside].tolist(), spatial)
                for table, row in zip(batch.tables, batch.rows[0].tolist(), strict=True)
                for spatial in [[arch.slots[s].spatial for s in outside]]
            )
        )
    return tiles


def _iterations(bounds: Sequence[int], digits: Sequence[int], spatial: Sequence[bool]) -> int:
    """The iterations of the temporal loops of a chain's slots, the outermost first, at the spatial origin.

    Those on the last path end at the digit, those inside run to the bound.
    """
    inside, last = 0, 1
    for bound, digit, spread in zip(bounds, digits, spatial, strict=True):
        if spread:
            inside, last = inside + last * (digit > 0), last * (digit == 0)
        else:
            inside, last = inside * bound + last * digit, last
    return inside + last
