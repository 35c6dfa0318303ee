"""Searches the best pipeline of a chain by EDP, energy or delay: at slopes that matter, with a bound of all."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from ...bounds.sums import Envelope, LeastSum, Limits
from ...model.figures import Mapped
from ...networks import PartCosts, Pipeline, Stage, movements
from ...problem import ROUNDING, Objective
from ...search.outcome import Ended, Statistics
from ..slopes import MOST_SLOPES, near
from .search import AtSlope, Chosen, PipelineSearch

SLOPES = tuple(1.19**i for i in range(-5, 6))  # times that of the best: at these all pipelines are bounded


@dataclass(frozen=True, eq=False)
class PipelineOutcome:
    """The result of a search of pipelines."""

    best: Pipeline
    lower_bound: float  # no pipeline is below, by the objective
    statistics: Statistics
    searched: int  # prices of parts that were bounded or searched


def search_pipelines(search: PipelineSearch, objective: Objective) -> PipelineOutcome:
    """Search the pipelines of a chain; all parts in turn on all cores, with the known mappings, are one of them.

    Ctrl-C ends the search with the best so far.
    """
    return _Pipelines(search, objective).run()


def in_turn(search: PipelineSearch, mapped: Mapping[str, Mapped]) -> Pipeline:
    """Count all parts in turn on all cores, with these mappings of the layers by name."""
    stage, machine = list[Chosen](), search.machines[-1]
    for placed in search.placed:
        costs = None
        if placed.part.group is not None:
            costs = machine.costs_of_layer(placed.part.group, mapped[placed.part.layers[0]])
        stage.append(Chosen(placed, search.cores.axis.size, costs))
    return _pipeline(search, (tuple(stage),))


class _Pipelines:
    """A search."""

    def __init__(self, search: PipelineSearch, objective: Objective) -> None:
        self.search, self.objective = search, objective
        self.best = in_turn(search, {name: known.mapped[0] for name, known in search.known.items()})
        search.allow(search.options.limits, len({group for group in search.groups if group is not None}))
        self.slopes = set[float]()
        self._proven: tuple[object, Envelope] | None = None  # what it was made of

    def run(self) -> PipelineOutcome:
        began, statistics = time.monotonic(), self.search.statistics
        try:
            self._search()
            value = self._value(self.best)
            self.search.end(proven=self._closed, gap=1 - self.lower_bound / value if value else 0.0)
        except KeyboardInterrupt:
            self._take(self.search.latest)
            statistics.stop(Ended.INTERRUPTED)
        finally:
            self.search.leave()
        statistics.seconds = time.monotonic() - began
        return PipelineOutcome(self.best, self.lower_bound, statistics, self.search.searched)

    def _search(self) -> None:
        by_energy, by_cycles = self.objective.powers
        if not self._value(self.best):
            return  # nothing is below 0
        if not (by_energy and by_cycles):
            self._take(self.search.at(0.0 if by_energy else None))
            return
        slope, known = self.best.energy_pj / self.best.cycles, list[float]()
        while len(known) < MOST_SLOPES and not self.search.statistics.ended and not self._closed:
            self._take(self.search.at(slope))
            known.append(slope)
            self.slopes.add(slope)
            wanted = self._next_slope(known)
            if wanted is None:
                return
            slope = wanted

    def _next_slope(self, known: list[float]) -> float | None:
        """The slope of the best pipeline, or of the point where the bound is; None: both were tried."""
        points = [(float(self.best.cycles), self.best.energy_pj), self.envelope.least(self.objective, Limits()).point]
        for cycles, energy_pj in (point for point in points if point is not None):
            slope = energy_pj / cycles if cycles and energy_pj else 0.0
            if slope and not near(slope, known):
                return slope
        return None

    def _take(self, at: AtSlope | None) -> None:
        """Let the best pipeline at a slope be the best of all, if it is."""
        if at is not None and at.stages:
            own = _pipeline(self.search, at.stages)
            if self._value(own) < self._value(self.best) * (1 - ROUNDING):
                self.best = own

    def _value(self, own: Pipeline) -> float:
        return self.objective.value(own.energy_pj, float(own.cycles))

    @property
    def _closed(self) -> bool:
        return self.lower_bound >= self._value(self.best) * (1 - ROUNDING)

    @property
    def lower_bound(self) -> float:
        """What no pipeline is below."""
        return min(self.envelope.least(self.objective, Limits()).value, self._value(self.best))

    @property
    def envelope(self) -> Envelope:
        """What is proven of energy and cycles, at the slopes that were searched and others about."""
        made_of = self.search.searched, len(self.slopes), self.best
        if self._proven is None or self._proven[0] != made_of:
            own = self.best.energy_pj / self.best.cycles if self.best.cycles else 0.0
            slopes = sorted(slope for slope in {own * factor for factor in SLOPES} | self.slopes if slope > 0)
            sums = tuple(LeastSum(slope, self.search.least(slope)) for slope in slopes)
            self._proven = made_of, Envelope(self.search.least(0.0), self.search.least(None), sums)
        return self._proven[1]


def _pipeline(search: PipelineSearch, stages: tuple[tuple[Chosen, ...], ...]) -> Pipeline:
    """Make the pipeline of these stages, and count it anew."""
    made = tuple(_stage(search, stage) for stage in stages)
    pipeline = Pipeline(made, search.items, search.leak_pj)
    faults = pipeline.faults(search.cores, [name for placed in search.placed for name in placed.part.names])
    assert not faults, "; ".join(faults)
    return pipeline


def _stage(search: PipelineSearch, stage: tuple[Chosen, ...]) -> Stage:
    cores = stage[0].cores
    machine = search.machines[cores - 1]
    costs = []
    for own in stage:
        layers = None
        if own.costs is not None:
            group = own.placed.part.group
            assert group is not None, "it has a layer"
            (mapped,) = own.costs.mapped.values()
            layers = machine.costs_of_layer(group, mapped.named(group.stages[0].name))
        moved = tuple(movements(own.placed, machine.arch, drain_reads=machine.charges.drain_reads))
        costs.append(PartCosts(layers, moved, machine.arch, machine.energies, machine.charges))
    return Stage(cores, tuple(own.placed for own in stage), tuple(costs))
