"""What moves beside the mappings of layers: words of operations, and of tensors that leave the memory of a plan."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...arch import Architecture
from ...energy import EnergyTable
from ..model import rate
from .graph import Node
from .plan import Plan


@dataclass(frozen=True)
class Flow:
    """Words of one tensor that are read or written at a level."""

    level: int  # 0: the outermost
    written: bool
    words: int
    bits: int  # of a word


@dataclass(frozen=True)
class Movement:
    """Words that move at once; nothing else goes on beside it."""

    name: str  # of the operation, or of the tensor that is copied
    flows: tuple[Flow, ...]

    def energy_pj(self, arch: Architecture, energies: EnergyTable) -> float:
        """Compute its energy."""
        return sum(_energy_pj(flow, arch, energies) for flow in self.flows)

    def cycles(self, arch: Architecture) -> int:
        """Compute its cycles: the most that a bandwidth of a level, in one direction, asks for."""
        words: dict[tuple[int, bool], int] = {}
        for flow in self.flows:
            words[flow.level, flow.written] = words.get((flow.level, flow.written), 0) + flow.words
        return max((_cycles(arch, *key, moved) for key, moved in words.items()), default=0)


def _energy_pj(flow: Flow, arch: Architecture, energies: EnergyTable) -> float:
    level, figures = arch.levels[flow.level], energies.levels[flow.level]
    access_pj = figures.read_pj if not flow.written else figures.write_pj if flow.level else figures.update_pj
    return flow.words * flow.bits / level.width_bits * access_pj


def _cycles(arch: Architecture, level: int, written: bool, words: int) -> int:  # noqa: FBT001
    own = arch.levels[level]
    bandwidth = own.write_bandwidth if written else own.read_bandwidth
    if bandwidth is None:
        return 0
    many, cycles = rate(bandwidth)
    return int(-(-words * cycles // many))


def movements(plan: Plan, number: int, arch: Architecture, *, drain_reads: bool) -> list[Movement]:
    """List what moves in a part beside its layers."""
    return list(_movements(_Words(plan, arch), number, drain_reads=drain_reads))


@dataclass(frozen=True)
class _Words:
    """The words of the tensors of a plan, where they are."""

    plan: Plan
    arch: Architecture

    @property
    def keeper(self) -> int:
        """The number of the level in which tensors stay."""
        return next(i for i, level in enumerate(self.arch.levels) if level.name == self.plan.keeper)

    def read(self, node: Node, *, beside: str = "") -> Iterator[Flow]:
        """Yield what a node reads, but for the words of `beside`, which pass."""
        assert node.operator is not None, "it is an operation"
        for read in node.reads:
            if read.makers == (beside,) and read.words == node.words:
                beside = ""  # once
                continue
            level = self.keeper if self.plan.inside(node, read) else 0
            own = self.arch.levels[level]
            bits = max(
                (self.plan.graph.bits(own, maker) for maker in read.makers),
                default=self.plan.graph.bits(own, node.name),
            )
            yield Flow(level, False, read.words * node.operator.reads, bits)

    def write(self, name: str) -> Iterator[Flow]:
        """Yield where the words go that a node makes."""
        plan, node = self.plan, self.plan.graph.nodes[name]
        levels = [self.keeper] if name in plan.resident else []
        levels += [0] if plan.leaves(name) else []
        for level in levels:
            yield Flow(level, True, node.words, plan.graph.bits(self.arch.levels[level], name))


def _movements(words: _Words, number: int, *, drain_reads: bool) -> Iterator[Movement]:
    plan = words.plan
    part = plan.parts[number]
    applied, before = part.operations, part.layers[-1:]
    if not part.layers:
        head, *rest = part.operations
        yield Movement(head, (*words.read(plan.graph.nodes[head]), *words.write(part.last)))
        applied, before = tuple(rest), (head,)
    for name, earlier in zip(applied, (*before, *applied), strict=False):
        yield Movement(name, tuple(words.read(plan.graph.nodes[name], beside=earlier)))
    if part.layers and part.last in plan.resident and plan.leaves(part.last):
        (inner, outer) = words.write(part.last)
        read = (Flow(inner.level, False, inner.words, inner.bits),) if drain_reads else ()
        yield Movement(part.last, (*read, outer))
