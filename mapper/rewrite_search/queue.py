"""Follows the graphs that rules reach from a network by a queue of prices (TASO, algorithm 2), with bounds.

A graph whose bound says that it is not worth its place in the queue is never searched. Nothing depends on time: it
ends when the queue is empty or as many graphs are priced as are allowed.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from itertools import count

from ...workloads import Network
from ..problem import ROUNDING
from ..rewrites import Rules, TensorGraph
from .kinds import Step, steps
from .networks import network_key, network_of_graph
from .pricer import UNPRICED, Price

ALPHA = 1.05  # a graph of so many times the best price is followed further (TASO, section 5)
GRAPHS = 60  # that are priced, of each region
MET = 10  # times as many graphs as may be priced are met: many are other forms of one network
LARGER = 8  # a graph has at most so many operators more than the network: many rules may be used without end
INTERRUPTED = "interrupted"  # how a search ends at Ctrl-C


@dataclass(frozen=True)
class RewriteOptions:
    """How far is searched."""

    alpha: float = ALPHA
    graphs: int = GRAPHS
    larger: int = LARGER
    single: bool = False  # whether places of one kind are rewritten one by one, too


@dataclass
class Seen:
    """What was done in a search."""

    met: int = 1  # graphs, each once
    priced: int = 1
    bounded: int = 0  # that a bound was enough for
    unpriced: Counter[str] = field(default_factory=Counter)  # why graphs have no price
    ended: str = ""

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the search."""
        return self.ended == INTERRUPTED

    def add(self, other: "Seen") -> None:
        """Count what another search has done, too."""
        self.met += other.met
        self.priced += other.priced
        self.bounded += other.bounded
        self.unpriced += other.unpriced


@dataclass(frozen=True, eq=False)
class Reached:
    """A graph, its price, and the steps to it with the prices after each."""

    graph: TensorGraph
    price: Price
    steps: tuple[tuple[Step, Price], ...] = ()


Pricing = Callable[[Network, float], Price | None]  # a network, and from which price on it is not worth its place


@dataclass(eq=False)
class Queue:
    """The graphs that are followed from a network."""

    first: Reached
    pricing: Pricing
    rules: Rules
    options: RewriteOptions
    tell: Callable[["Queue"], None] | None = None
    around: Callable[[TensorGraph], TensorGraph] = lambda graph: graph  # what is priced in its place
    seen: Seen = field(default_factory=Seen)

    def __post_init__(self) -> None:
        self.best = self.first
        self._prices: dict[Hashable, Price | None] = {}

    def follow(self) -> None:
        """Follow the graphs. Ctrl-C leaves the best so far."""
        try:
            self._follow()
        except KeyboardInterrupt:
            self.seen.ended = INTERRUPTED

    def _follow(self) -> None:
        first, numbers = self.first.graph, count()
        self._prices[network_key(self._network(first))] = self.first.price
        queue = [(self.first.price.value, size_of(first), next(numbers), self.first)]
        known, most = {tuple(first.outputs.values())}, size_of(first) + self.options.larger
        while queue:
            value, _, _, own = heapq.heappop(queue)
            if value >= self._enough * (1 + ROUNDING):
                continue
            for step in steps(own.graph, self.rules, single=self.options.single):
                key, size = tuple(step.graph.outputs.values()), size_of(step.graph)
                if key in known or size > most:
                    continue
                known.add(key)
                self.seen.met += 1
                if self.seen.priced >= self.options.graphs:
                    self.seen.ended = f"{self.options.graphs} graphs were priced"
                    return
                if self.seen.met > MET * self.options.graphs:
                    self.seen.ended = f"{MET * self.options.graphs} graphs were met"
                    return
                price = self._price(step)
                if price is None:
                    continue
                made = Reached(step.graph, price, (*own.steps, (step, price)))
                if price.value < self.best.price.value * (1 - ROUNDING):
                    self.best = made
                heapq.heappush(queue, (price.value, size, next(numbers), made))
                if self.tell is not None:
                    self.tell(self)
        self.seen.ended = "no graph is left that is worth following"

    @property
    def _enough(self) -> float:
        """From which price on a graph is not worth its place."""
        return self.options.alpha * self.best.price.value

    def _network(self, graph: TensorGraph) -> Network:
        return network_of_graph(self.around(graph))

    def _price(self, step: Step) -> Price | None:
        """Return the price of a graph if it is worth following."""
        seen = self.seen
        try:
            network = self._network(step.graph)
            key = network_key(network)
            if key not in self._prices:
                self._prices[key] = price = self.pricing(network, self._enough)
                seen.bounded += price is None
                seen.priced += price is not None
        except UNPRICED as error:
            seen.unpriced[str(error)] += 1
            return None
        return self._prices[key]


def size_of(graph: TensorGraph) -> int:
    """Return how many operators a graph has; what is made of weights alone is computed before it is run."""
    return sum(own not in graph.constants for own in graph.terms)
