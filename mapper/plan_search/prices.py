"""What is known of the price of each part: bounds and mappings, at the slopes for which it was searched."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import inf, sqrt

from ...workloads import Workload
from ..bounds.sums import Envelope, LeastSum
from ..fusion import Group, GroupCosts, Standing, StepLayer
from ..group_search import refitted
from ..model import validity
from ..model.figures import Mapped
from ..problem import ROUNDING, Point
from .states import Machine

Slope = float | None  # pJ a cycle; None: only cycles count


@dataclass(frozen=True)
class Floor:
    """What every mapping of a part needs: energy, cycles, and energy + slope x cycles at some slopes."""

    energy_pj: float = 0.0
    cycles: float = 0.0
    edp: float = 0.0
    sums: tuple[tuple[float, float], ...] = ()  # slope, pJ; ascending

    def least(self, slope: Slope) -> float:
        """Bound energy + slope x cycles: above a proven slope cycles count more, below it energy is what is left."""
        if slope is None:
            return self.cycles
        best = max(self.energy_pj + slope * self.cycles, 2 * sqrt(slope * self.edp))
        for known, least in self.sums:
            if slope >= known:
                best = max(best, least + (slope - known) * self.cycles)
            else:
                best = max(best, least * slope / known + self.energy_pj * (1 - slope / known))
        for (low, least), (high, more) in pairwise(self.sums):
            if low < slope < high:  # least sums are concave in the slope
                best = max(best, least + (more - least) * (slope - low) / (high - low))
        return best

    def envelope(self, slopes: Sequence[float], count: int, beside: Point) -> Envelope:
        """What is proven of so many executions with what else takes these cycles and pJ, at ascending slopes."""
        cycles, energy_pj = beside
        sums = tuple(LeastSum(own, energy_pj + own * cycles + count * self.least(own)) for own in slopes)
        return Envelope(energy_pj + count * self.least(0.0), cycles + count * self.least(None), sums)

    def with_sum(self, slope: Slope, least: float) -> "Floor":
        """Add what is proven at a slope."""
        if slope is None:
            return replace(self, cycles=max(self.cycles, least))
        return self.both(Floor(sums=((slope, least),)))

    def both(self, other: "Floor") -> "Floor":
        """Return what both say."""
        sums = dict(self.sums)
        for slope, least in other.sums:
            sums[slope] = max(least, sums.get(slope, 0.0))
        return Floor(
            max(self.energy_pj, other.energy_pj),
            max(self.cycles, other.cycles),
            max(self.edp, other.edp),
            tuple(sorted(sums.items())),
        )


@dataclass(eq=False)
class Price:
    """What is known of the layers of a part, with what lasts longer beside them."""

    group: Group
    floor: Floor
    costs: list[GroupCosts] = field(default_factory=list)  # with mappings
    bounded: bool = False  # whether its mappings were bounded together, for all slopes
    steps: dict[Slope, int] = field(default_factory=dict)  # by slope how far it was searched: see work.py
    none: bool = False  # whether it has no mapping

    def best(self, slope: Slope) -> GroupCosts | None:
        """The known mappings with the least sum, the first of equal ones."""
        return min(self.costs, key=lambda own: _sum(own, slope), default=None)

    def value(self, slope: Slope) -> float:
        """The least known sum; inf without mappings."""
        best = self.best(slope)
        return inf if best is None else _sum(best, slope)

    def open_sum(self, slope: Slope) -> float:
        """How far value and bound are apart."""
        return self.value(slope) - self.floor.least(slope)

    def learn(self, slope: Slope, floor: Floor | None, costs: GroupCosts | None) -> None:
        """Note what was learnt of it."""
        if floor is None:
            self.none = True
        else:
            self.floor = self.floor.both(floor)
        if costs is not None and _sum(costs, slope) < self.value(slope) * (1 - ROUNDING):
            self.costs.append(costs)


class Prices:
    """The prices of all groups. With less room nothing costs less; mappings that fit in less room serve there, too."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.every: dict[Group, Price] = {}
        self._related: dict[Group, list[Price]] = {}  # equal but for the room that is taken
        self._of_stages: dict[tuple[Workload, ...], list[Price]] = {}

    def add(self, group: Group, floor: Floor) -> Price:
        """Begin a price."""
        price = self.every[group] = Price(group, floor)
        self._related.setdefault(replace(group, reserved=()), []).append(price)
        self._of_stages.setdefault(group.stages, []).append(price)
        return price

    def of_layer(self, layer: Workload) -> list[GroupCosts]:
        """List known mappings of a layer as a whole, whatever lasts beside it."""
        return [own for price in self._of_stages.get((layer,), ()) for own in price.costs]

    def learn(self, price: Price, slope: Slope, floor: Floor | None, costs: GroupCosts | None) -> None:
        """Note what was learnt of a price, at a slope, and what follows for those with more or less room.

        No floor: it has no mapping.
        """
        price.learn(slope, floor, costs)
        for other in self._related[replace(price.group, reserved=())]:
            if other is price:
                continue
            less_room, fitting = _no_more(price.group, other.group), None
            if costs is not None and _sum(costs, slope) < other.value(slope) * (1 - ROUNDING):
                fitting = self._fitted(costs, other.group)
            other.learn(slope, floor if less_room else Floor(), fitting)

    def _fitted(self, costs: GroupCosts, group: Group) -> GroupCosts | None:
        """Put mappings beside what lasts in another group; None where they find no room."""
        own = costs.standing.group
        standing = Standing(replace(own, reserved=group.reserved), self.machine.arch)
        mapped: dict[StepLayer, Mapped] = {}
        for layer, before in costs.mapped.items():
            try:
                arch = standing.machine(layer)
            except ValueError:
                return None
            batch = refitted(before.batch, group.keeper, arch.levels[standing.level].capacity_bits)
            if validity(batch)[0]:
                return None
            mapped[layer] = replace(before, batch=batch)
        return replace(costs, standing=standing, mapped=mapped)


def _no_more(group: Group, other: Group) -> bool:
    """Whether in every stage at most so much room is taken."""
    none = (0,) * len(group.stages)
    return all(a <= b for a, b in zip(group.reserved or none, other.reserved or none, strict=True))


def weighted(point: Point, slope: Slope) -> float:
    """Energy + slope x cycles of a point."""
    cycles, energy_pj = point
    return cycles if slope is None else energy_pj + slope * cycles


def _sum(costs: GroupCosts, slope: Slope) -> float:
    return weighted((float(costs.cycles), costs.energy_pj), slope)
