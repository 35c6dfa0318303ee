"""Searches the graphs that rules reach from a network by a queue of prices (TASO, algorithm 2), with bounds.

A graph whose bound says that it is not worth its place in the queue is never searched. Nothing depends on time: the
search ends when the queue is empty or as many graphs are priced as are allowed.
"""

import heapq
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from itertools import count

from ...workloads import InputError
from ..plan_search import TooManyError
from ..problem import ROUNDING
from ..rewrites import Rules, TensorGraph, Term
from .kinds import Step, steps
from .names import node_names
from .networks import network_key, network_of_graph
from .pricer import NoMappingError, Price, Pricer

ALPHA = 1.05  # a graph of so many times the best price is followed further (TASO, section 5)
GRAPHS = 200  # that are priced
LARGER = 8  # a graph has at most so many operators more than the network: many rules may be used without end
INTERRUPTED = "interrupted"  # how a search ends at Ctrl-C


@dataclass(frozen=True)
class RewriteOptions:
    """How far is searched."""

    alpha: float = ALPHA
    graphs: int = GRAPHS
    larger: int = LARGER
    single: bool = False  # whether places of one kind are rewritten one by one, too


@dataclass(frozen=True)
class Applied:
    """A rule that was used, the tensors that are computed in another way, and by how much the objective fell."""

    rule: str
    nodes: tuple[tuple[str, ...], ...]  # by place
    saved: float


@dataclass
class Outcome:
    """The best graph that was met, how it was reached, and what was done for it."""

    before: Price
    after: Price
    graph: TensorGraph
    applied: tuple[Applied, ...] = ()
    met: int = 1  # graphs, each once
    priced: int = 1
    bounded: int = 0  # that a bound was enough for
    unpriced: dict[str, int] = field(default_factory=dict)  # why graphs have no price
    ended: str = ""

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the search."""
        return self.ended == INTERRUPTED


@dataclass(frozen=True, eq=False)
class _Met:
    graph: TensorGraph
    price: Price
    applied: tuple[Applied, ...]


Tell = Callable[[Outcome], None]


def search_rewrites(
    graph: TensorGraph, pricer: Pricer, rules: Rules, options: RewriteOptions | None = None, tell: Tell | None = None
) -> Outcome:
    """Search the best graph that rules reach from a network. Ctrl-C leaves the best so far.

    Raises InputError, NoMappingError or TooManyError where the network itself has no price.
    """
    options = options or RewriteOptions()
    network = network_of_graph(graph)
    first = pricer.price(network)
    assert first is not None, "everything is worth more than nothing"
    outcome = Outcome(first, first, graph)
    try:
        _follow(outcome, network_key(network), pricer, rules, options, tell)
    except KeyboardInterrupt:
        outcome.ended = INTERRUPTED
    return outcome


def _follow(
    outcome: Outcome, first: Hashable, pricer: Pricer, rules: Rules, options: RewriteOptions, tell: Tell | None
) -> None:
    """Follow graphs from the network, whose key is `first`."""
    numbers, names = count(), node_names(outcome.graph)
    queue = [(outcome.before.value, next(numbers), _Met(outcome.graph, outcome.before, ()))]
    known, most = {tuple(outcome.graph.outputs.values())}, size_of(outcome.graph) + options.larger
    prices: dict[object, Price | None] = {first: outcome.before}
    while queue:
        value, _, own = heapq.heappop(queue)
        if value >= options.alpha * outcome.after.value * (1 + ROUNDING):
            continue
        for step in steps(own.graph, rules, single=options.single):
            key = tuple(step.graph.outputs.values())
            if key in known or size_of(step.graph) > most:
                continue
            known.add(key)
            outcome.met += 1
            if outcome.priced >= options.graphs:
                outcome.ended = f"{options.graphs} graphs were priced"
                return
            price = _price(outcome, pricer, step, prices, options.alpha)
            if price is None:
                continue
            made = _Met(step.graph, price, (*own.applied, _applied(step, names, own.price, price)))
            if price.value < outcome.after.value * (1 - ROUNDING):
                outcome.after, outcome.graph, outcome.applied = price, made.graph, made.applied
            heapq.heappush(queue, (price.value, next(numbers), made))
            if tell is not None:
                tell(outcome)
    outcome.ended = "no graph is left that is worth following"


def size_of(graph: TensorGraph) -> int:
    """Return how many operators a graph has; what is made of weights alone is computed before it is run."""
    return sum(own not in graph.constants for own in graph.terms)


def _price(
    outcome: Outcome, pricer: Pricer, step: Step, prices: dict[object, Price | None], alpha: float
) -> Price | None:
    """Return the price of a graph if it is worth following; the best so far may become this one."""
    try:
        network = network_of_graph(step.graph)
        key = network_key(network)
        if key not in prices:
            prices[key] = price = pricer.price(network, alpha * outcome.after.value)
            outcome.bounded += price is None
            outcome.priced += price is not None
    except (InputError, NoMappingError, TooManyError) as error:
        why = str(error)
        outcome.unpriced[why] = outcome.unpriced.get(why, 0) + 1
        return None
    return prices[key]


def _applied(step: Step, names: Mapping[Term, str], before: Price, after: Price) -> Applied:
    nodes = tuple(tuple(names.get(term, term.op) for term in place) for place in step.places)
    return Applied(step.rule, nodes, before.value - after.value)
