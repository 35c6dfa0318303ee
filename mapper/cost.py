"""Counts -> validity, energy, cycles, utilisation, EDP."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..energy import EnergyTable
from .counts import Counts, Floats
from .mapping import MappingBatch

# Reason codes of `validity`: the index is the code, 0 is valid.
REASONS = ("valid", "fanout", "capacity", "utilization", "constraint")


@dataclass(frozen=True)
class CostOptions:
    """What Timeloop leaves at 0 by default, and so do we."""

    leakage: bool = False  # charge leak_pj_per_cycle of every instance for every cycle
    wire_pj_per_bit_mm: float = 0.0


@dataclass(eq=False)
class Costs:
    """Costs of a batch; totals over the whole machine."""

    counts: Counts
    energy_pj: Floats  # (mapping,)
    cycles: Floats  # (mapping,) maximum over compute and levels
    utilization: Floats  # (mapping,) MACs / (cycles * MAC units)
    level_energy_pj: Floats  # (mapping, level, tensor)
    level_cycles: Floats  # (mapping, level) words / bandwidth of the busiest instance; 0 without a bandwidth
    compute_energy_pj: float

    @property
    def edp(self) -> Floats:
        """Energy-delay product, pJ * cycles. # (mapping,)"""
        return self.energy_pj * self.cycles


def validity(batch: MappingBatch) -> NDArray[np.int8]:
    """The reason code of each mapping: 0 valid, else an index of REASONS. # (mapping,)"""
    raise NotImplementedError


def evaluate(batch: MappingBatch, table: EnergyTable, options: CostOptions | None = None) -> Costs:
    """Costs of every mapping of `batch`, valid or not."""
    raise NotImplementedError
