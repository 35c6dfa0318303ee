"""What moves, and what a word of it costs in energy or in time, once it is fixed which tensors each level keeps.

Between two neighbouring keepers of a tensor words are handed out by the parent and received by the child
(docs/model.md). Each of the two is a Charge: pJ per word moved, and for the output pJ per word that is saved because
a word's first update needs no read. Where wires cost energy, a word that a parent hands out also pays for its hops in
the array below, and for those below each level that it passes between the two, as that level does not keep the tensor.
Where drained words are read, a child reads each word of an output that it receives, or begins, once: to move it up.

A level has a Flow for each of its bandwidths, of reads, of writes or of both: of each Charge in it the figure is cycles
per word at the busiest instance, which moves no less than the mean over the active instances.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...arch import Architecture, Bandwidth
from ...energy import EnergyTable
from ...workloads import Tensor, Workload
from ..mapping import Bools, keeper_pairs
from ..problem import Charges

Passing = tuple[int, int, int]  # words read and written, and rows opened, for each unit that moves


@dataclass(frozen=True)
class Unit:
    """What is counted as it moves: words, or the bursts or rows of a DRAM that they touch."""

    name: str = ""  # of bursts and rows, for certificates
    box: tuple[int, ...] = ()  # per rank of the tensor so many indices of one; of words none


WORDS = Unit()


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
    unit: Unit = WORDS  # what moves

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
            handed, *more = distribution_costs(arch, workload, table, tensor, parent, child)
            listed += [replace(handed, hop_pj=_hop_pj(arch, costs, tensor, parent)), *more]
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
    """The words that a bandwidth of a memory limits, as charges in cycles."""

    name: str
    charges: tuple[MovementCost, ...]
    words: tuple[int, ...]  # that pass for each word that a charge moves: 2 where it is read and written
    levels: range  # of the memory: one, or a stack
    bandwidth: Bandwidth


def flows(arch: Architecture, workload: Workload, keep: Bools, costs: Charges | None = None) -> list[Flow]:
    """List what each bandwidth of a memory limits, for the tensors kept by `keep` # (level, tensor)."""
    drains = costs is not None and costs.drain_reads
    by_flow: dict[tuple[int, Bandwidth], list[tuple[MovementCost, int]]] = {}
    stacks = {level: levels for levels in arch.stacks for level in levels}
    for v, tensor in enumerate(workload.tensors):
        for parent, child, _ in keeper_pairs(keep[None, :, v]):
            for level, bandwidth, charge, words in _timed(arch, workload, tensor, parent, child, drains):
                by_flow.setdefault((stacks[level].start, bandwidth), []).append((charge, words))
    return [
        Flow(
            name=f"{arch.levels[level].of_memory}.{bandwidth.words}",
            charges=tuple(charge for charge, _ in timed),
            words=tuple(words for _, words in timed),
            levels=stacks[level],
            bandwidth=bandwidth,
        )
        for (level, bandwidth), timed in by_flow.items()
    ]


def _timed(
    arch: Architecture, workload: Workload, tensor: Tensor, parent: int, child: int, drains: bool
) -> Iterator[tuple[int, Bandwidth, MovementCost, int]]:
    """List what takes time at two neighbouring keepers of a tensor: the level, its bandwidth, the charge, and how many
    words pass for each word, or burst, that the charge moves; or how many rows are opened for each row.

    The parent reads each word, and writes that of an output; the child writes each, and with `drains` reads that of an
    output to move it up. The first of each distinct word of an output that begins empty is not sent down.
    """
    first, output = int(tensor.begins_empty), int(tensor.output)
    ends: list[tuple[int, int | None, Unit, Passing, Passing]] = []
    if arch.levels[parent].dram is None:
        ends.append((parent, parent, WORDS, (1, output, 0), (first, 0, 0)))
    else:
        words, burst, row = _units(arch, workload, tensor, parent)
        ends.append((parent, parent, burst, (words, words * output, 0), (words * first, 0, 0)))
        if row is not None:
            ends.append((parent, parent, row, (0, 0, 1 + output), (0, 0, first)))
    if child < len(arch.levels):
        ends.append((child, None, WORDS, (output if drains else 0, 1, 0), (0, first, 0)))
    for level, of, unit, moved, saved in ends:
        for limit in arch.levels[level].bandwidths:
            if words := limit.of(*moved):
                cycles = 1 / limit.rate
                first_cycles = limit.of(*saved) * cycles
                charge = MovementCost(tensor, child, of, words * cycles, first_cycles, mean=True, unit=unit)
                yield level, limit, charge, words


def _units(arch: Architecture, workload: Workload, tensor: Tensor, level: int) -> tuple[int, Unit, Unit | None]:
    """The words of a burst of a DRAM, and its bursts and rows as units; None: rows are not counted."""
    blocks = arch.levels[level].blocks(workload, tensor)
    return blocks.words, Unit("bursts", blocks.burst), None if blocks.row is None else Unit("rows", blocks.row)


def distribution_costs(
    arch: Architecture, workload: Workload, table: EnergyTable, tensor: Tensor, parent: int, child: int
) -> list[MovementCost]:
    """The words that a parent hands out, or of an output takes and gives back; free where figures are 0. After them, of
    a DRAM, whose words are free, its bursts and its rows."""
    figures, share, dram = table.levels[parent], _share(arch, tensor, parent), arch.levels[parent].dram
    first = int(tensor.begins_empty)
    pj = share * (figures.update_pj + figures.read_pj) if tensor.output else share * figures.read_pj
    if dram is None:
        return [MovementCost(tensor, child, parent, pj, first * share * figures.read_pj)]
    words, burst, row = _units(arch, workload, tensor, parent)
    listed = [
        MovementCost(tensor, child, parent, 0.0),
        MovementCost(tensor, child, parent, words * pj, first * words * share * figures.read_pj, unit=burst),
    ]
    if row is not None:
        row_pj = dram.activate_pj * (1 + tensor.output)
        listed.append(MovementCost(tensor, child, parent, row_pj, first * dram.activate_pj, unit=row))
    return listed


def _share(arch: Architecture, tensor: Tensor, level: int) -> float:
    """Vector accesses per word."""
    storage = arch.levels[level]
    return storage.bits(tensor.name, tensor.word_bits) / storage.width_bits
