"""What moves, and what a word of it costs in energy or in time, once it is fixed which tensors each level keeps.

Between two neighbouring keepers of a tensor words are handed out by the parent and received by the child
(docs/model.md). Each of the two is a Charge: pJ per word moved, and for the output pJ per word that is saved because
a word's first update needs no read.

A level with a bandwidth has a Flow for its reads and one for its writes: of each Charge in it the figure is cycles per
word at the busiest instance, which moves no less than the mean over the active instances.
"""

from dataclasses import dataclass

from ....arch import Architecture
from ....energy import EnergyTable
from ....workloads import Tensor, Workload
from ...mapping import Bools, keeper_pairs


@dataclass(frozen=True, eq=False)
class Charge:
    """Energy of the words of one tensor that a parent hands out, or (parent None) that a child receives.

    Energy = `pj` * words - `first_pj` * distinct words of the output at level `level`, and first_pj <= pj. In a Flow
    all this is cycles, divided by the active instances of `level`.
    """

    tensor: Tensor
    child: int
    parent: int | None
    pj: float
    first_pj: float = 0.0
    mean: bool = False  # over the active instances of `level`

    @property
    def level(self) -> int:
        """Whose distinct words are meant: those of the parent, or of the child that receives."""
        return self.child if self.parent is None else self.parent


def charges(arch: Architecture, workload: Workload, table: EnergyTable, keep: Bools) -> list[Charge]:
    """All charges that are not free, for the tensors kept by `keep` # (level, tensor)."""
    listed = []
    for v, tensor in enumerate(workload.tensors):
        for parent, child, _ in keeper_pairs(keep[None, :, v]):
            listed.append(handed_out(arch, table, tensor, parent, child))
            if child < len(arch.levels):
                pj = _share(arch, tensor, child) * table.levels[child].write_pj
                listed.append(Charge(tensor, child, None, pj, pj if tensor.output else 0.0))
    return [charge for charge in listed if charge.pj > 0]


@dataclass(frozen=True, eq=False)
class Flow:
    """The words that a level reads or writes, as charges in cycles."""

    name: str
    charges: tuple[Charge, ...]


def flows(arch: Architecture, workload: Workload, keep: Bools) -> list[Flow]:
    """List reads and writes of each level with a bandwidth, for the tensors kept by `keep` # (level, tensor)."""
    found: dict[tuple[int, str], list[Charge]] = {}

    def add(level: int, kind: str, charge: Charge) -> None:
        found.setdefault((level, kind), []).append(charge)

    for v, tensor in enumerate(workload.tensors):
        for parent, child, _ in keeper_pairs(keep[None, :, v]):
            storage = arch.levels[parent]
            if storage.read_bandwidth is not None:
                cycles = 1 / storage.read_bandwidth
                add(parent, "reads", Charge(tensor, child, parent, cycles, cycles if tensor.output else 0.0, mean=True))
            if storage.write_bandwidth is not None and tensor.output:
                add(parent, "writes", Charge(tensor, child, parent, 1 / storage.write_bandwidth, mean=True))
            if child < len(arch.levels) and (bandwidth := arch.levels[child].write_bandwidth) is not None:
                cycles = 1 / bandwidth
                add(child, "writes", Charge(tensor, child, None, cycles, cycles if tensor.output else 0.0, mean=True))
    return [Flow(f"{arch.levels[level].name}.{kind}", tuple(some)) for (level, kind), some in found.items()]


def handed_out(arch: Architecture, table: EnergyTable, tensor: Tensor, parent: int, child: int) -> Charge:
    """The words that a parent hands out, or of an output takes and gives back; free where figures are 0."""
    figures, share = table.levels[parent], _share(arch, tensor, parent)
    if not tensor.output:
        return Charge(tensor, child, parent, share * figures.read_pj)
    return Charge(tensor, child, parent, share * (figures.update_pj + figures.read_pj), share * figures.read_pj)


def _share(arch: Architecture, tensor: Tensor, level: int) -> float:
    """Vector accesses per word."""
    storage = arch.levels[level]
    return storage.bits(tensor.name, tensor.word_bits) / storage.width_bits
