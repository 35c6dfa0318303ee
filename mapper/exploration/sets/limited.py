"""The best mappings within limits of energy and cycles: of a layer proven directly, of a network by sums.

Without them being in the way the best mappings of all are the answer. Of one layer the branch and bound looks only at
mappings within the limits. Of several layers the sums of energies and cycles are limited: proofs of least sums leave a
region (bounds/sums), in which the objective has a least value within the limits, and known mappings make choices.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import NamedTuple, override

import numpy as np

from ....workloads import Workload
from ...bounds import ObjectiveLimit
from ...bounds.sums import EdpBound, Envelope, LeastSum, Limits, slopes_between
from ...model import warn_of_rounding
from ...model.figures import Mapped
from ...problem import OBJECTIVES, Objective
from ...proof import best_within
from ...report import NetworkResult, Result
from ...runtime import one_thread
from ...search import Observers
from ...search.outcome import Ended
from ..layers import Layers
from ..network import Together, chosen_for_network
from ..spread import search_layers
from ..time_slices import Study

SLOPES = 65  # at which the sums of a network are bounded
SLACK = 1e-12  # relative; of limits, which are computed


@dataclass(frozen=True)
class PowerLimit:
    """The most that energy_pj ** a * cycles ** b of the mappings of a workload may be."""

    powers: tuple[float, float]
    most: float

    def kept(self, energy_pj: float, cycles: float) -> bool:
        """Test whether energy and cycles are within it."""
        by_energy, by_cycles = self.powers
        return bool(energy_pj**by_energy * cycles**by_cycles <= self.most * (1 + SLACK))

    @property
    def of_objective(self) -> ObjectiveLimit | None:
        """The same as a limit of an objective; None where it is of none."""
        for objective in OBJECTIVES.values():
            if (power := objective.power_of(*self.powers)) is not None:
                return ObjectiveLimit(objective, self.most ** (1 / power) * (1 + SLACK))
        return None


class Limited(NamedTuple):
    """A result, whether its mappings keep all limits, and what no mappings that keep them are below."""

    result: Result | NetworkResult
    kept: bool
    lower_bound: float  # of the objective; inf: none keep them
    unlimited: Result | NetworkResult  # the best mappings of each layer, limits or none


@one_thread()
def explore_within(
    study: Study, limits: Sequence[PowerLimit] = (), *, sums: bool = True, close: float = 0.0
) -> Limited:
    """Search the layers of a study for the best mappings that keep all limits.

    Without `sums` the layers of a network are not chosen together: bounds alone are of use. Nor are they where their
    own best are proven to be as `close` to the best of the network, as a share. Raises KeyboardInterrupt where Ctrl-C
    ended it.
    """
    warn_of_rounding(study.arch, study.layers)
    layers = Layers(study, None, None)
    search_layers(layers, layers.runs)
    results = layers.results()
    _check_interrupted(layers, results)
    gap = study.result(dict(results)).gap
    if sums and not isinstance(study.work, Workload) and (gap is None or gap > close):
        results = chosen_for_network(layers, results, study.counts)
        _check_interrupted(layers, results)
    free = study.result(dict(results))
    limited = _limited(layers, results, limits, sums=sums)
    return Limited(*limited, free)


def _limited(
    layers: Layers, results: dict[int, Result], limits: Sequence[PowerLimit], *, sums: bool
) -> tuple[Result | NetworkResult, bool, float]:
    """The fields of Limited but the last."""
    study = layers.study
    result = study.result(results)
    if not result.found:
        return result, False, inf if proven_empty(result) else 0.0
    bound = result.lower_bound or 0.0
    if kept_by(limits, result.energy_pj, result.cycles):
        return result, True, bound
    if isinstance(result, Result):
        return _layer_within(study, result, limits, bound)
    return _network_within(layers, results, limits, bound, sums=sums)


def proven_empty(result: Result | NetworkResult) -> bool:
    """Whether it is proven that a layer has no valid mapping: all were ruled out or seen."""
    return any(not one.found and Ended.SEEN_ALL in one.statistics.ended for one, _ in result.layers)


def _check_interrupted(layers: Layers, results: dict[int, Result]) -> None:
    if layers.interrupted or any(result.statistics.interrupted for result in results.values()):
        raise KeyboardInterrupt


def kept_by(limits: Sequence[PowerLimit], energy_pj: float, cycles: float) -> bool:
    """Test whether energy and cycles keep all limits."""
    return all(limit.kept(energy_pj, cycles) for limit in limits)


def sum_limits(limits: Sequence[PowerLimit]) -> Limits:
    """The limits of cycles and of energy among limits; others bound no sums."""
    cycles = energy_pj = inf
    for limit in limits:
        own = limit.of_objective
        if own is not None and own.objective.powers == (0, 1):
            cycles = min(cycles, own.most)
        elif own is not None and own.objective.powers == (1, 0):
            energy_pj = min(energy_pj, own.most)
    return Limits(cycles, energy_pj)


def _layer_within(
    study: Study, result: Result, limits: Sequence[PowerLimit], bound: float
) -> tuple[Result, bool, float]:
    """Prove the best mapping of a layer within the limits that proofs know."""
    known = tuple(own for limit in limits if (own := limit.of_objective) is not None)
    if not known or result.batch is None:
        return result, False, bound
    task = study.task(0, study.space(0), study.options)
    outcome = best_within(task, known, result.batch, Observers())
    statistics = replace(result.statistics, steps=result.statistics.steps + outcome.statistics.steps)
    statistics.ended = outcome.statistics.ended
    if outcome.statistics.interrupted:
        raise KeyboardInterrupt
    if outcome.best is None:
        nothing = Ended.SEEN_ALL in outcome.statistics.ended
        return result, False, inf if nothing else bound
    assert result.search is not None, "it was searched"
    searched = replace(result.search, statistics=statistics)
    within = Mapped.of(task.problem, outcome.best.own())
    result = replace(result, mapped=within, evidence=outcome.evidence, search=searched)
    return result, kept_by(limits, result.energy_pj, result.cycles), max(bound, outcome.lower_bound or 0.0)


def _network_within(
    layers: Layers, results: dict[int, Result], limits: Sequence[PowerLimit], bound: float, *, sums: bool
) -> tuple[Result | NetworkResult, bool, float]:
    """Choose the mappings of layers within the limits; with `sums` after proofs that leave as little open as can be."""
    within = _Within(layers, results, limits)
    if sums:
        within.prove()
    within.choose()
    _check_interrupted(layers, results)
    chosen = layers.study.result(within.results()) if sums else layers.study.result(results)
    return chosen, kept_by(limits, chosen.energy_pj, chosen.cycles), max(bound, within.bound().edp)


class _Within(Together):
    """The layers of a network, and the best choice of their known mappings within limits."""

    def __init__(self, layers: Layers, results: dict[int, Result], limits: Sequence[PowerLimit]) -> None:
        super().__init__(layers, results, layers.study.counts)
        self.limits = limits
        self.objective: Objective = OBJECTIVES[self.study.options.objectives[0]]

    @override
    def choose(self) -> None:
        """Choose the known mappings with the least objective of those choices that keep the limits."""
        best = inf
        for choice in self._choices():
            cycles, energy_pj = self.sums_of(choice)
            value = self.objective.value(energy_pj, cycles)
            if value < best and kept_by(self.limits, energy_pj, cycles):
                self.chosen, best = choice, value

    def _choices(self) -> Iterator[list[int]]:
        """Yield the corners of the region of all choices, and the choices on the way from each to the next."""
        points = [layer.points for layer in self.layers.values()]
        before = [min(range(len(own)), key=lambda i, own=own: own[i]) for own in points]  # type: ignore[misc]
        yield before
        for slope in reversed(slopes_between(points)):
            choice = [min(range(len(own)), key=lambda i, own=own: own[i][1] + slope * own[i][0]) for own in points]  # type: ignore[misc]  # noqa: B023
            for number, place in enumerate(choice):
                if place != before[number]:
                    before = [*before[:number], place, *before[number + 1 :]]
                    yield before

    @override
    def bound(self) -> EdpBound:
        """Bound every choice within the limits, and name the slope at which better bounds would raise that."""
        needs = [layer.needs for layer in self.layers.values()]
        proven = sorted({own.slope for one in needs for own in one.sums} | {s for one in needs for s in one.slopes()})
        if not proven:
            return EdpBound(0.0, None)
        slopes = np.unique([*np.geomspace(proven[0], proven[-1], SLOPES), *proven])
        sums = np.sum([one.count * one.least_sums(slopes) for one in needs], axis=0)
        energy_pj, cycles = (
            sum(one.count * one.energy_pj for one in needs),
            sum(one.count * one.cycles for one in needs),
        )
        least_sums = [LeastSum(*pair) for pair in zip(slopes.tolist(), sums.tolist(), strict=True)]
        region = Envelope(energy_pj, cycles, least_sums)
        least = region.least(self.objective, sum_limits(self.limits))
        if least.point is None:
            return EdpBound(least.value, None)
        at = least_sums[int(np.argmax(sums - slopes * least.point[0]))].slope
        return EdpBound(least.value, at)

    @property
    @override
    def value(self) -> float:
        """The objective of the choice; inf where it does not keep the limits."""
        cycles, energy_pj = self.sums_of(self.chosen)
        return self.objective.value(energy_pj, cycles) if kept_by(self.limits, energy_pj, cycles) else inf
