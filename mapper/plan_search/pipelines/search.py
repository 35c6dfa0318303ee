"""Searches pipelines at fixed slopes: that with the least bound says which parts are searched next, on which cores."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any, NamedTuple, override

import numpy as np

from ....energy import EnergyTable
from ...bounds import ideal
from ...fusion import Group, GroupCosts
from ...mapping import Floats, MappingBatch
from ...mapspace import Preset
from ...networks import Cores, PlacedPart, Plan
from ...problem import ROUNDING, Charges, Point
from ...search.options import SearchOptions
from ..prices import Floor, Price, Prices, Slope, weighted
from ..search import AT_ONCE, KnownLayer
from ..slope_search import SlopeSearch
from ..states import Machine
from ..work import BOUNDED, SEARCHED, PriceRequest, PriceResult, PriceStudy, search_price
from .stage_sums import Cut, KnownStages, Split, StageBounds, Weights

MOST_CORES = 64  # an axis of more elements is not divided


class PartRequest(NamedTuple):
    """A price to search on a number of cores."""

    number: int
    cores: int
    price: PriceRequest


class PartResult(NamedTuple):
    """What came of a request."""

    number: int
    price: PriceResult


def search_part(studies: tuple[PriceStudy, ...], request: PartRequest) -> PartResult:
    """Search the price of a part on some of the cores."""
    return PartResult(request.number, search_price(studies[request.cores - 1], request.price))


class Chosen(NamedTuple):
    """A part on some cores, and the mapping of its layer."""

    placed: PlacedPart
    cores: int
    costs: GroupCosts | None  # None: it has no layer


@dataclass(frozen=True)
class AtSlope:
    """What is known at a slope: no pipeline has a sum below `least`, and one of `stages` has `value`."""

    least: float
    value: float
    stages: tuple[tuple[Chosen, ...], ...]
    left_open: bool = False  # whether a price of the pipeline with the least bound is open, though it was searched


@dataclass(eq=False)
class PipelineSearch(SlopeSearch):
    """A search of the pipelines of a chain of parts: layers with operations that are applied as words pass."""

    plan: Plan  # of its parts one by one
    cores: Cores
    energies: EnergyTable
    charges: Charges
    items: int
    mapspace: Preset
    known: Mapping[str, KnownLayer]  # of the layers on all cores, by name, without leakage
    progress: "Callable[[PipelineSearch, AtSlope], None] | None" = None
    latest: AtSlope | None = None  # what was known last

    def __post_init__(self) -> None:
        dry, keeper = replace(self.charges, leakage=False), self.plan.keeper
        arches = [self.cores.part(number) for number in range(1, self.cores.axis.size + 1)]
        self.machines = [Machine(arch, self.energies, dry, keeper) for arch in arches]
        self.placed = [self.plan.placed(number) for number in range(len(self.plan.parts))]
        self.groups = [
            None if placed.part.group is None else self.machines[-1].alone(placed.part.group.stages[0])
            for placed in self.placed
        ]
        self.beside = [[machine.beside(placed) for placed in self.placed] for machine in self.machines]
        self.prices = [Prices(machine) for machine in self.machines]
        for machine, prices in zip(self.machines, self.prices, strict=True):
            for group in dict.fromkeys(own for own in self.groups if own is not None):
                least = ideal(machine.arch, group.stages[0], machine.energies, machine.charges)
                prices.add(group, Floor(least.energy_pj, float(least.cycles)))
        for name, known in self.known.items():
            self._begin(name, known)

    def _begin(self, name: str, known: KnownLayer) -> None:
        """Note what is known of a layer on all cores."""
        machine, layer = self.machines[-1], self.plan.graph.nodes[name].layer
        assert layer is not None, "it is a layer"
        price = self.prices[-1].every[machine.alone(layer)]
        price.floor = price.floor.both(known.floor)
        price.costs += [machine.costs_of_layer(price.group, own) for own in known.mapped]

    @property
    def leak_pj(self) -> float:
        """The leakage of the whole machine in a cycle."""
        return self.charges.leak_pj_per_cycle(self.cores.arch, self.energies)

    def weights(self, slope: Slope) -> Weights:
        """What a sum of energy and slope x cycles of all items weighs."""
        return Weights(self.items, None if slope is None else slope + self.leak_pj)

    def at(self, slope: Slope) -> AtSlope:
        """Search the pipelines at a slope."""
        weights = self.weights(slope)
        while True:
            best, requests = self._look(weights)
            self.latest = best
            if self.progress is not None:
                self.progress(self, best)
            if not requests:
                self.left_open |= best.left_open
            if not requests or self.late or self.used_up:
                return best
            for result in self.workers.in_order(requests, 1, None):
                request = requests[result.number]
                self.learn(self.prices[request.cores - 1], request.price, result.price)

    @override
    def work(self, options: SearchOptions, gap: float) -> tuple[Callable[..., Any], Any]:
        return search_part, tuple(PriceStudy(machine, self.mapspace, options, gap) for machine in self.machines)

    def least(self, slope: Slope) -> float:
        """Bound the sums of all pipelines at a slope by what is known."""
        weights = self.weights(slope)
        return self._bounds(weights).least_of_all(self._best(weights)[0].total, self.gap / 4).total

    def _look(self, weights: Weights) -> tuple[AtSlope, list[PartRequest]]:
        """Find the pipelines with the least bound and value, and what is to be searched for the former."""
        value, stages = self._best(weights)
        low = self._bounds(weights).least_of_all(value.total, self.gap)
        known = AtSlope(min(low.total, value.total), value.total, stages)
        if self.close(low.total, value.total):
            return known, []
        wanted, left_open = dict[tuple[int, Group, Slope], int](), False
        for cut in low.cuts:
            slope = weights.slope(weights.extra[cut.option])
            for group in self.groups[cut.first : cut.after]:
                if group is None or self._closed(cut.cores, group, slope):
                    continue
                done = self.prices[cut.cores - 1].every[group].steps.get(slope, 0)
                if done >= SEARCHED:
                    left_open = True
                else:
                    wanted[cut.cores, group, slope] = BOUNDED if done < BOUNDED else SEARCHED
        fewest = min(wanted.values(), default=0)
        chosen = [key for key, step in wanted.items() if step == fewest]  # what takes least, first
        if fewest > BOUNDED:
            chosen = sorted(chosen, key=self._open)[:AT_ONCE]
        requests = [self._request(number, key, fewest) for number, key in enumerate(chosen)]
        return replace(known, left_open=left_open), requests

    def _closed(self, cores: int, group: Group, slope: Slope) -> bool:
        """Whether a price is known."""
        price = self.prices[cores - 1].every[group]
        return price.floor.least(slope) >= price.value(slope) * (1 - ROUNDING)

    def _open(self, key: tuple[int, Group, Slope]) -> float:
        """What is least for the price of which most is open."""
        cores, group, slope = key
        return -self.prices[cores - 1].every[group].open_sum(slope)

    def _request(self, number: int, key: tuple[int, Group, Slope], step: int) -> PartRequest:
        cores, group, slope = key
        price = PriceRequest(number, group, slope, step, (self._starts(cores, group),), inf, self.seconds_left)
        return PartRequest(number, cores, price)

    def _starts(self, cores: int, group: Group) -> tuple[MappingBatch, ...]:
        """Mappings of the layer on as many cores, or on the next number of them: with those its search begins."""
        near = sorted(range(len(self.prices)), key=lambda other: abs(other + 1 - cores))
        every = (own for other in near for own in self.prices[other].every[group].costs)
        return tuple(batch.batch for own, _ in zip(every, range(2), strict=False) for batch in own.mapped.values())

    def _bounds(self, weights: Weights) -> StageBounds:
        """What is proven of all parts on all numbers of cores."""

        scale = weights.energy or 1
        sums = [scale * self._least(weights.slope(extra)) for extra in weights.extra]
        return StageBounds(weights, np.array(sums), self._least(None))

    def _least(self, slope: Slope) -> Floats:
        """What no mapping of a part is below at a slope # (cores, part); inf: it has none."""

        def least(cores: int, part: int) -> float:
            price, beside = self._price(cores, part), weighted(self.beside[cores][part], slope)
            if price is None:
                return beside
            return inf if price.none else beside + price.floor.least(slope)

        return self._of_all(least)

    def _best(self, weights: Weights) -> tuple[Split, tuple[tuple[Chosen, ...], ...]]:
        """The best pipeline of known mappings."""
        options = [*map(weights.slope, weights.extra), None]
        points = [self._points(slope) for slope in options]
        stages = KnownStages(weights, np.array([pj for _, pj in points]), np.array([took for took, _ in points]))
        split = stages.best()
        return split, tuple(tuple(self._chosen(cut, options[cut.option])) for cut in split.cuts)

    def _points(self, slope: Slope) -> tuple[Floats, Floats]:
        """Cycles and energies of the parts with the best known mappings at a slope # (cores, part)."""

        def point(cores: int, part: int) -> Point:
            price, (took, pj) = self._price(cores, part), self.beside[cores][part]
            if price is None:
                return took, pj
            best = price.best(slope)
            return (inf, inf) if best is None else (took + float(best.cycles), pj + best.energy_pj)

        both = [[point(cores, part) for part in range(len(self.groups))] for cores in range(len(self.machines))]
        took, pj = np.moveaxis(np.array(both), -1, 0)
        return took, pj

    def _chosen(self, cut: Cut, slope: Slope) -> Iterator[Chosen]:
        for part in range(cut.first, cut.after):
            price = self._price(cut.cores - 1, part)
            yield Chosen(self.placed[part], cut.cores, None if price is None else price.best(slope))

    def _price(self, cores: int, part: int) -> Price | None:
        group = self.groups[part]
        return None if group is None else self.prices[cores].every[group]

    def _of_all(self, figure: Callable[[int, int], float]) -> Floats:
        """A figure of each part on each number of cores, less 1 # (cores, part)."""
        parts = range(len(self.groups))
        return np.array([[figure(cores, part) for part in parts] for cores in range(len(self.machines))])
