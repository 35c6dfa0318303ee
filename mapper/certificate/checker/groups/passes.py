"""What operators do to words between stages: passes of reads and writes, of which each word has so many.

A softmax passes over what a stage makes. Where it streams, two words of statistics of each row are written in each
step, and read where the row had begun; so are, once, the sums of the output that had begun (docs/fusion.md, section 7).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from .....arch import Architecture
from .....energy import EnergyTable
from .....workloads import Tensor
from ....problem import Charges
from .stages import Read, Stages
from .transfers import passing_cycles

STATISTICS = 2  # words of a row: its maximum, and its sum


@dataclass(frozen=True)
class PassOf:
    """Reads and writes of each word of a tensor of a stage along some dims, in the keeper or at the outermost level."""

    in_keeper: bool
    tensor: Tensor  # whose words these are as wide as
    dims: tuple[str, ...]
    reads: int
    writes: int


def streaming(stages: Stages, cuts: Collection[str]) -> list[Read]:
    """List how the last stage reads rows that stream: `cuts`, shared loops that it adds up over, cut them."""
    last = len(stages.layers) - 1
    return [
        read
        for read in stages.inputs(last)
        if read.streaming and set(cuts) & set(stages.row_dims(last, read.tensor, adds=True))
    ]


def passes_of(
    stages: Stages, stage: int, cuts: Collection[str], *, accumulates: bool, output_kept: bool
) -> list[PassOf]:
    """List the passes of a stage in a step, whose output adds to sums or begins."""
    output = stages.layers[stage].output
    made, operators = tuple(rank[0].dim for rank in output.ranks), dict[str, PassOf]()
    for read in stages.consumers(stage):
        if read.operator is not None:
            operators[read.through] = PassOf(True, output, made, read.operator.reads, read.operator.writes)
    listed = list(operators.values())
    for read in streaming(stages, cuts) if stage == len(stages.layers) - 1 else []:
        rows, tensor = tuple(stages.row_dims(stage, read.tensor, adds=False)), stages.tensor(stage, read.tensor)
        listed.append(PassOf(True, tensor, rows, STATISTICS if accumulates else 0, STATISTICS))
        if accumulates:
            listed.append(PassOf(output_kept, output, made, 1, 1))
    return listed


def pass_figures(
    listed: Sequence[PassOf], sizes: Mapping[str, int], machine: tuple[Architecture, int, EnergyTable], costs: Charges
) -> tuple[float, int]:
    """The energy and the cycles of passes over a stage of these sizes, one after another, and the leakage of these."""
    (arch, keeper, table), energy, cycles = machine, 0.0, 0
    for own in listed:
        level = keeper if own.in_keeper else 0
        storage, figures, words = arch.levels[level], table.levels[level], prod(sizes[dim] for dim in own.dims)
        bits = storage.bits(own.tensor.name, own.tensor.word_bits)
        write_pj = figures.write_pj if level else figures.update_pj
        energy += words * bits / storage.width_bits * (own.reads * figures.read_pj + own.writes * write_pj)
        cycles += passing_cycles(storage, own.reads * words, own.writes * words)
    return energy + costs.leak_pj_per_cycle(arch, table) * cycles, cycles
