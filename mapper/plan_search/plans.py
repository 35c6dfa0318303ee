"""Searches the best plan of a network by EDP, energy or delay: plans at the slopes that matter, and a bound of all."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from math import inf

from ..bounds.sums import Envelope, LeastSum, crossing
from ..networks import PlanCosts
from ..problem import ROUNDING, Point
from ..search.outcome import Ended
from .assemble import assembled, choices_at
from .goal import PlanGoal, PlanOutcome
from .known_fronts import Choice, Mixed, mixed_front
from .part_gaps import part_gaps
from .prices import Slope
from .search import AtSlope, PlanSearch
from .slopes import MOST_SLOPES, NEAR, between, front_of, hull, near
from .ways import Way
from .work import BOUNDED, SEARCHED, SLOPES, TRIED

MOST_CUTS = 8  # slopes at which plans are searched where limits cut the front of all, or for the front itself
FAR = 64.0  # times a slope: there cycles, or energy, count for little
FAR_END = 2.0  # times the slopes that were searched
SMALL = 1.01  # a step of the slope, by which sums are parted into energy and cycles


Progress = Callable[[PlanSearch, AtSlope], None]


def search_plans(search: PlanSearch, start: PlanCosts, goal: PlanGoal, progress: Progress | None = None) -> PlanOutcome:
    """Search the plans of a network with tensors in one memory; `start` is that of the layers one by one.

    Ctrl-C ends the search with the best so far.
    """
    return _Plans(search, start, goal, progress).run()


def unsearched(search: PlanSearch, start: PlanCosts, goal: PlanGoal) -> PlanOutcome:
    """Tell what is known of the plans of a network before any is searched: `start`, and a bound."""
    return _Plans(search, start, goal, None).outcome


class _Plans:
    """A search."""

    def __init__(self, search: PlanSearch, start: PlanCosts, goal: PlanGoal, progress: Progress | None) -> None:
        self.search, self.start, self.best, self.goal, self.progress = search, start, start, goal, progress
        search.allow(search.options.limits, len({replace(own, name="") for own, _ in search.graph.network.layers}))
        if not goal.limits.none:
            search.gap = 0.0  # a limit decides between plans that are this close
        self.met: list[list[Way]] = [[] for _ in search.components]  # ways with the least values at some slope
        self.front = list[Mixed]()

    def run(self) -> PlanOutcome:
        began = time.monotonic()
        statistics = self.search.statistics
        try:
            self._search()
            self.search.end(proven=self._proven, gap=self._gap)
        except KeyboardInterrupt:
            self._take(self.search.latest)
            statistics.stop(Ended.INTERRUPTED)
        finally:
            self.search.leave()
        statistics.seconds = time.monotonic() - began
        return self.outcome

    @property
    def outcome(self) -> PlanOutcome:
        """What is known, and proven."""
        states = [component.states for component in self.search.components]
        most = min((own.most_held for own in states if own.most_held is not None), default=None)
        in_turn = any(own.in_turn for own in states)
        return PlanOutcome(
            self.best,
            self.lower_bound,
            self.search.statistics,
            self.search.searched,
            most,
            in_turn,
            any(len(group.stages) > 1 for group in self.search.prices.every),
            part_gaps(self.search, self.best, self.goal, [own.slope for own in self.envelope.sums]),
            self.envelope,
            self._known_front(),
        )

    def _search(self) -> None:
        if self.goal.limits.none and not self.goal.front and not self._value(self.best):
            return  # nothing is below 0
        if self.goal.limits.none:
            self._unlimited()
        else:
            self._limited()
        if self.goal.front:
            self._along_front()

    def _unlimited(self) -> None:
        by_energy, by_cycles = self.goal.objective.powers
        if not (by_energy and by_cycles):
            self._at(0.0 if by_energy else None)
            return
        if not self._value(self.best):
            return
        slope, known = self._first_slope(), list[float]()
        while len(known) < MOST_SLOPES and not self._over:
            self._at(slope)
            known.append(slope)
            wanted = self._wanted_slope
            if not wanted or near(wanted, known):
                break
            slope = wanted
        self._bound_ends(known)

    @property
    def _wanted_slope(self) -> float:
        """The slope at which better bounds would raise that of the EDP; 0: there is none."""
        cycles, energy_pj = self.envelope.least(self.goal.objective, self.goal.limits).point or (0.0, 0.0)
        return energy_pj / cycles if cycles else 0.0

    def _bound_ends(self, known: Sequence[float]) -> None:
        """Bound cycles and energy alone, where the bound of the EDP lies beyond the slopes that were searched.

        Each part is bounded once, whatever effort is left: without it little may be proven of a plan that is known.
        """
        for end, beyond in ((None, FAR_END), (0.0, 1 / FAR_END)) if known else ():
            wanted = self._wanted_slope
            outside = wanted > beyond * max(known) if end is None else wanted < beyond * min(known)
            if outside and not self._closed:
                self._take(self.search.at(end, BOUNDED, self.progress, beyond=True))

    def _limited(self) -> None:
        """Search plans where limits cut the front of all: at slopes between plans on both sides."""
        slope = self._first_slope() if self.best.cycles and self.best.energy_pj else 0.0
        self._at(slope, TRIED)
        slow = self.best.cycles > self.goal.limits.cycles
        for far in (slope * FAR, None) if slow else (slope / FAR, 0.0):
            if self._within or self._over:
                break
            self._at(far, TRIED)
        known = list[Slope]()
        while len(known) < MOST_CUTS and not self._over:
            wanted = [slope for slope in self._cut_slopes() if not near(slope, known)]
            if not wanted:
                break
            self._at(wanted[0])
            known.append(wanted[0])
        if not (self._over or self.goal.front):
            self._along_front()  # plans between corners are mixed from mappings of other slopes, too

    def _cut_slopes(self) -> Iterator[Slope]:
        """Yield the slopes between known plans on both sides of a limit, then that where the bound is least."""
        limits, point = self.goal.limits, self.envelope.least(self.goal.objective, self.goal.limits).point
        for one, other in pairwise(hull(self.front)):
            if one[0] <= limits.cycles < other[0] or other[1] <= limits.energy_pj < one[1]:
                yield crossing(one, other)
        if point is not None and point[0]:
            cycles, energy_pj = point
            yield self.goal.objective.slope_at(energy_pj, cycles)

    def _along_front(self) -> None:
        """Search plans at the slopes where bound and value are farthest apart: at both ends, then between."""
        self._at(None, TRIED)
        self._at(0.0, TRIED)
        known = list[Slope]()
        while len(known) < MOST_CUTS and not self.search.statistics.ended and not self._proven:
            gaps = [(self._gap_at(slope), slope) for slope in self._edges() if not near(slope, known)]
            gap, slope = max(gaps, default=(0.0, 0.0))
            if gap <= max(ROUNDING, self.search.gap):
                return
            self._at(slope)
            known.append(slope)

    def _edges(self) -> Iterator[float]:
        """Yield the slopes of the edges of what is known of the front; of a single plan that of its EDP."""
        corners = hull(self.front)
        if len(corners) == 1 and min(corners[0]) > 0:
            yield corners[0][1] / corners[0][0]
        for one, other in pairwise(corners):
            slope = crossing(one, other)
            if slope is not None:
                yield slope

    def _gap_at(self, slope: float) -> float:
        value = min(own.energy_pj + slope * own.cycles for own in self.front)
        return 1 - self.search.least(slope) / value if value else 0.0

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

    def _at(self, slope: Slope, last: int = SEARCHED) -> None:
        """Search the plans at a slope; the best may become the best of all."""
        self._take(self.search.at(slope, last, self.progress))

    def _take(self, at: AtSlope | None) -> None:
        """Let the best plan at a slope be the best of all, if it is; with limits or a front, one through known ways."""
        self.__dict__.pop("envelope", None)
        if at is None or at.value == inf:
            return
        self._let(choices_at(self.search, at))
        if self.goal.limits.none and not self.goal.front:
            return
        for ways, way in zip(self.met, at.ways, strict=True):
            ways.append(way)
        self.front = mixed_front(self.search.components, self.met, self.search.prices)
        kept = [own for own in self.front if self.goal.limits.kept(own.cycles, own.energy_pj)]
        if kept:
            best = min(kept, key=lambda own: self.goal.objective.value(own.energy_pj, own.cycles))
            self._let(best.choices)

    def _let(self, choices: Sequence[Choice]) -> None:
        costs = assembled(self.search, choices)
        if self.goal.better(costs, self.best):
            self.best = costs

    def _known_front(self) -> tuple[Point, ...]:
        """Cycles and energies of all known plans that no other beats, from the fewest cycles on; empty if unwanted."""
        if not self.goal.front:
            return ()
        points = [(float(own.cycles), own.energy_pj) for own in (self.start, self.best)]
        points += [(own.cycles, own.energy_pj) for own in self.front]
        return front_of(points)

    def _value(self, costs: PlanCosts) -> float:
        return self.goal.objective.value(costs.energy_pj, float(costs.cycles))

    @property
    def _within(self) -> bool:
        return self.goal.limits.kept(self.best.cycles, self.best.energy_pj)

    @property
    def _over(self) -> bool:
        return bool(self.search.statistics.ended) or self._closed

    @property
    def _closed(self) -> bool:
        """Whether the best plan is proven to be, or that there is none within the limits."""
        bound = self.lower_bound
        return bound == inf or (self._within and bound >= self._value(self.best) * (1 - ROUNDING))

    @property
    def _proven(self) -> bool:
        """Whether nothing is left to find, of the front neither."""
        return self._closed and (not self.goal.front or self.envelope.gap(self._known_front()) <= ROUNDING)

    @property
    def _gap(self) -> float:
        """The share by which bound and best are apart, of the front, too."""
        value = self._value(self.best)
        own = 1 - self.lower_bound / value if value and self._within else float(not self._within)
        return max(own, self.envelope.gap(self._known_front()) if self.goal.front else 0.0)

    @property
    def lower_bound(self) -> float:
        """What no plan within the limits is below; inf: there is none."""
        bound = self.envelope.least(self.goal.objective, self.goal.limits).value
        return min(bound, self._value(self.best)) if self._within else bound

    @cached_property
    def envelope(self) -> Envelope:
        """What is proven of energy and cycles, at the slopes that were searched and others about."""
        search = self.search
        slope = self.best.energy_pj / self.best.cycles if self.best.cycles else 0.0
        about = {slope * factor for factor in (*SLOPES, *between(SLOPES))}
        slopes = sorted(own for own in about | search.slopes if own > 0)
        sums = tuple(LeastSum(own, search.least(own)) for own in slopes)
        return Envelope(search.least(0.0), search.least(None), sums)
