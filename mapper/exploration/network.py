"""Chooses the mappings of a network together: for the network's EDP, with a proof about the whole.

The layers' own optima need not be the network's: a layer may give up EDP of its own for fewer cycles of the whole.
Least sums of energy and cycles, proven layer by layer for a few slopes, decide (bounds/sums).
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..bounds.sums import EdpBound, LayerBounds, best_choice, edp_bound
from ..problem import OBJECTIVES, ROUNDING, Effort, Point
from ..report import Result
from ..runtime import InternalError
from ..search import Recorder
from ..search.outcome import Ended
from ..searchers import STRATEGIES, stop_rules
from .energy_delay_sums import LayerSums, SumRequest, SumResult, known_of, prove_sums, used_up
from .layers import Layers
from .side_by_side import WholeRequest, side_by_side

FIRST_SLOPES = (0.8, 1.25)  # times energy / cycles of the network: tried, the two that leave the least to prove


def chosen_for_network(layers: Layers, results: dict[int, Result], counts: Sequence[int]) -> dict[int, Result]:
    """Return the results of all layers, by number, with the mappings that are best for the network of so many each.

    That is where the objective is EDP and the layers' searches prove; otherwise the layers' own best are the answer.
    Least sums are proven until the choice is, or each layer's effort is used up; Ctrl-C leaves the best so far.
    """
    options = layers.study.options
    edp = len(options.objectives) == 1 and all(OBJECTIVES[options.objectives[0]].powers)
    if len(results) < len(counts) or not edp or not STRATEGIES[options.strategy].proves or options.certify:
        return results  # a certificate is about the layers' own best
    if any(result.lower_bound is None for result in results.values()):
        return results
    if layers.interrupted:  # perhaps when the last layer had ended: the choice has not begun
        return {number: _interrupted(result) for number, result in results.items()}
    together = None
    try:
        together = Together(layers, results, counts)
        together.prove()
    except KeyboardInterrupt:
        layers.interrupted = True
        if together is None:
            return {number: _interrupted(result) for number, result in results.items()}
    return together.results()


def _interrupted(result: Result) -> Result:
    result.statistics.stop(Ended.INTERRUPTED)
    return result


class Together:
    """The layers of a network, and the best choice of their known mappings."""

    def __init__(self, layers: Layers, results: dict[int, Result], counts: Sequence[int]) -> None:
        self.all, self.study = layers, layers.study
        self.layers = {
            number: known_of(self.study, layers.runs[number], results[number], counts[number]) for number in results
        }
        self.chosen = [0] * len(results)
        self.limit = stop_rules(self.study.options).effort

    def prove(self) -> None:
        """Prove least sums until the best choice is proven, or no layer has anything left to prove."""
        slopes: tuple[float, ...] = tuple(self.slope * factor for factor in FIRST_SLOPES)
        while not self.all.interrupted:
            self.choose()
            bound = self.bound()
            if bound.edp > self.value * (1 + ROUNDING):
                raise InternalError("internal error: the EDP of a network is below its bound; please report it")
            if bound.slope is None or bound.edp >= self.value * (1 - ROUNDING):
                return
            wanted = self._wanted(slopes or (bound.slope,))
            if wanted:
                self._prove(wanted)
            elif not slopes:
                return
            slopes = ()

    def choose(self) -> None:
        """Choose the known mappings that are best together."""
        counts = [layer.count for layer in self.layers.values()]
        points = [layer.points for layer in self.layers.values()]
        self.chosen = best_choice([*counts, 1], [*points, [self.study.beside]])[:-1]

    def bound(self) -> EdpBound:
        """Bound every choice, and name the slope at which better bounds would raise that."""
        needs = [layer.needs for layer in self.layers.values()]
        return edp_bound([*needs, LayerBounds.fixed(self.study.beside)])

    @property
    def slope(self) -> float:
        """Energy / cycles of the choice: if it is the best, it has the least energy + slope x cycles."""
        cycles, energy_pj = self.sums_of(self.chosen)
        return energy_pj / cycles

    @property
    def value(self) -> float:
        """The EDP of the choice."""
        cycles, energy_pj = self.sums_of(self.chosen)
        return energy_pj * cycles

    def sums_of(self, choice: Sequence[int]) -> Point:
        """The cycles and the energy of a choice."""
        points = [
            layer.count * np.array(layer.points[i]) for layer, i in zip(self.layers.values(), choice, strict=True)
        ]
        cycles, energy_pj = np.sum([*points, self.study.beside], axis=0).tolist()
        return cycles, energy_pj

    def _wanted(self, slopes: Sequence[float]) -> dict[int, tuple[float, ...]]:
        """Choose the slopes to prove of each layer that has effort left."""
        wanted: dict[int, tuple[float, ...]] = {}
        for number, layer in self.layers.items():
            choices = dict.fromkeys(layer.wanted(slope) for slope in slopes)
            own = tuple(slope for slope in choices if slope is not None)
            if own and not used_up(self._remaining(layer)):
                wanted[number] = own
        return wanted

    def _remaining(self, layer: LayerSums) -> Effort:
        """Return the steps and seconds that a layer has left."""
        steps, seconds = self.limit.steps, self.limit.seconds
        caps = [] if seconds is None else [seconds - layer.seconds]
        caps += [] if self.all.ends is None else [self.all.ends - time.monotonic()]
        return Effort(None, None if steps is None else steps - layer.steps, min(caps, default=None))

    def _prove(self, wanted: dict[int, tuple[float, ...]]) -> None:
        """Prove sums of several layers at once, each in one process; on a cluster one after the other."""
        options = replace(self.study.options, jobs=1, budget="")

        def requests(folder: str) -> Iterator[SumRequest]:
            for number, slopes in wanted.items():
                effort, layer = self._remaining(self.layers[number]), self.layers[number]
                yield SumRequest(WholeRequest(number, None, options, folder), effort, slopes, tuple(layer.mapped))

        def take(result: SumResult) -> None:
            layer, run = self.layers[result.number], self.all.runs[result.number]
            layer.add(result.sums, result.mapped)
            layer.over |= len(result.sums) < len(wanted[result.number])
            run.sums = layer.sums
            self.all.keep(run)
            self._tell(layer)

        jobs = self.study.options.jobs if self.study.options.cluster is None else 1
        if not side_by_side(prove_sums, self.study, requests, jobs, take):
            self.all.interrupted = True

    def _tell(self, layer: LayerSums) -> None:
        recorder = Recorder(stop_rules(self.study.options))
        recorder.statistics = layer.statistics
        recorder.best = layer.result.edp
        self.all.tell(layer.result.workload, recorder)

    def results(self) -> dict[int, Result]:
        """Return the results with the mappings chosen."""
        results = {}
        for (number, layer), i in zip(self.layers.items(), self.chosen, strict=True):
            result = layer.with_mapping(i)
            results[number] = _interrupted(result) if self.all.interrupted else result
        return results
