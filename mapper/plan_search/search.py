"""Searches plans at fixed slopes: the way with the least bounds says which prices are searched next.

At a slope every part has a price, energy + slope x cycles, of which a bound and a value are known. The way through the
states with the least bounds is below every plan, the way with the least values is a plan. Of the prices on the first
those that are open are searched further, until both are the same or nothing on it is open.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, override

from ...workloads import Workload
from ..bounds import ideal
from ..bounds.sums import LayerBounds
from ..fusion import Group
from ..mapping import MappingBatch
from ..mapspace import Preset
from ..model.figures import Mapped
from ..networks import Graph
from ..problem import ROUNDING
from ..search.options import SearchOptions
from .candidates import MOST_STAGES
from .prices import Floor, Price, Prices, Slope, weighted
from .slope_search import SlopeSearch
from .states import STAGE, Component, Machine, Move, States, TooManyError
from .ways import Way, least_through, least_way
from .work import BOUNDED, SEARCHED, PriceRequest, PriceStudy, search_price

AT_ONCE = 4  # prices that are searched at once, those that are farthest from being known
# tensors in the memory between parts, whether parts stand in the order of the network: where there are too many states
EXTENTS = ((None, False), (2, False), (None, True), (4, True), (2, True), (1, True), (0, True))


@dataclass(frozen=True)
class KnownLayer:
    """What is known of a layer alone."""

    floor: Floor
    mapped: tuple[Mapped, ...]

    @classmethod
    def of(cls, needs: LayerBounds, mapped: Mapped) -> "KnownLayer":
        """Make it of what every mapping needs, and the best one."""
        sums = tuple((own.slope, own.least_pj) for own in needs.sums)
        return cls(Floor(needs.energy_pj, needs.cycles, needs.edp, sums), (mapped,))


@dataclass(frozen=True)
class AtSlope:
    """What is known at a slope: no plan has a sum below `least`, and this way through each component has `value`."""

    slope: Slope
    least: float
    value: float
    below: tuple[Way, ...]  # the ways through each component with the least bounds
    ways: tuple[Way, ...]


@dataclass(eq=False)
class PlanSearch(SlopeSearch):
    """A search of the plans of a network in one memory."""

    graph: Graph
    machine: Machine
    mapspace: Preset
    known: Mapping[str, KnownLayer]  # of the layers alone, by name
    most_stages: int = MOST_STAGES  # layers of a fused group; 1: none is fused
    in_turn: bool = False  # whether only parts in the order of the network are tried
    shared: Prices | None = None  # what is known of parts of other networks on this machine; what is learnt is added
    latest: AtSlope | None = None  # what was known last

    def __post_init__(self) -> None:
        self.prices = Prices(self.machine) if self.shared is None else self.shared
        self.components = [self._component(names) for names in self.graph.components]
        for component in self.components:
            for move in component.states.moves:
                if move.group is not None and move.group not in self.prices.every:
                    self.prices.add(move.group, self._first_floor(move.group))
        self.know(self.known)

    def know(self, known: Mapping[str, KnownLayer]) -> None:
        """Note what is known of layers alone, by name."""
        self.known = {**self.known, **known}
        for name, own in known.items():
            self._begin(name, own)

    def _component(self, names: Sequence[str]) -> Component:
        """Make the states of some nodes: fewer orders and tensors that stay where there are too many."""
        count = self.graph.nodes[names[0]].count
        for most, in_turn in EXTENTS:
            if self.in_turn and not in_turn:
                continue
            try:
                states = States(self.graph, names, self.machine, most, in_turn=in_turn, most_stages=self.most_stages)
                return Component(states, count)
            except TooManyError:
                continue
        raise TooManyError(f"{names[0]} and the {len(names) - 1:,} nodes linked with it have too many states")

    def _first_floor(self, group: Group) -> Floor:
        """What the last stage of a group needs in any case; of those before it some words may not be needed."""
        machine, last = self.machine, len(group.stages) - 1
        if any(link.mask for link in group.links):
            return Floor()  # it leaves out what a mask hides
        arch = machine.arch.with_resident(machine.level, group.resident(last))
        least = ideal(arch, group.stages[-1], machine.energies, machine.charges)
        return Floor(least.energy_pj, float(least.cycles))

    def _begin(self, name: str, known: KnownLayer) -> None:
        """Note what is known of a layer alone."""
        layer = self.graph.nodes[name].layer
        assert layer is not None, "it is a layer"
        price = self.prices.every.get(self.machine.alone(layer))
        if price is None:
            return
        price.floor = price.floor.both(known.floor)
        if not price.costs:
            price.costs = [self.machine.costs_of_layer(price.group, own) for own in known.mapped]

    def at(
        self,
        slope: Slope,
        last: int = SEARCHED,
        progress: Callable[["PlanSearch", AtSlope], None] | None = None,
        *,
        beyond: bool = False,
    ) -> AtSlope:
        """Search the plans at a slope, each price to the `last` step at most (work.py); `beyond` the effort, too."""
        while True:
            best, requests = self._look(slope, last)
            self.latest = best
            if progress is not None:
                progress(self, best)
            if not requests and last > BOUNDED:
                self.left_open |= not self.close(best.least, best.value)
            if not requests or self.late or (self.used_up and not beyond):
                return best
            for result in self.workers.in_order(requests, 1, None):
                self.learn(self.prices, requests[result.number], result)

    @override
    def work(self, options: SearchOptions, gap: float) -> tuple[Callable[..., Any], Any]:
        return search_price, PriceStudy(self.machine, self.mapspace, options, gap)

    def least(self, slope: Slope) -> float:
        """Bound the sums of all plans at a slope by what is known."""
        ways = (least_way(own.states, lambda move: self._least(move, slope)) for own in self.components)
        return sum(own.count * way.sum_pj for own, way in zip(self.components, ways, strict=True))

    def sum_of(self, ways: Sequence[Way], slope: Slope) -> float:
        """Bound the sum of ways at a slope."""
        pairs = zip(self.components, ways, strict=True)
        return sum(own.count * sum(self._least(move, slope) for move in way.moves) for own, way in pairs)

    @property
    def slopes(self) -> set[float]:
        """The slopes for which some price was searched."""
        return {slope for price in self.prices.every.values() for slope in price.steps if slope is not None}

    def _look(self, slope: Slope, last: int) -> tuple[AtSlope, list[PriceRequest]]:
        """Find the ways with the least bounds and values, and what is to be searched on the former."""
        least, value = 0.0, 0.0
        below, ways = list[Way](), list[Way]()
        wanted, enough = dict[Group, int](), dict[Group, float]()
        for component in self.components:
            low = least_way(component.states, lambda move: self._least(move, slope))
            best = least_way(component.states, lambda move: self._value(move, slope))
            least, value = least + component.count * low.sum_pj, value + component.count * best.sum_pj
            below.append(low)
            ways.append(best)
            if not self.close(low.sum_pj, best.sum_pj):
                wanted |= self._wanted(low, slope, last)
                self._add_enough(component.states, best.sum_pj, slope, enough)
        fewest = min(wanted.values(), default=0)
        chosen = [group for group, step in wanted.items() if step == fewest]  # what takes least, first
        if fewest > BOUNDED:
            chosen = sorted(chosen, key=lambda group: -self.prices.every[group].open_sum(slope))[:AT_ONCE]
        requests = [self._request(number, group, slope, fewest, enough) for number, group in enumerate(chosen)]
        return AtSlope(slope, min(least, value), value, tuple(below), tuple(ways)), requests

    def _wanted(self, way: Way, slope: Slope, last: int) -> dict[Group, int]:
        """Return the groups of a way that may be searched further, and how far next."""
        wanted = {}
        for move in way.moves:
            price = self._price(move)
            if price is not None and price.floor.least(slope) < price.value(slope) * (1 - ROUNDING):
                step = self._step(price, slope)
                if step <= last or (step == SEARCHED and last > BOUNDED and len(price.group.stages) == 1):
                    wanted[price.group] = step
        return wanted

    def _step(self, price: Price, slope: Slope) -> int:
        """How far a price is searched next: it is bounded, a group for all slopes; a group is tried; it is searched."""
        known = price.steps.get(slope, 0)
        if len(price.group.stages) == 1:
            return BOUNDED if known < BOUNDED else SEARCHED if known < SEARCHED else SEARCHED + 1
        return max(BOUNDED, known) + 1 if price.bounded else BOUNDED

    def _price(self, move: Move) -> Price | None:
        return None if move.group is None else self.prices.every[move.group]

    def _least(self, move: Move, slope: Slope) -> float:
        price, beside = self._price(move), weighted(move.beside, slope)
        if price is None:
            return beside
        return inf if price.none else beside + price.floor.least(slope)

    def _value(self, move: Move, slope: Slope) -> float:
        price, beside = self._price(move), weighted(move.beside, slope)
        return beside if price is None else beside + price.value(slope)

    def _add_enough(self, states: States, value: float, slope: Slope, enough: dict[Group, float]) -> None:
        """Note from which price on a group is in no better plan than the best that is known."""
        through = least_through(states, lambda move: self._least(move, slope))
        for move, least in zip(states.moves, through, strict=True):
            price = self._price(move)
            if price is not None and least < inf:
                own = price.floor.least(slope) + value - least
                enough[price.group] = max(enough.get(price.group, 0.0), own)

    def _request(
        self, number: int, group: Group, slope: Slope, step: int, enough: Mapping[Group, float]
    ) -> PriceRequest:
        starts = tuple(self._starts(stage) for stage in group.stages)
        return PriceRequest(number, group, slope, step, starts, enough.get(group, inf), self.seconds_left)

    def alone(self, name: str, slope: Slope) -> Mapped:
        """The best mapping that is known of a layer alone."""
        layer = self.graph.nodes[name].layer
        assert layer is not None, "it is a layer"
        price = self.prices.every.get(self.machine.alone(layer))
        best = None if price is None else price.best(slope)
        return self.known[name].mapped[0] if best is None else next(iter(best.mapped.values()))

    def _starts(self, stage: Workload) -> tuple[MappingBatch, ...]:
        """Mappings of a layer as a whole, with which searches of its parts begin."""
        every = self.prices.of_layer(replace(stage, name=STAGE))[:2]
        return tuple(own.batch for costs in every for own in costs.mapped.values())
