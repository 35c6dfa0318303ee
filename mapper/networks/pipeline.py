"""Pipelines: a chain of layers on disjoint parts of equal cores, item after item."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from ...arch import Architecture, Axis, Storage
from ..model import rate
from .costs import PartCosts
from .graph import Graph
from .plan import PlacedPart


@dataclass(frozen=True)
class Cores:
    """The cores of a machine: equal copies along one axis of all that stands inside it."""

    arch: Architecture
    level: int  # the axis stands below it
    axis: Axis

    @classmethod
    def of(cls, arch: Architecture, name: str) -> "Cores":
        """Find the axis of this name, `core` or `L2.core`. Raises ValueError with why its elements are no cores."""
        slots = [slot for slot in arch.slots if slot.axis is not None]
        matching = [slot for slot in slots if slot.axis is not None and name in (slot.name, slot.axis.name)]
        if not matching:
            known = ", ".join(slot.name for slot in slots) or "none"
            raise ValueError(f'{arch.name} has no axis "{name}"; it has {known}')
        if len(matching) > 1:
            raise ValueError(f'"{name}" is several axes of {arch.name}: {", ".join(slot.name for slot in matching)}')
        slot, axis = matching[0], matching[0].axis
        assert axis is not None, "it is an axis"
        if axis.systolic:
            raise ValueError(f"{slot.name} is systolic: its elements pass words to each other, and are no cores")
        if axis.size == 1:
            raise ValueError(f"{slot.name} has one element: there is nothing to divide")
        return cls(arch, slot.level, axis)

    def part(self, number: int) -> Architecture:
        """The machine of so many cores: they have their share of what memories outside hold and pass in a cycle."""
        if number == self.axis.size:
            return self.arch
        levels = [self._shared(level, number) for level in self.arch.levels[: self.level + 1]]
        fanout = (replace(own, size=number) if own.name == self.axis.name else own for own in levels[-1].fanout)
        levels[-1] = replace(levels[-1], fanout=tuple(fanout))
        return replace(self.arch, levels=(*levels, *self.arch.levels[self.level + 1 :]))

    def _shared(self, level: Storage, number: int) -> Storage:
        """The share of a memory that so many cores have."""

        def share(bandwidth: float) -> float:
            words, cycles = rate(bandwidth)  # one core of three has 0.1 of 0.3, and not the float below it
            return float(Fraction(words) * number / (cycles * self.axis.size))

        bits = None if level.capacity_bits is None else level.capacity_bits * number // self.axis.size
        return replace(level.with_rates(share), capacity_bits=bits)


def why_no_chain(graph: Graph) -> list[str]:
    """Say why layers and operations form no chain, in which each hands its tensor to the next only; empty: they do."""
    faults, before = [], ""
    for name, node in graph.nodes.items():
        if node.count > 1:
            faults.append(f"{name} occurs {node.count:,} times: only a chain that occurs once is a pipeline")
        if elsewhere := [maker for maker in node.makers if maker != before]:
            faults.append(f"{name} reads {', '.join(elsewhere)}, not what is right before it alone")
        elif before and not node.makers:
            faults.append(f"{name} reads nothing of {before}, which is before it")
        before = name
    return faults


@dataclass(frozen=True, eq=False)
class Stage:
    """Parts of a chain that take turns on some of the cores."""

    cores: int
    placed: tuple[PlacedPart, ...]
    costs: tuple[PartCosts, ...]  # of each part, without leakage

    @property
    def cycles(self) -> int:
        """The cycles of an item."""
        return sum(part.cycles for part in self.costs)

    @property
    def energy_pj(self) -> float:
        """The energy of an item, without leakage."""
        return sum(part.energy_pj for part in self.costs)


@dataclass(frozen=True, eq=False)
class Pipeline:
    """Stages on disjoint cores, which work at the same time on items one after another."""

    stages: tuple[Stage, ...]
    items: int
    leak_pj: float  # of the whole machine in a cycle; 0 where it is not charged

    @cached_property
    def slowest(self) -> int:
        """The cycles from one finished item to the next: those of the slowest stage."""
        return max(stage.cycles for stage in self.stages)

    @cached_property
    def fill(self) -> int:
        """The cycles of the first item."""
        return sum(stage.cycles for stage in self.stages)

    @property
    def cycles(self) -> int:
        """The cycles of all items: the first passes all stages, the others follow at the pace of the slowest."""
        return self.fill + (self.items - 1) * self.slowest

    @property
    def leakage_pj(self) -> float:
        """The leakage of the whole machine in all cycles."""
        return self.leak_pj * self.cycles

    @property
    def energy_pj(self) -> float:
        """The energy of all items."""
        return self.items * sum(stage.energy_pj for stage in self.stages) + self.leakage_pj

    @property
    def edp(self) -> float:
        """Energy-delay product of all items, in pJ * cycles."""
        return self.energy_pj * self.cycles

    def faults(self, cores: Cores, order: Sequence[str]) -> list[str]:
        """Say what is wrong with it as a pipeline of these nodes on these cores; empty: nothing is."""
        faults = []
        taken, size = sum(stage.cores for stage in self.stages), cores.axis.size
        if taken > size or any(stage.cores < 1 for stage in self.stages):
            faults.append(f"its stages take {taken} of {size} cores")
        names = [name for stage in self.stages for placed in stage.placed for name in placed.part.names]
        if names != list(order):
            faults.append(f"it has {', '.join(names)}, not {', '.join(order)}")
        return faults
