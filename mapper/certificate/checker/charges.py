"""Lists the charges of a mapping for given kept tensors: energy or cycles per word that moves, and leakage."""

from dataclasses import dataclass

import numpy as np

from ....arch import Architecture
from ....energy import EnergyTable
from ....workloads import Tensor
from ...mapping import Bools
from .problem import Problem

Passing = tuple[int, int, int]  # words read and written, and rows opened, for each word, burst or row that moves


@dataclass(frozen=True, eq=False)
class Charge:
    """Energy of the words of a tensor that `parent` sends to `child`, or that `child` receives (`parent` None).

    It is `pj` per word, and `hop_pj` per hop of it below the parent, less `first_pj` for each distinct word of an
    output. The parent may be a level that words only pass. In a flow it is cycles at the busiest instance of level
    `below`, which moves no less than the `mean` over the active ones.
    """

    name: str
    tensor: Tensor
    child: int
    parent: int | None
    pj: float
    first_pj: float
    mean: bool = False
    hop_pj: float = 0.0
    box: tuple[int, ...] = ()  # of bursts or rows in place of words: per rank of the tensor so many indices of one

    @property
    def below(self) -> int:
        """The level before which spatial loops multiply the words; children of one parent share their words."""
        return self.child if self.parent is None else self.parent


def charges(problem: Problem, keep: Bools) -> list[Charge]:
    """List the nonzero charges between neighbouring levels that keep a tensor; `keep` # (level, tensor)."""
    arch, table = problem.arch, problem.table
    names, listed = [*(level.name for level in arch.levels), arch.compute.name], []
    for v, tensor in enumerate(problem.workload.tensors):
        keepers = [*np.flatnonzero(keep[:, v]).tolist(), len(arch.levels)]
        for parent, child in zip(keepers, keepers[1:], strict=False):
            figures, share = table.levels[parent], _vectors_per_word(arch, tensor, parent)
            pj = share * figures.read_pj
            update_pj = share * figures.update_pj if tensor.output else 0.0
            wires = [_hop_pj(problem, tensor, level) for level in range(parent, child)]
            first_pj = pj if _begins_empty(tensor) else 0.0
            listed += _sent(problem, (tensor, child, parent), pj + update_pj, first_pj, wires[0])
            for level, hop_pj in enumerate(wires[1:], parent + 1):
                passing = f"{tensor.name}:{names[level]}>{names[child]}"
                listed.append(Charge(passing, tensor, child, level, 0.0, 0.0, hop_pj=hop_pj))
            if child < len(arch.levels):
                figures, share = table.levels[child], _vectors_per_word(arch, tensor, child)
                pj, into = share * figures.write_pj, f"{tensor.name}:>{names[child]}"
                read_pj = share * figures.read_pj if tensor.output and problem.costs.drain_reads else 0.0
                listed.append(Charge(into, tensor, child, None, pj + read_pj, pj if _begins_empty(tensor) else 0.0))
    return [charge for charge in listed if charge.pj > 0 or charge.hop_pj > 0]


def _sent(problem: Problem, way: tuple[Tensor, int, int], pj: float, first_pj: float, hop_pj: float) -> list[Charge]:
    """List the charges of the words that a parent sends, of which one costs so much: tensor, child and parent of `way`;
    of a DRAM those of bursts and rows, and of the words their hops alone."""
    tensor, child, parent = way
    storage, names = problem.arch.levels[parent], [*(level.name for level in problem.arch.levels)]
    between = f"{names[parent]}>{[*names, problem.arch.compute.name][child]}"
    if storage.dram is None:
        return [Charge(f"{tensor.name}:{between}", *way, pj, first_pj, hop_pj=hop_pj)]
    blocks = storage.blocks(problem.workload, tensor)
    bursts = f"{tensor.name}/bursts:{between}", *way, pj * blocks.words, first_pj * blocks.words
    listed = [Charge(f"{tensor.name}:{between}", *way, 0.0, 0.0, hop_pj=hop_pj), Charge(*bursts, box=blocks.burst)]
    if blocks.row is not None:
        row_pj, ways = storage.dram.activate_pj, 2 if tensor.output else 1
        rows = f"{tensor.name}/rows:{between}", *way, ways * row_pj, row_pj if _begins_empty(tensor) else 0.0
        listed.append(Charge(*rows, box=blocks.row))
    return listed


def _begins_empty(tensor: Tensor) -> bool:
    """Test whether first updates of the words of a tensor need no read: an output that holds no sums before."""
    return tensor.output and not tensor.accumulates


def _hop_pj(problem: Problem, tensor: Tensor, level: int) -> float:
    """Return the energy of a hop of one word below a level; 0 where wires are not counted, or there is one place."""
    storage, costs = problem.arch.levels[level], problem.costs
    if all(axis.size == 1 for axis in storage.fanout) or not costs.has_interconnect:
        return 0.0
    return costs.word_hop_pj(storage.bits(tensor.name, tensor.word_bits))


def flows(problem: Problem, keep: Bools) -> dict[str, list[Charge]]:
    """List the cycles per word of what each bandwidth of a memory limits: by memory, and reads, writes or accesses."""
    arch, by_flow = problem.arch, dict[str, list[Charge]]()
    names = [*(level.name for level in arch.levels), arch.compute.name]

    def add(
        level: int,
        charge: tuple[str, Tensor, int, int | None],
        moved: Passing,
        begins: Passing,
        box: tuple[int, ...] = (),
    ) -> None:
        for limit in arch.levels[level].bandwidths:
            if words := limit.of(*moved):
                of_memory = by_flow.setdefault(f"{arch.levels[level].of_memory}.{limit.words}", [])
                first = limit.of(*begins) / limit.rate
                of_memory.append(Charge(*charge, words / limit.rate, first, mean=True, box=box))

    for v, tensor in enumerate(problem.workload.tensors):
        keepers, empty = [*np.flatnonzero(keep[:, v]).tolist(), len(arch.levels)], int(_begins_empty(tensor))
        for parent, child in zip(keepers, keepers[1:], strict=False):
            way, output = f"{names[parent]}>{names[child]}", int(tensor.output)
            if arch.levels[parent].dram is None:
                add(parent, (f"{tensor.name}:{way}", tensor, child, parent), (1, output, 0), (empty, 0, 0))
            else:
                blocks = arch.levels[parent].blocks(problem.workload, tensor)
                words, bursts = blocks.words, (f"{tensor.name}/bursts:{way}", tensor, child, parent)
                add(parent, bursts, (words, words * output, 0), (words * empty, 0, 0), blocks.burst)
                if blocks.row is not None:
                    rows = f"{tensor.name}/rows:{way}", tensor, child, parent
                    add(parent, rows, (0, 0, 1 + output), (0, 0, empty), blocks.row)
            if child < len(arch.levels):
                received = f"{tensor.name}:>{names[child]}", tensor, child, None
                drained = int(tensor.output and problem.costs.drain_reads)  # what a level receives or begins: once
                add(child, received, (drained, 1, 0), (0, empty, 0))
    return by_flow


def refresh_pj(arch: Architecture) -> float:
    """Return what refreshing a DRAM costs in one cycle, in pJ."""
    return sum(level.dram.refresh_pj_per_cycle for level in arch.levels if level.dram is not None)


def leakage_pj(arch: Architecture, table: EnergyTable) -> float:
    """Add up the leakage of all instances in one cycle, in pJ."""
    leaks = [*(level.leak_pj_per_cycle for level in table.levels), table.compute.leak_pj_per_cycle]
    return float(sum(pj * arch.instances(level) for level, pj in enumerate(leaks)))


def _vectors_per_word(arch: Architecture, tensor: Tensor, level: int) -> float:
    storage = arch.levels[level]
    return storage.bits(tensor.name, tensor.word_bits) / storage.width_bits
