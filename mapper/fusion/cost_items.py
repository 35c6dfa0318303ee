"""What a group costs, thing by thing and level by level: its stages, what moves for kept tensors, and operators."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from ...arch import Architecture
from ...energy import EnergyTable
from ..model.figures import LEAKAGE, component_energies
from ..problem import Charges
from .costs import GroupCosts
from .passes import layer_passes


class ItemKind(StrEnum):
    """What an item is."""

    LAYER = "layer"
    KEPT = "kept tensors"  # what comes and goes for tensors that stay in a group
    OPERATORS = "operators"  # on words between the layers of a group
    OPERATION = "operation"  # of a network, alone or applied to words as they pass
    COPY = "copy"  # of a tensor that stays, for readers off chip


@dataclass(frozen=True)
class CostItem:
    """What a layer costs in all steps, or what moves beside the layers, once."""

    kind: ItemKind
    name: str  # of the layer or operation; of a copy what makes the tensor
    cycles: int
    energies_pj: Mapping[str, float]  # by level, the outermost first; then MACs, network, leakage as they are charged

    @property
    def energy_pj(self) -> float:
        """The energy at all levels together."""
        return sum(self.energies_pj.values())


def group_items(costs: GroupCosts) -> Iterator[CostItem]:
    """Yield what adds up to the energy and the cycles of a group: its stages in turn, then what moves beside them."""
    for number, stage in enumerate(costs.standing.group.stages):
        energies, cycles = defaultdict[str, float](float), 0
        for layer, steps in costs.layers.items():
            if layer.stage == number:
                mapped = costs.mapped[layer]
                cycles += steps * int(mapped.cycles)
                for name, pj in component_energies(costs.standing.arch, mapped.costs).items():
                    energies[name] += steps * pj
        yield CostItem(ItemKind.LAYER, stage.name, cycles, dict(energies))
    if costs.standing.kept:
        yield _moved(costs, ItemKind.KEPT, costs.transfer_cycles, _kept_accesses(costs))
    if costs.pass_pj or costs.pass_cycles:
        yield _moved(costs, ItemKind.OPERATORS, costs.pass_cycles, _pass_accesses(costs))


Accesses = Iterable[tuple[int, float]]  # the number of a level, pJ


def moved_energies(
    accesses: Accesses, cycles: int, machine: tuple[Architecture, EnergyTable, Charges]
) -> dict[str, float]:
    """Add up the pJ of words that move by level, and the leakage of their cycles."""
    arch, table, charges = machine
    energies = dict.fromkeys((level.name for level in arch.levels), 0.0)
    for level, pj in accesses:
        energies[arch.levels[level].name] += pj
    leak = charges.leak_pj_per_cycle(arch, table) * cycles
    energies = {name: pj for name, pj in energies.items() if pj}
    return energies | ({LEAKAGE: leak} if leak else {})


def _moved(costs: GroupCosts, kind: ItemKind, cycles: int, accesses: Accesses) -> CostItem:
    energies_pj = moved_energies(accesses, cycles, (costs.standing.arch, costs.energies, costs.charges))
    return CostItem(kind, str(kind), cycles, energies_pj)


def _kept_accesses(costs: GroupCosts) -> Iterator[tuple[int, float]]:
    """Yield what each kept tensor takes at the outermost level and at the keeper."""
    level = costs.standing.level
    outer, keeper = ((costs.standing.arch.levels[i], costs.energies.levels[i]) for i in (0, level))
    for own in costs.transfers:
        yield from zip((0, level), own.energies_pj(outer, keeper, drain_reads=costs.charges.drain_reads), strict=True)


def _pass_accesses(costs: GroupCosts) -> Iterator[tuple[int, float]]:
    """Yield what each pass of an operator takes, in all steps."""
    standing = costs.standing
    for layer, steps in costs.layers.items():
        sizes = dict(zip(standing.group.stages[layer.stage].dims, layer.sizes, strict=True))
        for own in layer_passes(standing.group, standing.level, layer):
            yield own.level, steps * own.words(sizes) * own.energy_pj(standing.arch, costs.energies)
