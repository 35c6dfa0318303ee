"""What is charged beside accesses and MACs: leakage, wires, drained words."""

from dataclasses import dataclass, field
from typing import ClassVar

from ...arch import LARGEST, Architecture
from ...energy import EnergyTable
from ...workloads import Fault


@dataclass(frozen=True)
class Charges:
    """What Timeloop leaves at 0 by default, and so do we."""

    name_in_files: ClassVar = "CostOptions"  # the hashes of older files have it

    leakage: bool = False  # charge leak_pj_per_cycle of every instance, used or not, for every cycle
    wire_pj_per_bit_mm: float = 0.0  # of the wires below the levels, with
    tile_mm: float = 0.0  # the length of one hop, from a place of the array to its neighbour
    hop_pj: float = 0.0  # instead of both: of one word and hop, as Timeloop's energy_per_hop
    # charge a read for each word of an output that moves up from an inner level; state on disk may be from before this
    drain_reads: bool = field(default=False, metadata={"later": True})

    @property
    def has_interconnect(self) -> bool:
        """Whether words are charged for the way to where they are needed."""
        return self.hop_pj > 0 or self.wire_pj_per_bit_mm * self.tile_mm > 0

    def word_hop_pj(self, bits: int) -> float:
        """Energy of one hop of a word of so many bits."""
        return self.hop_pj or bits * self.tile_mm * self.wire_pj_per_bit_mm

    def leak_pj_per_cycle(self, arch: Architecture, table: EnergyTable) -> float:
        """What one cycle costs whatever is done in it: leakage of all instances, used or not, where it is charged, and
        refresh of a DRAM that has it."""
        refresh_pj = 0.0 if arch.levels[0].dram is None else arch.levels[0].dram.refresh_pj_per_cycle
        return self.leakage_pj_per_cycle(arch, table) + refresh_pj

    def leakage_pj_per_cycle(self, arch: Architecture, table: EnergyTable) -> float:
        """Leakage of all instances in one cycle, used or not, where it is charged."""
        if not self.leakage:
            return 0.0
        figures = [level.leak_pj_per_cycle for level in table.levels] + [table.compute.leak_pj_per_cycle]
        return float(sum(pj * arch.instances(level) for level, pj in enumerate(figures)))

    @property
    def interconnect_text(self) -> str:
        """What is charged, for a reader."""
        if not self.has_interconnect:
            return "energy not counted"
        if self.hop_pj:
            return f"{self.hop_pj:g} pJ per word and hop"
        return f"{self.wire_pj_per_bit_mm:g} pJ per bit and mm, tiles of {self.tile_mm:g} mm"

    def faults(self) -> list[Fault]:
        """What is wrong with the options, in the user's words."""
        names = {"wire-pj-per-bit-mm": self.wire_pj_per_bit_mm, "tile-mm": self.tile_mm, "hop-pj": self.hop_pj}
        faults = [
            Fault(name, None, "", f"must be a number from 0 to {LARGEST:g}, got {value:g}")
            for name, value in names.items()
            if not 0 <= value <= LARGEST
        ]
        if bool(self.wire_pj_per_bit_mm) != bool(self.tile_mm):
            missing, given = ("tile-mm", "wire-pj-per-bit-mm")[:: 1 if self.wire_pj_per_bit_mm else -1]
            faults.append(Fault(missing, None, "", f"is missing: {given} charges wires by their length, and needs it"))
        elif self.hop_pj and self.tile_mm:
            rule = "a hop costs what this says, or what its wires cost: leave one out"
            faults.append(Fault("hop-pj", None, "", f"does not go with wire-pj-per-bit-mm: {rule}"))
        return faults
