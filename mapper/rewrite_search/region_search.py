"""Searches a region of a network by itself: so it can be done anywhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...workloads import Network
from ..plan_search import Slope
from ..rewrites import MOST_SMALL, WEIGHT, Rules, Source, TensorGraph, Term
from .networks import network_of_graph
from .pricer import UNPRICED, Price, Pricer
from .queue import Queue, Reached, RewriteOptions, Seen
from .regions import Neighbours


@dataclass(frozen=True, eq=False)
class Packed:
    """A network as it is sent to a process: without names of nodes; of large weights dtypes and sizes are enough."""

    outputs: Mapping[str, Term]
    source: tuple[Any, ...]  # what a Source is made of, but its weights
    weights: Mapping[str, NDArray[Any]]  # small ones
    large: Mapping[str, tuple[str, tuple[int, ...]]]

    @classmethod
    def of(cls, graph: TensorGraph) -> "Packed":
        """Pack a network."""
        source = graph.source
        weights = {own.name: source.weights[own.name] for own in graph.terms if own.op == WEIGHT}
        small = {name: own for name, own in weights.items() if own.size <= MOST_SMALL}
        large = {name: (str(own.dtype), own.shape) for name, own in weights.items() if name not in small}
        return cls(dict(graph.outputs), (source.inputs, source.nodes, source.header), small, large)

    @property
    def graph(self) -> TensorGraph:
        """The network; words of its large weights are 0, and take no memory."""
        inputs, nodes, header = self.source
        large = {name: np.broadcast_to(np.zeros((), dtype), sizes) for name, (dtype, sizes) in self.large.items()}
        return TensorGraph(self.outputs, Source(inputs, {**self.weights, **large}, nodes, header=header))


@dataclass(frozen=True, eq=False)
class RegionStudy:
    """What all regions share."""

    pricer: Pricer
    slope: Slope
    rules: Rules
    options: RewriteOptions


class RegionRequest(NamedTuple):
    """A region to search."""

    number: int
    region: Packed
    whole: Packed  # of it and its neighbours
    before: tuple[Packed, ...]
    after: tuple[Packed, ...]

    @classmethod
    def of(cls, number: int, region: TensorGraph, beside: Neighbours) -> "RegionRequest":
        """Pack a region with its neighbours."""
        before, after = (tuple(map(Packed.of, graphs)) for graphs in (beside.before, beside.after))
        return cls(number, Packed.of(region), Packed.of(beside.whole), before, after)

    @property
    def neighbours(self) -> Neighbours:
        """The regions beside it."""
        before, after = (tuple(own.graph for own in packed) for packed in (self.before, self.after))
        return Neighbours(self.whole.graph, before, after)


class RegionResult(NamedTuple):
    """The steps to the best graph of a region: by step the rule with the places where it was used, and the outputs."""

    number: int
    seen: Seen
    steps: tuple[tuple[str, tuple[tuple[Term, ...], ...]], ...] = ()
    graphs: tuple[tuple[Term, ...], ...] = ()


def search_region(study: RegionStudy, request: RegionRequest) -> RegionResult:
    """Search a region, priced with its neighbours at the slope of the whole network; one without a price is left."""
    graph, beside, pricer = request.region.graph, request.neighbours, study.pricer.anew()

    def price(network: Network, worth: float) -> Price | None:
        return pricer.price_at(study.slope, network, worth)

    try:
        network_of_graph(graph)  # it has layers
        first = price(network_of_graph(beside.around(graph)), inf)
    except UNPRICED:
        return RegionResult(request.number, Seen(0, 0))
    assert first is not None, "everything is worth more than nothing"
    queue = Queue(Reached(graph, first), price, study.rules, study.options, around=beside.around)
    queue.follow()
    if queue.seen.interrupted:
        raise KeyboardInterrupt
    steps = [step for step, _ in queue.best.steps]
    rules = tuple((step.rule, step.places) for step in steps)
    return RegionResult(request.number, queue.seen, rules, tuple(tuple(step.graph.outputs.values()) for step in steps))
