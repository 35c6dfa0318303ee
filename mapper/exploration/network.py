"""Chooses the mappings of a network together: for the network's EDP, with a proof about the whole.

The layers' own optima need not be the network's: a layer may give up EDP of its own for fewer cycles of the whole.
Least sums of energy and cycles, proven layer by layer for a few slopes, decide (report/network_edp.py).
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import NamedTuple, Self

import numpy as np

from ..mapping import MappingBatch
from ..model import OBJECTIVES, Costs, InternalError, check_physical, evaluate, exactly, recount
from ..model.bounds import ROUNDING
from ..report import LayerNeeds, LeastSum, Result, best_choice, crossing, edp_bound
from ..search import STRATEGIES, Ended, Point, Recorder, Statistics, Watch, stop_rules
from ..search.optimal import least_sum
from .layers import Layers, ProvenSum, Run
from .side_by_side import StoppableState, WholeRequest, left_behind, side_by_side
from .time_slices import Study, prepared

FIRST_SLOPES = (0.8, 1.25)  # times energy / cycles of the network: tried, the two that leave the least to prove
FARTHER = 1.25  # steps of slopes beyond those proven
SLACK = ROUNDING / 10  # relative; what rounding alone leaves between bounds and mappings


@dataclass(frozen=True, eq=False)
class Mapped:
    """A mapping, as a batch of one, with its exact costs."""

    batch: MappingBatch
    costs: Costs

    @classmethod
    def of(cls, study: Study, batch: MappingBatch) -> Self:
        """Count a mapping exactly."""
        batch = exactly(batch)
        costs = evaluate(batch, study.table, study.costs, recount(batch))
        check_physical(batch, costs)
        return cls(batch, costs)

    @property
    def point(self) -> Point:
        return float(self.costs.cycles[0]), float(self.costs.energy_pj[0])

    def sum_pj(self, slope: float) -> float:
        """Energy + slope x cycles."""
        cycles, energy_pj = self.point
        return energy_pj + slope * cycles


class SumRequest(NamedTuple):
    """A layer, the slopes to prove, and the mappings known."""

    whole: WholeRequest
    slopes: tuple[float, ...]
    known: tuple[Mapped, ...]


class SumResult(NamedTuple):
    """What came of a request; mappings are in the order of the sums."""

    number: int
    sums: tuple[ProvenSum, ...]
    mapped: tuple[Mapped, ...]


def prove_sums(study: Study, request: SumRequest) -> SumResult:
    """Prove least sums of a layer, one slope after the other, until its time is up or it is told to stop."""
    whole, sums, mapped = request.whole, list[ProvenSum](), list[Mapped]()
    part, limit = StoppableState(whole), whole.options.time_limit
    ends = inf if limit is None else time.monotonic() + limit
    for slope in request.slopes:
        left = ends - time.monotonic()
        if part.stop.exists() or left <= 0 or (sums and not sums[-1].closed):
            break
        space = prepared(study, whole.number)
        task = study.task(space, replace(whole.options, time_limit=None if left == inf else left))
        start = min((*request.known, *mapped), key=lambda each: each.sum_pj(slope)).batch
        found = least_sum(task, slope, start, Watch(None, part))
        assert found.best is not None, "it began with a mapping"
        assert found.lower_bound is not None, "a proof has a bound"
        mapped.append(Mapped.of(study, found.best.own()))
        place = space.index(found.best)[0]
        sums.append(ProvenSum(slope, found.lower_bound, found.optimal, place, found.statistics.plain()))
    return left_behind(SumResult(whole.number, tuple(sums), tuple(mapped)), part)


@dataclass(eq=False)
class _Layer:
    """What is known of a layer: its mappings, the one of its search first, and proofs."""

    result: Result
    count: int
    mapped: list[Mapped]
    sums: list[ProvenSum] = field(default_factory=list)
    over: bool = False  # a proof ran out of time, or was not possible

    @property
    def seconds(self) -> float:
        return self.result.statistics.seconds + sum(each.seconds for each in self.sums)

    @property
    def needs(self) -> LayerNeeds:
        """What every mapping needs."""
        return replace(self.result, sums=self.least_sums).needs(self.count)

    @property
    def least_sums(self) -> tuple[LeastSum, ...]:
        return tuple(LeastSum(each.slope, each.least_pj) for each in sorted(self.sums))

    @property
    def points(self) -> list[Point]:
        return [each.point for each in self.mapped]

    def add(self, sums: Iterable[ProvenSum], mapped: Iterable[Mapped]) -> None:
        """Add proofs and the mappings that they found."""
        for each in sums:
            self.sums = [other for other in self.sums if other.slope != each.slope] + [each]
            self.over |= not each.closed
        known = set(self.points)
        self.mapped += [each for each in mapped if each.point not in known]

    def wanted(self, slope: float) -> float | None:
        """Choose the slope to prove next, so that its bound at `slope` rises most; None where nothing is left to prove.

        Between two proven slopes with different mappings it is the slope where both have the same sum: if no mapping
        has less there, all between is proven.
        """
        known = min(each.sum_pj(slope) for each in self.mapped)
        if self.over or self._bound(slope) >= known * (1 - SLACK):
            return None
        below = max((each.slope for each in self.sums if each.slope <= slope), default=None)
        above = min((each.slope for each in self.sums if each.slope >= slope), default=None)
        if below is not None and above is not None:
            best = (min(self.mapped, key=lambda each: each.sum_pj(end)) for end in (below, above))  # noqa: B023
            between = crossing(*(each.point for each in best))
            nearest = slope if between is None or not below < between < above else between
        elif below is not None:
            nearest = max(slope, below * FARTHER)
        else:
            nearest = slope if above is None else min(slope, above / FARTHER)
        return next((each for each in (nearest, slope) if not self._proven(each)), None)

    @property
    def statistics(self) -> Statistics:
        """The sums over the search and the proofs; the reason for the end is that of the search."""
        whole = replace(self.result.statistics)
        for each in (Statistics.of_plain(one.statistics) for one in self.sums):
            whole.evaluated, whole.valid = whole.evaluated + each.evaluated, whole.valid + each.valid
            whole.invalid = {reason: number + each.invalid[reason] for reason, number in whole.invalid.items()}
            whole.seconds += each.seconds
        return whole

    def with_mapping(self, number: int) -> Result:
        """Return the result with a known mapping, and what is proven."""
        chosen, own = self.mapped[number], min(energy_pj * cycles for cycles, energy_pj in self.points)
        result = replace(self.result, sums=self.least_sums, statistics=self.statistics)
        if number:
            result = replace(result, batch=chosen.batch, costs=chosen.costs, searched=None)
        result = replace(result, alone=own if own < result.edp * (1 - ROUNDING) else None)
        return replace(result, optimal=result.own_gap <= ROUNDING and result.alone is None)

    def _bound(self, slope: float) -> float:
        return float(self.needs.least_sums(np.array([slope]))[0])

    def _proven(self, slope: float) -> bool:
        return any(abs(each.slope - slope) <= ROUNDING * slope for each in self.sums)


def chosen_for_network(layers: Layers, results: dict[int, Result], counts: Sequence[int]) -> dict[int, Result]:
    """Return the results of all layers, by number, with the mappings that are best for the network of so many each.

    That is where the objective is EDP and the layers' searches prove; otherwise the layers' own best are the answer.
    Least sums are proven until the choice is, or each layer's time limit is over; Ctrl-C leaves the best so far.
    """
    options = layers.study.options
    whole = len(results) == len(counts) and not layers.interrupted
    edp = len(options.objectives) == 1 and all(OBJECTIVES[options.objectives[0]].powers)
    if not whole or not edp or not STRATEGIES[options.strategy].proves or options.certify:
        return results  # a certificate is about the layers' own best
    if any(result.lower_bound is None for result in results.values()):
        return results
    together = _Together(layers, results, counts)
    together.prove()
    return together.results()


class _Together:
    """The layers of a network, and the best choice of their known mappings."""

    def __init__(self, layers: Layers, results: dict[int, Result], counts: Sequence[int]) -> None:
        self.all, self.study = layers, layers.study
        self.layers = {
            number: _of(self.study, layers.runs[number], results[number], counts[number]) for number in results
        }
        self.chosen = [0] * len(results)
        self.limit = stop_rules(self.study.options).time_limit

    def prove(self) -> None:
        """Prove least sums until the best choice is proven, or no layer has anything left to prove."""
        slopes: tuple[float, ...] = tuple(self.slope * each for each in FIRST_SLOPES)
        while not self.all.interrupted:
            self.chosen = best_choice([layer.count for layer in self.layers.values()],
                                      [layer.points for layer in self.layers.values()])  # fmt: skip
            bound, edp = edp_bound([layer.needs for layer in self.layers.values()]), self.edp
            if bound.edp > edp * (1 + ROUNDING):
                raise InternalError("internal error: the EDP of a network is below its bound; please report it")
            if bound.slope is None or bound.edp >= edp * (1 - ROUNDING):
                return
            wanted = self._wanted(slopes or (bound.slope,))
            if wanted:
                self._prove(wanted)
            elif not slopes:
                return
            slopes = ()

    @property
    def slope(self) -> float:
        """Energy / cycles of the choice: if it is the best, it has the least energy + slope x cycles."""
        cycles, energy_pj = self._sums
        return energy_pj / cycles

    @property
    def edp(self) -> float:
        """The EDP of the choice."""
        cycles, energy_pj = self._sums
        return energy_pj * cycles

    @property
    def _sums(self) -> Point:
        points = [
            layer.count * np.array(layer.points[i]) for layer, i in zip(self.layers.values(), self.chosen, strict=True)
        ]
        cycles, energy_pj = np.sum(points, axis=0).tolist()
        return cycles, energy_pj

    def _wanted(self, slopes: Sequence[float]) -> dict[int, tuple[float, ...]]:
        """Choose the slopes to prove of each layer that has time left."""
        wanted: dict[int, tuple[float, ...]] = {}
        for number, layer in self.layers.items():
            some = dict.fromkeys(layer.wanted(slope) for slope in slopes)
            own = tuple(slope for slope in some if slope is not None)
            if own and self._left(layer) > 0:
                wanted[number] = own
        return wanted

    def _left(self, layer: _Layer) -> float:
        """Return the seconds that a layer has left; inf where there is no limit."""
        left = inf if self.limit is None else self.limit - layer.seconds
        return left if self.all.ends is None else min(left, self.all.ends - time.monotonic())

    def _prove(self, wanted: dict[int, tuple[float, ...]]) -> None:
        """Prove sums of several layers at once, each in one process."""
        options = replace(self.study.options, jobs=1, budget="")

        def requests(folder: str) -> Iterator[SumRequest]:
            for number, slopes in wanted.items():
                left = self._left(layer := self.layers[number])
                limited = replace(options, time_limit=None if left == inf else max(0.0, left))
                yield SumRequest(WholeRequest(number, None, limited, folder), slopes, tuple(layer.mapped))

        def take(found: SumResult) -> None:
            layer, run = self.layers[found.number], self.all.runs[found.number]
            layer.add(found.sums, found.mapped)
            layer.over |= len(found.sums) < len(wanted[found.number])
            run.sums = layer.sums
            self.all.keep(run)
            self._tell(layer)

        if not side_by_side(prove_sums, self.study, requests, self.study.options.jobs, take):
            self.all.interrupted = True

    def _tell(self, layer: _Layer) -> None:
        recorder = Recorder(stop_rules(self.study.options))
        recorder.statistics = layer.statistics
        recorder.best = layer.result.edp
        self.all.tell(layer.result.workload, recorder)

    def results(self) -> dict[int, Result]:
        """Return the results with the mappings chosen."""
        results = {}
        for (number, layer), i in zip(self.layers.items(), self.chosen, strict=True):
            results[number] = layer.with_mapping(i)
            if self.all.interrupted:
                results[number].statistics.stop(Ended.INTERRUPTED)
        return results


def _of(study: Study, run: Run, result: Result, count: int) -> _Layer:
    """Collect what is known of a layer: its mapping first, those of its front, and what an earlier run proved."""
    batches = [result.batch, *(each.batch for each in result.front)]
    layer = _Layer(result, count, [])
    layer.add((), (Mapped.of(study, batch) for batch in batches if batch is not None))
    if run.sums:
        space = prepared(study, run.number)
        layer.add(run.sums, (Mapped.of(study, space[each.best].own()) for each in run.sums))
        layer.over = False
    return layer
