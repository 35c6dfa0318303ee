"""What moves beside the mappings of layers: words of operations, and of tensors that leave the memory of a plan."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from ...arch import Architecture
from ...energy import EnergyTable
from ..model import cycles_of
from .graph import Node
from .plan import PlacedPart


@dataclass(frozen=True)
class Flow:
    """Words of one tensor that are read or written at a level."""

    level: int  # 0: the outermost
    written: bool
    words: int
    bits: int  # of a word

    def energy_pj(self, arch: Architecture, energies: EnergyTable) -> float:
        """Compute the energy of the accesses of its level."""
        level, figures = arch.levels[self.level], energies.levels[self.level]
        access_pj = figures.read_pj if not self.written else figures.write_pj if self.level else figures.update_pj
        return self.words * self.bits / level.width_bits * access_pj


@dataclass(frozen=True)
class Movement:
    """Words that move at once; nothing else goes on beside it."""

    name: str  # of the operation, or of the tensor that is copied
    flows: tuple[Flow, ...]

    def energy_pj(self, arch: Architecture, energies: EnergyTable) -> float:
        """Compute its energy."""
        return sum(flow.energy_pj(arch, energies) for flow in self.flows)

    def cycles(self, arch: Architecture) -> int:
        """Compute its cycles: the most that a bandwidth of a level asks for."""
        words: dict[int, list[int]] = {}  # by level: read, written
        for flow in self.flows:
            words.setdefault(flow.level, [0, 0])[flow.written] += flow.words
        return max((cycles_of(arch.levels[level], *moved) for level, moved in words.items()), default=0)


def movements(placed: PlacedPart, arch: Architecture, *, drain_reads: bool) -> list[Movement]:
    """List what moves in a part beside its layers."""
    return list(_Words(placed, arch).movements(drain_reads=drain_reads))


@dataclass(frozen=True)
class _Words:
    """The words of a part, where they are."""

    placed: PlacedPart
    arch: Architecture

    def movements(self, *, drain_reads: bool) -> Iterator[Movement]:
        """Yield what moves beside the layers."""
        part, nodes = self.placed.part, self.placed.graph.nodes
        passing = (*part.layers[-1:], *part.operations)
        if not part.layers:
            head = nodes[passing[0]]
            yield Movement(head.name, (*self._read(head), *self._written))
        for before, name in pairwise(passing):
            yield Movement(name, tuple(self._read(nodes[name], passing=before)))
        if part.layers and self.placed.stays and self.placed.leaves:
            inner, outer = self._written
            up = (Flow(inner.level, False, inner.words, inner.bits),) if drain_reads else ()
            yield Movement(part.last, (*up, outer))

    def _read(self, node: Node, passing: str = "") -> Iterator[Flow]:
        """Yield what a node reads, but for the words of the node that passes its own on."""
        assert node.operator is not None, "it is an operation"
        graph = self.placed.graph
        for read in node.reads:
            if passing not in read.makers:
                level = self._keeper if self.placed.inside(read) else 0
                makers = read.makers or (node.name,)
                bits = max(graph.bits(self.arch.levels[level], maker) for maker in makers)
                yield Flow(level, False, read.words * node.operator.reads, bits)

    @property
    def _written(self) -> tuple[Flow, ...]:
        """Where the words go that the part makes."""
        graph, name = self.placed.graph, self.placed.part.last
        levels = [self._keeper] * self.placed.stays + [0] * self.placed.leaves
        words = graph.nodes[name].words
        return tuple(Flow(level, True, words, graph.bits(self.arch.levels[level], name)) for level in levels)

    @property
    def _keeper(self) -> int:
        return self.arch.number_of(self.placed.keeper)
