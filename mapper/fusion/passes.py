"""Passes of operators over the words between stages: a softmax, and the rescaling of one that streams.

A pass reads and writes words where they stand. Nothing else goes on beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from ...arch import Architecture
from ...energy import EnergyTable
from ...workloads import Tensor
from ..model import cycles_of
from ..problem import Charges
from .group import Group, Link
from .intervals import Box
from .steps import StepLayer

STATISTICS = 2  # words of a row that streams: its maximum, and its sum


@dataclass(frozen=True)
class Pass:
    """Words that an operator reads and writes at a level, in one step: so many for each index of some dims."""

    level: int
    tensor: Tensor  # whose words these are as wide as
    dims: tuple[str, ...]  # of the stage
    reads: int
    writes: int

    def words(self, sizes: dict[str, int]) -> int:
        """Count the places of a layer of these sizes."""
        return prod(sizes[dim] for dim in self.dims)

    def energy_pj(self, arch: Architecture, energies: EnergyTable) -> float:
        """Compute the energy for one place."""
        level, figures = arch.levels[self.level], energies.levels[self.level]
        share = level.bits(self.tensor.name, self.tensor.word_bits) / level.width_bits
        written = figures.write_pj if self.level else figures.update_pj
        return share * (self.reads * figures.read_pj + self.writes * written)

    def cycles(self, arch: Architecture, words: int) -> int:
        """Compute the cycles of so many places: the most that a bandwidth asks for."""
        return cycles_of(arch.levels[self.level], self.reads * words, self.writes * words)


def passes(group: Group, keeper: int, stage: int, *, accumulates: bool, output_kept: bool) -> list[Pass]:
    """List the passes of a stage in a step: over what it makes, and where it reads rows that stream.

    `keeper` is the number of a level; `output_kept`: whether its output stays there from step to step, or for longer.
    """
    layer, listed = group.stages[stage], list[Pass]()
    output = layer.output
    made = tuple(rank[0].dim for rank in output.ranks)
    for name in dict.fromkeys(link.through for link in group.consumers(stage) if link.through):
        operator = next(link.operator for link in group.consumers(stage) if link.through == name)
        assert operator is not None, "its name is one of them"
        listed.append(Pass(keeper, output, made, operator.reads, operator.writes))
    for link in streaming(group, stage):
        read = next(tensor for tensor in layer.tensors if tensor.name == link.tensor)
        rows = row_dims(read, layer.output.dims)
        listed.append(Pass(keeper, read, rows, STATISTICS * accumulates, STATISTICS))
        if accumulates:
            listed.append(Pass(keeper if output_kept else 0, output, made, 1, 1))
    return listed


def cutting(group: Group) -> frozenset[str]:
    """Return the shared loops of several steps over which the last stage adds up."""
    return frozenset(loop for loop in group.reduced if group.trips(loop) > 1)


def row_dims(read: Tensor, of_output: frozenset[str]) -> tuple[str, ...]:
    """Return the dims of a tensor that number its rows: those that the reader's output has, too."""
    return tuple(term.dim for rank in read.ranks for term in rank if term.dim in of_output)


def streaming(group: Group, stage: int) -> list[Link]:
    """List the links of a stage whose rows stream: a shared loop cuts them."""
    cut = cutting(group) if stage == len(group.stages) - 1 else frozenset[str]()
    layer, listed = group.stages[stage], []
    for link in group.inputs(stage):
        read = next(tensor for tensor in layer.tensors if tensor.name == link.tensor)
        if link.streaming and cut.intersection(term.dim for rank in read.ranks for term in rank):
            listed.append(link)
    return listed


def statistics_words(group: Group, box: Box) -> list[tuple[str, int]]:
    """Return, by the tensor with the rows, the words that stay while rows stream: of all rows that have begun and not
    ended, which are those inside the outermost loop that cuts rows. `box`: what the last stage computes."""
    last, listed = len(group.stages) - 1, []
    for link in streaming(group, last):
        layer = group.stages[last]
        read = next(tensor for tensor in layer.tensors if tensor.name == link.tensor)
        outside = group.loops[: next(i for i, loop in enumerate(group.loops) if loop in cutting(group))]
        rows = 1
        for dim in row_dims(read, layer.output.dims):
            own = box.dims[dim]
            tile = own.loop is None or own.loop in outside
            rows *= int(own.lengths.max()) if tile else own.span[1] - own.span[0]
        listed.append((link.tensor, STATISTICS * rows))
    return listed


def pass_costs(
    listed: Sequence[Pass], arch: Architecture, energies: EnergyTable, charges: Charges, sizes: dict[str, int]
) -> tuple[float, int]:
    """Compute energy and cycles of the passes of a layer of these sizes, one after another."""
    cycles = sum(own.cycles(arch, own.words(sizes)) for own in listed)
    energy = sum(own.words(sizes) * own.energy_pj(arch, energies) for own in listed)
    return energy + charges.leak_pj_per_cycle(arch, energies) * cycles, cycles


def layer_passes(group: Group, keeper: int, layer: StepLayer) -> list[Pass]:
    """List the passes of a stage in the steps in which it is this layer."""
    kept = group.stays(layer.stage, group.stages[layer.stage].output.name)
    return passes(group, keeper, layer.stage, accumulates=layer.accumulates, output_kept=kept)
