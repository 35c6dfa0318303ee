"""Searches the best plan of a network by EDP, energy or delay: plans at the slopes that matter, and a bound of all."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf

from ..bounds.sums import LayerBounds, LeastSum, edp_bound
from ..networks import PlanCosts
from ..problem import EFFORTS, ROUNDING, Objective
from ..search.outcome import Ended, Statistics
from .assemble import assembled
from .part_gaps import part_gaps
from .search import AtSlope, PlanSearch
from .work import BOUNDED, SEARCHED, SLOPES

NEAR = 1.03  # slopes within this factor are the same
GAP = 0.005  # between bound and value at a slope, with which a search may end; with thorough effort it goes on
THOROUGH = EFFORTS["thorough"].steps or 0
SHARE = 6  # the plans of a network have the steps of so many layers for each of its different layers
MOST_SLOPES = 4  # at which plans are searched
SMALL = 1.01  # a step of the slope, by which sums are parted into energy and cycles


@dataclass(frozen=True, eq=False)
class PlanOutcome:
    """The result of a search of plans."""

    best: PlanCosts
    lower_bound: float  # no plan of those that were tried is below, by the objective
    statistics: Statistics
    searched: int  # prices of parts that were bounded or searched
    most_held: int | None  # tensors in the memory between parts; None: as many as there was room for
    in_turn: bool  # whether only parts in the order of the network were tried
    part_gaps: tuple[float | None, ...]  # by how much less each part may cost (part_gaps.py)


Progress = Callable[[PlanSearch, AtSlope], None]


def search_plans(search: PlanSearch, start: PlanCosts, progress: Progress | None = None) -> PlanOutcome:
    """Search the plans of a network with tensors in one memory; `start` is that of the layers one by one.

    Ctrl-C ends the search with the best so far.
    """
    return _Plans(search, search.options.goal.minimised[0], start, progress).run()


class _Plans:
    """A search."""

    def __init__(self, search: PlanSearch, objective: Objective, start: PlanCosts, progress: Progress | None) -> None:
        self.search, self.objective, self.best, self.progress = search, objective, start, progress
        seconds, steps = search.options.limits.seconds, search.options.limits.steps
        search.gap = GAP if steps is not None and steps < THOROUGH else 0.0
        search.deadline = None if seconds is None else time.monotonic() + seconds
        layers = {replace(own, name="") for own, _ in search.graph.network.layers}
        search.most_steps = None if steps is None else SHARE * steps * len(layers)

    def run(self) -> PlanOutcome:
        began = time.monotonic()
        statistics = self.search.statistics
        try:
            self._search()
            if not statistics.ended:
                statistics.stop(Ended.SEEN_ALL if self._closed else Ended.EFFORT)
        except KeyboardInterrupt:
            self._take(self.search.latest)
            statistics.stop(Ended.INTERRUPTED)
        statistics.seconds = time.monotonic() - began
        bound = min(self.lower_bound, self._value(self.best))
        states = [component.states for component in self.search.components]
        most = min((own.most_held for own in states if own.most_held is not None), default=None)
        in_turn = any(own.in_turn for own in states)
        gaps = part_gaps(self.search, self.best, self.objective)
        return PlanOutcome(self.best, bound, statistics, self.search.searched, most, in_turn, gaps)

    def _search(self) -> None:
        by_energy, by_cycles = self.objective.powers
        if not self._value(self.best):
            return  # nothing is below 0
        if not (by_energy and by_cycles):
            self._at(0.0 if by_energy else None)
            return
        slope = self._first_slope()
        known = list[float]()
        while len(known) < MOST_SLOPES and not self._closed and not self.search.statistics.ended:
            self._at(slope)
            known.append(slope)
            wanted = self._edp_bound[1]
            if wanted is None or any(own / NEAR <= wanted <= own * NEAR for own in known):
                return
            slope = wanted

    def _first_slope(self) -> float:
        """Find about the slope of the best plan: energy / cycles of the plan with the least bounds, again and again."""
        slope = self.best.energy_pj / self.best.cycles
        for _ in range(MOST_SLOPES):
            at = self.search.at(slope, BOUNDED, self.progress)
            more = self.search.sum_of(at.below, slope * SMALL)
            cycles = (more - at.least) / (slope * (SMALL - 1))
            energy = at.least - slope * cycles
            if energy <= 0 or cycles <= 0 or 1 / NEAR <= energy / cycles / slope <= NEAR:
                break
            slope = energy / cycles
        return slope

    def _at(self, slope: float | None) -> None:
        """Search the plans at a slope; the best may become the best of all."""
        self._take(self.search.at(slope, SEARCHED, self.progress))

    def _take(self, at: AtSlope | None) -> None:
        """Let the best plan at a slope be the best of all, if it is."""
        if at is not None and at.value < inf:
            costs = assembled(self.search, at)
            if self._value(costs) < self._value(self.best) * (1 - ROUNDING):
                self.best = costs

    def _value(self, costs: PlanCosts) -> float:
        return self.objective.value(costs.energy_pj, float(costs.cycles))

    @property
    def _closed(self) -> bool:
        return self.lower_bound >= self._value(self.best) * (1 - ROUNDING)

    @property
    def lower_bound(self) -> float:
        """What no plan is below."""
        if not self._value(self.best):
            return 0.0
        by_energy, by_cycles = self.objective.powers
        if by_energy and by_cycles:
            return self._edp_bound[0]
        return self.search.least(0.0 if by_energy else None)

    @property
    def _edp_bound(self) -> tuple[float, float | None]:
        """What no plan's EDP is below, and the slope at which better bounds would raise it."""
        slope = self.best.energy_pj / self.best.cycles
        slopes = sorted({slope * factor for factor in (*SLOPES, *_between(SLOPES))} | set(self.search.slopes))
        sums = tuple(LeastSum(own, self.search.least(own)) for own in slopes)
        bound = edp_bound([LayerBounds(1, self.search.least(0.0), self.search.least(None), 0.0, sums)])
        return bound.edp, bound.slope


def _between(factors: Sequence[float]) -> Iterator[float]:
    """Yield a factor between each two."""
    for low, high in pairwise(factors):
        yield (low * high) ** 0.5
