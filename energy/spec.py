"""Energy per action and area per instance of every component of an architecture."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ..workloads import Workload


@dataclass(frozen=True)
class LevelEnergy:
    """The figures of a storage level: pJ per access of the full width (a vector), um^2 per instance."""

    name: str
    read_pj: float
    write_pj: float  # a fill
    update_pj: float
    leak_pj_per_cycle: float
    area_um2: float
    source: str  # where the figures come from: "closed form ...", "CACTI grid", "interpolated ...", "ERT file ..."


@dataclass(frozen=True)
class BitForm:
    """The energy of a MAC by its bits: an adder is linear in those of the sum, a multiplier in those of each factor."""

    word_bits: int  # of tensors that have no width of their own
    adder_pj: float  # per bit of the sum
    multiplier_pj: float  # per bit of one factor and bit of the other

    def pj(self, workload: Workload) -> float:
        """The energy of one MAC. Of several inputs the two widest are multiplied, a single one with itself.

        Scales of blocks are no factors: a block is scaled once its products are added up.
        """
        inputs = sorted((tensor.word_bits or self.word_bits for tensor in workload.factors), reverse=True)
        factors = (*inputs, *inputs)[:2] if len(inputs) < 2 else inputs[:2]
        total = workload.output.word_bits or self.word_bits
        return self.adder_pj * total + self.multiplier_pj * factors[0] * factors[1]


@dataclass(frozen=True)
class ComputeEnergy:
    """The figures of a MAC unit: pJ per MAC, um^2 per instance."""

    name: str
    compute_pj: float  # of a layer whose tensors have no widths of their own
    leak_pj_per_cycle: float
    area_um2: float
    source: str
    # of the closed forms; without it every MAC costs `compute_pj`. State on disk may be from before this
    by_bits: BitForm | None = field(default=None, metadata={"later": True})

    def mac_pj(self, workload: Workload) -> float:
        """The energy of one MAC of a layer, by the bits of its tensors where they have widths of their own."""
        if self.by_bits is None or all(tensor.word_bits is None for tensor in workload.tensors):
            return self.compute_pj
        return self.by_bits.pj(workload)


@dataclass(frozen=True)
class EnergyTable:
    """The figures of one architecture, levels in its order (outermost first)."""

    arch: str
    levels: tuple[LevelEnergy, ...]
    compute: ComputeEnergy
    # False: nobody knows the figures, all are 0 and results show none. State on disk may be from before this
    counted: bool = field(default=True, metadata={"later": True})

    def asked_by(self, layers: Iterable[Workload]) -> "EnergyTable":
        """The table as far as layers ask for it: without MACs by their bits where no tensor has a width of its own.

        State on disk from before there was such a form is then of the same problem.
        """
        widths = any(tensor.word_bits is not None for layer in layers for tensor in layer.tensors)
        return self if widths else replace(self, compute=replace(self.compute, by_bits=None))
