"""What moves, and what a word of it costs in energy or in time, once it is fixed which tensors each level keeps.

Between two neighbouring keepers of a tensor words are handed out by the parent and received by the child
(docs/model.md). Each of the two is a Charge: pJ per word moved, and for the output pJ per word that is saved because
a word's first update needs no read. Where wires cost energy, a word that a parent hands out also pays for its hops in
the array below, and for those below each level that it passes between the two, as that level does not keep the tensor.
Where drained words are read, a child reads each word of an output that it receives, or begins, once: to move it up.

A level with a bandwidth has a Flow for its reads and one for its writes: of each Charge in it the figure is cycles per
word at the busiest instance, which moves no less than the mean over the active instances.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...arch import Architecture
from ...energy import EnergyTable
from ...workloads import Tensor, Workload
from ..mapping import Bools, keeper_pairs
from ..problem import Charges


@dataclass(frozen=True)
class MovementCost:
    """Energy of the words of one tensor that a parent hands out, or (parent None) that a child receives.

    Energy = (`pj` + `hop_pj` * hops) * words - `first_pj` * distinct words of the output at level `level`, and
    first_pj <= pj; hops are those of a word in the array below the parent. In a Flow all this is cycles, divided by the
    active instances of `level`.
    """

    tensor: Tensor
    child: int
    parent: int | None
    pj: float
    first_pj: float = 0.0
    mean: bool = False  # over the active instances of `level`
    hop_pj: float = 0.0

    @property
    def level(self) -> int:
        """Whose distinct words are meant: those of the parent, or of the child that receives."""
        return self.child if self.parent is None else self.parent


def charges(
    arch: Architecture, workload: Workload, table: EnergyTable, keep: Bools, costs: Charges | None = None
) -> list[MovementCost]:
    """All charges that are not free, for the tensors kept by `keep` # (level, tensor)."""
    listed, costs = [], costs or Charges()
    for v, tensor in enumerate(workload.tensors):
        for parent, child, _ in keeper_pairs(keep[None, :, v]):
            handed = distribution_cost(arch, table, tensor, parent, child)
            listed.append(replace(handed, hop_pj=_hop_pj(arch, costs, tensor, parent)))
            for level in range(parent + 1, child):
                pj = _hop_pj(arch, costs, tensor, level)
                listed.append(MovementCost(tensor, child, level, 0.0, hop_pj=pj))  # which these words only pass
            if child < len(arch.levels):
                figures, share = table.levels[child], _share(arch, tensor, child)
                first_pj = share * figures.write_pj if tensor.begins_empty else 0.0
                drain_pj = share * figures.read_pj if tensor.output and costs.drain_reads else 0.0
                listed.append(MovementCost(tensor, child, None, share * figures.write_pj + drain_pj, first_pj))
    return [charge for charge in listed if charge.pj > 0 or charge.hop_pj > 0]


def _hop_pj(arch: Architecture, costs: Charges, tensor: Tensor, level: int) -> float:
    """Energy of one hop of a word in the array below a level; 0 where there is none."""
    storage = arch.levels[level]
    if not costs.has_interconnect or storage.instances_below == 1:
        return 0.0
    return costs.word_hop_pj(storage.bits(tensor.name, tensor.word_bits))


@dataclass(frozen=True, eq=False)
class Flow:
    """The words that a memory reads or writes, as charges in cycles."""

    name: str
    charges: tuple[MovementCost, ...]
    levels: range  # of the memory: one, or a stack
    reads: bool  # else writes
    bandwidth: float


def flows(arch: Architecture, workload: Workload, keep: Bools, costs: Charges | None = None) -> list[Flow]:
    """List reads and writes of each memory with a bandwidth, for the tensors kept by `keep` # (level, tensor)."""
    drains = costs is not None and costs.drain_reads
    charges_by_flow: dict[tuple[int, str], list[MovementCost]] = {}
    stacks = {level: levels for levels in arch.stacks for level in levels}
    for v, tensor in enumerate(workload.tensors):
        for parent, child, _ in keeper_pairs(keep[None, :, v]):
            for level, kind, charge in _timed(arch, tensor, parent, child, drains):
                charges_by_flow.setdefault((stacks[level].start, kind), []).append(charge)
    rates = [(level.read_bandwidth, level.write_bandwidth) for level in arch.levels]
    names = [level.of_memory for level in arch.levels]
    return [
        Flow(f"{names[level]}.{kind}", tuple(flow_charges), stacks[level], kind == "reads", rate)
        for (level, kind), flow_charges in charges_by_flow.items()
        if (rate := rates[level][kind == "writes"]) is not None
    ]


def _timed(
    arch: Architecture, tensor: Tensor, parent: int, child: int, drains: bool
) -> Iterator[tuple[int, str, MovementCost]]:
    """List what takes time at two neighbouring keepers of a tensor: the level, whether it reads or writes, the charge.

    With `drains` a child reads an output to move it up.
    """
    storage = arch.levels[parent]
    if storage.read_bandwidth is not None:
        cycles = 1 / storage.read_bandwidth
        first = cycles if tensor.begins_empty else 0.0
        yield parent, "reads", MovementCost(tensor, child, parent, cycles, first, mean=True)
    if storage.write_bandwidth is not None and tensor.output:
        yield parent, "writes", MovementCost(tensor, child, parent, 1 / storage.write_bandwidth, mean=True)
    if child == len(arch.levels):
        return
    below = arch.levels[child]
    if below.write_bandwidth is not None:
        cycles = 1 / below.write_bandwidth
        first = cycles if tensor.begins_empty else 0.0
        yield child, "writes", MovementCost(tensor, child, None, cycles, first, mean=True)
    if drains and tensor.output and below.read_bandwidth is not None:
        yield child, "reads", MovementCost(tensor, child, None, 1 / below.read_bandwidth, mean=True)


def distribution_cost(arch: Architecture, table: EnergyTable, tensor: Tensor, parent: int, child: int) -> MovementCost:
    """The words that a parent hands out, or of an output takes and gives back; free where figures are 0."""
    figures, share = table.levels[parent], _share(arch, tensor, parent)
    if not tensor.output:
        return MovementCost(tensor, child, parent, share * figures.read_pj)
    first_pj = share * figures.read_pj if tensor.begins_empty else 0.0
    return MovementCost(tensor, child, parent, share * (figures.update_pj + figures.read_pj), first_pj)


def _share(arch: Architecture, tensor: Tensor, level: int) -> float:
    """Vector accesses per word."""
    storage = arch.levels[level]
    return storage.bits(tensor.name, tensor.word_bits) / storage.width_bits
