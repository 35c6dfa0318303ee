"""What is known of a layer for its network: mappings, and least sums of energy and cycles, proven for some slopes."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..bounds.sums import LayerBounds, LeastSum, crossing
from ..model.figures import Mapped
from ..problem import ROUNDING, Effort, Point
from ..proof import least_sum
from ..report import Result
from ..search import Observers
from ..search.outcome import Statistics
from .layers import ProvenSum, Run
from .side_by_side import StoppableState, WholeRequest, left_behind
from .time_slices import Study, prepared

FARTHER = 1.25  # steps of slopes beyond those proven
SLACK = ROUNDING / 10  # relative; what rounding alone leaves between bounds and mappings


def point(mapped: Mapped) -> Point:
    """Return its cycles and its energy in pJ."""
    return float(mapped.cycles), mapped.energy_pj


def sum_pj(mapped: Mapped, slope: float) -> float:
    """Return its energy + slope x cycles."""
    cycles, energy_pj = point(mapped)
    return energy_pj + slope * cycles


class SumRequest(NamedTuple):
    """A layer, the slopes to prove, and the mappings known."""

    whole: WholeRequest
    effort: Effort  # for all of them
    slopes: tuple[float, ...]
    known: tuple[Mapped, ...]


class SumResult(NamedTuple):
    """What came of a request; mappings are in the order of the sums."""

    number: int
    sums: tuple[ProvenSum, ...]
    mapped: tuple[Mapped, ...]


def used_up(effort: Effort) -> bool:
    """Test whether no step or no second is left."""
    return any(number is not None and number <= 0 for number in (effort.steps, effort.seconds))


def prove_sums(study: Study, request: SumRequest) -> SumResult:
    """Prove least sums of a layer, one slope after the other, until its effort is used up or it is told to stop."""
    whole, sums, mapped = request.whole, list[ProvenSum](), list[Mapped]()
    part, effort, began = StoppableState(whole), request.effort, time.monotonic()
    for slope in request.slopes:
        steps = None if effort.steps is None else effort.steps - sum(proof.steps for proof in sums)
        seconds = None if effort.seconds is None else effort.seconds - (time.monotonic() - began)
        now = Effort(None, steps, seconds)
        if part.stop.exists() or used_up(now) or (sums and not sums[-1].closed):
            break
        space = prepared(study, whole.number)
        task = study.task(whole.number, space, replace(whole.options, effort=now, time_limit=None))
        start = min((*request.known, *mapped), key=lambda mapping: sum_pj(mapping, slope)).batch
        result = least_sum(task, slope, start, Observers(None, part))
        assert result.best is not None, "it began with a mapping"
        assert result.lower_bound is not None, "a proof has a bound"
        mapped.append(Mapped.of(task.problem, result.best.own()))
        place = space.index(result.best)[0]
        sums.append(ProvenSum(slope, result.lower_bound, result.optimal, place, result.statistics.plain()))
    return left_behind(SumResult(whole.number, tuple(sums), tuple(mapped)), part)


@dataclass(eq=False)
class LayerSums:
    """What is known of a layer: its mappings, the one of its search first, and proofs."""

    result: Result
    count: int
    mapped: list[Mapped]
    sums: list[ProvenSum] = field(default_factory=list)
    over: bool = False  # a proof ran out of effort, or was not possible

    @property
    def seconds(self) -> float:
        return self.result.statistics.seconds + sum(proof.seconds for proof in self.sums)

    @property
    def steps(self) -> int:
        return self.result.statistics.steps + sum(proof.steps for proof in self.sums)

    @property
    def needs(self) -> LayerBounds:
        """What every mapping needs."""
        return replace(self.result, sums=self.least_sums).needs(self.count)

    @property
    def least_sums(self) -> tuple[LeastSum, ...]:
        return tuple(LeastSum(proof.slope, proof.least_pj) for proof in sorted(self.sums))

    @property
    def points(self) -> list[Point]:
        return [point(mapping) for mapping in self.mapped]

    def add(self, sums: Iterable[ProvenSum], mapped: Iterable[Mapped]) -> None:
        """Add proofs and the mappings that they found."""
        for proof in sums:
            self.sums = [other for other in self.sums if other.slope != proof.slope] + [proof]
            self.over |= not proof.closed
        known = set(self.points)
        self.mapped += [mapping for mapping in mapped if point(mapping) not in known]

    def wanted(self, slope: float) -> float | None:
        """Choose the slope to prove next, so that its bound at `slope` rises most; None where nothing is left to prove.

        Between two proven slopes with different mappings it is the slope where both have the same sum: if no mapping
        has less there, all between is proven.
        """
        known = min(sum_pj(mapping, slope) for mapping in self.mapped)
        if self.over or self._bound(slope) >= known * (1 - SLACK):
            return None
        nearest = self._nearest(slope)
        return next((candidate for candidate in (nearest, slope) if not self._proven(candidate)), None)

    def _nearest(self, slope: float) -> float:
        """Choose a slope between the two proven ones beside `slope`, or a step beyond the only one; or it itself."""
        below = max((proof.slope for proof in self.sums if proof.slope <= slope), default=None)
        above = min((proof.slope for proof in self.sums if proof.slope >= slope), default=None)
        if below is not None and above is not None:
            best = (min(self.mapped, key=lambda mapping: sum_pj(mapping, end)) for end in (below, above))  # noqa: B023
            between = crossing(*(point(mapping) for mapping in best))
            return slope if between is None or not below < between < above else between
        if below is not None:
            return max(slope, below * FARTHER)
        return slope if above is None else min(slope, above / FARTHER)

    @property
    def statistics(self) -> Statistics:
        """The sums over the search and the proofs; the reason for the end is that of the search."""
        whole = replace(self.result.statistics, invalid=dict(self.result.statistics.invalid), seconds=self.seconds)
        for proof in self.sums:
            whole.add(Statistics.of_plain(proof.statistics))
        return whole

    def with_mapping(self, number: int) -> Result:
        """Return the result with a known mapping, and what is proven."""
        chosen, own = self.mapped[number], min(energy_pj * cycles for cycles, energy_pj in self.points)
        assert self.result.search is not None, "it was searched"
        searched = replace(self.result.search, statistics=self.statistics)
        result = replace(self.result, sums=self.least_sums, search=searched)
        if number:
            result = replace(result, mapped=chosen, before=None)
        result = replace(result, alone=own if own < result.edp * (1 - ROUNDING) else None)
        optimal = result.own_gap <= ROUNDING and result.alone is None
        return replace(result, evidence=replace(result.evidence, optimal=optimal))

    def _bound(self, slope: float) -> float:
        return float(self.needs.least_sums(np.array([slope]))[0])

    def _proven(self, slope: float) -> bool:
        return any(abs(proof.slope - slope) <= ROUNDING * slope for proof in self.sums)


def known_of(study: Study, run: Run, result: Result, count: int) -> LayerSums:
    """Collect what is known of a layer: its mapping first, those of its front, and what an earlier run proved."""
    problem = study.problems[run.number]
    batches = [result.batch, *(member.batch for member in result.front)]
    layer = LayerSums(result, count, [])
    layer.add((), (Mapped.of(problem, batch) for batch in batches if batch is not None))
    if run.sums:
        space = prepared(study, run.number)
        layer.add(run.sums, (Mapped.of(problem, space[proof.best].own()) for proof in run.sums))
        layer.over = bool(study.options.budget) and layer.over  # a share that is used up stays so
    return layer
