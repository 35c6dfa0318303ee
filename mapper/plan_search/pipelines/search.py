"""Searches pipelines at fixed slopes: that with the least bound says which parts are searched next, on which cores."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from math import inf
from typing import NamedTuple

import numpy as np

from ....energy import EnergyTable
from ....workloads import Workload
from ...bounds import ideal
from ...fusion import Group, GroupCosts, Standing
from ...mapping import Floats, MappingBatch
from ...mapspace import Preset
from ...model.figures import Mapped
from ...networks import Cores, Graph, PlacedPart, Plan
from ...problem import ROUNDING, Charges, Point
from ...runtime import Workers
from ...search.options import SearchOptions
from ...search.outcome import Ended, Statistics
from ..prices import Floor, Price, Prices, Slope, weighted
from ..states import Machine, nameless
from ..work import BOUNDED, SEARCHED, PriceRequest, PriceResult, PriceStudy, search_price
from .stage_sums import Cut, KnownStages, Split, StageBounds, Weights

AT_ONCE = 4  # prices that are searched at once, those that are farthest from being known
MOST_CORES = 64  # an axis of more elements is not divided


@dataclass(frozen=True)
class Known:
    """What is known of a layer on all cores, without leakage."""

    floor: Floor
    mapped: Mapped


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


Tell = Callable[[int, float, float, float | None], None]  # prices, value and bound at a slope, share of the effort


@dataclass(eq=False)
class PipelineSearch:
    """A search of the pipelines of a chain of parts: layers with operations that are applied as words pass."""

    plan: Plan  # of its parts one by one
    cores: Cores
    energies: EnergyTable
    charges: Charges
    items: int
    mapspace: Preset
    options: SearchOptions
    known: Mapping[str, Known]  # of the layers on all cores, by name
    gap: float = 0.0  # the search at a slope may end with so much between bound and value, as a share
    deadline: float | None = None  # by time.monotonic
    most_steps: int | None = None  # of proofs; the effort
    tell: Tell | None = None
    statistics: Statistics = field(default_factory=Statistics)
    searched: int = 0  # prices
    left_open: bool = False  # at some slope each price was searched as far as its own effort goes
    latest: AtSlope | None = None  # what was known last

    def __post_init__(self) -> None:
        dry, keeper = replace(self.charges, leakage=False), self.plan.keeper
        arches = [self.cores.part(number) for number in range(1, self.cores.axis.size + 1)]
        self.machines = [Machine(arch, self.energies, dry, keeper) for arch in arches]
        self.placed = [self.plan.placed(number) for number in range(len(self.plan.parts))]
        self.groups = [_group(self.plan.graph, placed) for placed in self.placed]
        self.beside = [[machine.beside(placed) for placed in self.placed] for machine in self.machines]
        self.prices = [Prices(machine) for machine in self.machines]
        for machine, prices in zip(self.machines, self.prices, strict=True):
            for group in dict.fromkeys(own for own in self.groups if own is not None):
                least = ideal(machine.arch, group.stages[0], machine.energies, machine.charges)
                prices.add(group, Floor(least.energy_pj, float(least.cycles)))
        for name, known in self.known.items():
            self._begin(name, known)

    def _begin(self, name: str, known: Known) -> None:
        """Note what is known of a layer on all cores."""
        machine, layer = self.machines[-1], self.plan.graph.nodes[name].layer
        assert layer is not None, "it is a layer"
        price = self.prices[-1].every[_alone(layer, machine.keeper)]
        price.floor = price.floor.both(known.floor)
        standing = Standing(price.group, machine.arch)
        layers = standing.layers
        mapped = dict.fromkeys(layers, known.mapped)
        price.costs.append(GroupCosts(standing, machine.energies, machine.charges, layers, mapped))

    @property
    def leak_pj(self) -> float:
        """The leakage of the whole machine in a cycle."""
        return self.charges.leak_pj_per_cycle(self.cores.arch, self.energies)

    def weights(self, slope: Slope) -> Weights:
        """What a sum of energy and slope x cycles of all items weighs."""
        return Weights(self.items, None if slope is None else slope + self.leak_pj)

    def at(self, slope: Slope) -> AtSlope:
        """Search the pipelines at a slope."""
        jobs = self.options.cluster or self.options.jobs
        options = replace(self.options, jobs=1, cluster=None)
        gap = max(ROUNDING, self.gap / 2)
        studies = tuple(PriceStudy(machine, self.mapspace, options, gap) for machine in self.machines)
        weights = self.weights(slope)
        with closing(Workers(search_part, studies, jobs)) as workers:
            while True:
                best, requests = self._look(weights)
                self.latest = best
                self._tell(best)
                if not requests:
                    self.left_open |= best.least < best.value * (1 - max(ROUNDING, self.gap))
                if not requests or self._used_up:
                    return best
                for result in workers.in_order(requests, 1, None):
                    self._learn(requests[result.number], result.price)

    def least(self, slope: Slope) -> float:
        """Bound the sums of all pipelines at a slope by what is known."""
        weights = self.weights(slope)
        return self._bounds(weights).least_of_all(self._best(weights)[0].total, self.gap / 4).total

    def _look(self, weights: Weights) -> tuple[AtSlope, list[PartRequest]]:
        """Find the pipelines with the least bound and value, and what is to be searched for the former."""
        value, stages = self._best(weights)
        low = self._bounds(weights).least_of_all(value.total, self.gap)
        known = AtSlope(min(low.total, value.total), value.total, stages)
        if low.total >= value.total * (1 - max(ROUNDING, self.gap)):
            return known, []
        wanted = dict[tuple[int, Group, Slope], int]()
        for cut in low.cuts:
            slope = weights.slope(weights.extra[cut.option])
            for group in self.groups[cut.first : cut.after]:
                step = None if group is None else self._next(cut.cores, group, slope)
                if group is not None and step is not None:
                    wanted[cut.cores, group, slope] = step
        fewest = min(wanted.values(), default=0)
        chosen = [key for key, step in wanted.items() if step == fewest]  # what takes least, first
        if fewest > BOUNDED:
            chosen = sorted(chosen, key=lambda key: -self._open_sum(*key))[:AT_ONCE]
        return known, [self._request(number, key, fewest) for number, key in enumerate(chosen)]

    def _next(self, cores: int, group: Group, slope: Slope) -> int | None:
        """How far a price is searched next; None: it is known, or was searched."""
        price = self.prices[cores - 1].every[group]
        done = price.steps.get(slope, 0)
        if done >= SEARCHED or price.floor.least(slope) >= price.value(slope) * (1 - ROUNDING):
            return None
        return BOUNDED if done < BOUNDED else SEARCHED

    def _open_sum(self, cores: int, group: Group, slope: Slope) -> float:
        """How far value and bound of a price are apart."""
        price = self.prices[cores - 1].every[group]
        return price.value(slope) - price.floor.least(slope)

    def _request(self, number: int, key: tuple[int, Group, Slope], step: int) -> PartRequest:
        cores, group, slope = key
        seconds = None if self.deadline is None else max(0.05, self.deadline - time.monotonic())
        price = PriceRequest(number, group, slope, step, (self._starts(cores, group),), inf, seconds)
        return PartRequest(number, cores, price)

    def _starts(self, cores: int, group: Group) -> tuple[MappingBatch, ...]:
        """Mappings of the layer on as many cores, or on the next number of them: with those its search begins."""
        near = sorted(range(len(self.prices)), key=lambda other: abs(other + 1 - cores))
        every = (own for other in near for own in self.prices[other].every[group].costs)
        return tuple(batch.batch for own, _ in zip(every, range(2), strict=False) for batch in own.mapped.values())

    def _learn(self, request: PartRequest, result: PriceResult) -> None:
        prices, asked = self.prices[request.cores - 1], request.price
        price = prices.every[asked.group]
        price.steps[asked.slope] = max(asked.step, price.steps.get(asked.slope, 0))
        prices.learn(price, asked.slope, result.floor, result.costs)
        self.statistics.add(result.statistics)
        self.searched += 1
        if result.statistics.interrupted:
            raise KeyboardInterrupt

    @property
    def _used_up(self) -> bool:
        if self.deadline is not None and time.monotonic() >= self.deadline:
            self.statistics.stop(Ended.TIME_LIMIT)
            return True
        if self.most_steps is not None and self.statistics.steps >= self.most_steps:
            self.statistics.stop(Ended.EFFORT)
            return True
        return False

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

    def _tell(self, at: AtSlope) -> None:
        if self.tell is not None:
            used = None if not self.most_steps else min(1.0, self.statistics.steps / self.most_steps)
            self.tell(self.searched, at.value, at.least, used)


def _alone(layer: Workload, keeper: str) -> Group:
    """The group of a layer alone, without its name: equal layers are searched once."""
    return nameless(Group((layer,), (), keeper))


def _group(graph: Graph, placed: PlacedPart) -> Group | None:
    """The group of a part; None: it has no layer."""
    if placed.part.group is None:
        return None
    (layer,) = placed.part.group.stages
    return _alone(layer, placed.keeper)
