"""What a plan costs: the sum of its parts, each a group of layers and what moves beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ...arch import Architecture
from ...energy import EnergyTable
from ..fusion import CostItem, GroupCosts, ItemKind, Standing, StepLayer, group_items, moved_energies
from ..model.figures import Mapped
from ..problem import Charges
from .movements import Movement, movements
from .plan import PlacedPart, Plan


@dataclass(frozen=True, eq=False)
class PartCosts:
    """Energy and cycles of a part, once."""

    layers: GroupCosts | None
    movements: tuple[Movement, ...]
    arch: Architecture
    energies: EnergyTable
    charges: Charges

    @cached_property
    def moving_cycles(self) -> int:
        """The cycles of what moves beside the layers, one after the other."""
        return sum(own.cycles(self.arch) for own in self.movements)

    @cached_property
    def moving_pj(self) -> float:
        """The energy of what moves beside the layers, and the leakage of its cycles."""
        words = sum(own.energy_pj(self.arch, self.energies) for own in self.movements)
        return words + self.charges.leak_pj_per_cycle(self.arch, self.energies) * self.moving_cycles

    @cached_property
    def group_bits(self) -> int:
        """The most bits that stand in the keeper for the group itself, while one of its stages runs."""
        return max((own - lasting for own, lasting in self._standing), default=0)

    def most_bits(self, placed: PlacedPart) -> int:
        """The most bits that stand in the keeper while the part is executed, for the group or longer."""
        return max((own for own, _ in self._standing), default=placed.room_bits(self.arch))

    @property
    def _standing(self) -> list[tuple[int, int]]:
        """By stage all bits that stand in the keeper, and those of what lasts longer than the group."""
        if self.layers is None:
            return []
        standing = self.layers.standing
        lasting = standing.group.reserved or (0,) * len(standing.group.stages)
        return [(standing.standing_bits(stage), bits) for stage, bits in enumerate(lasting)]

    @cached_property
    def items(self) -> tuple[CostItem, ...]:
        """What adds up to the energy and the cycles of the part: its layers, then what moves beside them."""
        return (*(group_items(self.layers) if self.layers is not None else ()), *map(self._moved, self.movements))

    def _moved(self, own: Movement) -> CostItem:
        # operations that are applied to words as they pass write nothing themselves
        copy = self.layers is not None and any(flow.written for flow in own.flows)
        accesses = ((flow.level, flow.energy_pj(self.arch, self.energies)) for flow in own.flows)
        cycles = own.cycles(self.arch)
        energies_pj = moved_energies(accesses, cycles, (self.arch, self.energies, self.charges))
        return CostItem(ItemKind.COPY if copy else ItemKind.OPERATION, own.name, cycles, energies_pj)

    @property
    def energy_pj(self) -> float:
        """The energy of the part."""
        return self.moving_pj + (self.layers.energy_pj if self.layers is not None else 0.0)

    @property
    def cycles(self) -> int:
        """The cycles of the part."""
        return self.moving_cycles + (self.layers.cycles if self.layers is not None else 0)


@dataclass(frozen=True, eq=False)
class PlanCosts:
    """Energy and cycles of a plan: parts take turns."""

    plan: Plan
    parts: tuple[PartCosts, ...]

    @classmethod
    def of(
        cls,
        plan: Plan,
        machine: tuple[Architecture, EnergyTable, Charges],
        mapped: Mapping[int, Mapping[StepLayer, Mapped]],
    ) -> "PlanCosts":
        """Count a plan whose layers have these mappings, by the number of the part."""
        arch, energies, charges = machine
        parts = []
        for number in range(len(plan.parts)):
            placed, layers = plan.placed(number), None
            if number in mapped:
                standing = Standing(placed.group(arch), arch)
                layers = GroupCosts(standing, energies, charges, standing.layers, mapped[number])
            moved = tuple(movements(placed, arch, drain_reads=charges.drain_reads))
            parts.append(PartCosts(layers, moved, arch, energies, charges))
        return cls(plan, tuple(parts))

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How often each part is executed."""
        return tuple(self.plan.graph.nodes[part.last].count for part in self.plan.parts)

    @cached_property
    def energy_pj(self) -> float:
        """The energy of all parts."""
        return sum(n * part.energy_pj for n, part in zip(self.counts, self.parts, strict=True))

    @cached_property
    def cycles(self) -> int:
        """The cycles of all parts."""
        return sum(n * part.cycles for n, part in zip(self.counts, self.parts, strict=True))

    @cached_property
    def component_pj(self) -> dict[str, float]:
        """The energy of all parts by level, the outermost first, of the MACs, and of network and leakage as charged."""
        first = self.parts[0].arch
        energies = dict.fromkeys([*(level.name for level in first.levels), first.compute.name], 0.0)
        for n, part in zip(self.counts, self.parts, strict=True):
            for item in part.items:
                for name, pj in item.energies_pj.items():
                    energies[name] = energies.get(name, 0.0) + n * pj
        return energies

    @property
    def edp(self) -> float:
        """Energy-delay product, in pJ * cycles."""
        return self.energy_pj * self.cycles


def overfull_bits(placed: PlacedPart, arch: Architecture) -> int:
    """Compute by how many bits what lasts while a part is executed exceeds the memory."""
    usable = arch.levels[arch.number_of(placed.keeper)].usable_bits
    if usable is None:
        return 0
    return max(0, max(placed.room_bits(arch, name) for name in placed.part.layers or ("",)) - usable)
