"""What kept tensors move between the outermost level and the keeper: words, energy, cycles."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .....arch import Architecture, Storage
from .....energy import EnergyTable
from ....problem import Charges
from .stages import Stages


@dataclass(frozen=True)
class Moved:
    """The words of a kept tensor between the outermost level and the keeper, in all steps together."""

    most: int  # of the largest tile
    come: int  # that come in, or begin there
    distinct: int


def flows_of(stages: Stages, stage: int, name: str, moved: Moved) -> tuple[int, int, int, int]:
    """Words read at the outermost level, updated there, filled into the keeper, and drained from it."""
    tensor = stages.tensor(stage, name)
    if not tensor.output:
        return moved.come, 0, moved.come, 0
    back = moved.come - (0 if tensor.accumulates else moved.distinct)
    return back, moved.come, back, moved.come


def transfer_pj(
    stages: Stages,
    tensor: tuple[int, str],
    words: Sequence[int],
    machine: tuple[Architecture, int, EnergyTable],
    costs: Charges,
) -> float:
    """The energy of such words, without leakage."""
    (arch, level, table), own = machine, stages.tensor(*tensor)
    reads, updates, fills, drains = words
    outer, keeper = arch.levels[0], arch.levels[level]
    outer_share = outer.bits(own.name, own.word_bits) / outer.width_bits
    keeper_share = keeper.bits(own.name, own.word_bits) / keeper.width_bits
    energy = outer_share * (reads * table.levels[0].read_pj + updates * table.levels[0].update_pj)
    drained = drains if costs.drain_reads else 0
    return energy + keeper_share * (fills * table.levels[level].write_pj + drained * table.levels[level].read_pj)


def transfer_cycles(flows: Sequence[float], arch: Architecture, level: int, costs: Charges) -> int:
    """The cycles that the slowest bandwidth of both levels takes."""
    reads, updates, fills, drains = flows
    drained = drains if costs.drain_reads else 0
    return max(passing_cycles(arch.levels[0], reads, updates), passing_cycles(arch.levels[level], drained, fills))


def passing_cycles(level: Storage, reads: float, writes: float) -> int:
    """The cycles in which a level reads and writes so many words: the most that one of its bandwidths takes."""
    taken = (limit.of(reads, writes) / limit.rate * (1 - 1e-12) for limit in level.bandwidths)
    return max((int(np.ceil(cycles)) for cycles in taken), default=0)
