"""Searches the best network that rules reach: of a small one among all its graphs, of a large one region by region."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise

from ..problem import EFFORTS, ROUNDING
from ..rewrites import Rules, TensorGraph, Term
from ..runtime import Workers
from .names import node_names
from .networks import network_of_graph
from .pricer import UNPRICED, Price, Pricer
from .queue import INTERRUPTED, Queue, Reached, RewriteOptions, Seen
from .region_search import RegionRequest, RegionResult, RegionStudy, search_region
from .regions import Alike, Cuts, classes_of

QUICK = EFFORTS["quick"].steps or 0


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
    seen: Seen = field(default_factory=Seen)
    regions: int = 1  # different ones, that were searched by themselves


Tell = Callable[[Outcome], None]


def search_rewrites(
    graph: TensorGraph, pricer: Pricer, rules: Rules, options: RewriteOptions | None = None, tell: Tell | None = None
) -> Outcome:
    """Search the best graph that rules reach from a network. Ctrl-C leaves the best so far.

    Raises InputError, NoMappingError or TooManyError where the network itself has no price.
    """
    options, cuts = options or RewriteOptions(), Cuts(graph)
    if len(cuts.regions) == 1:
        return _as_a_whole(graph, pricer, rules, options, tell)
    search = _ByRegion(cuts, pricer, rules, options, tell)
    try:
        search.run()
    except KeyboardInterrupt:
        search.outcome.seen.ended = INTERRUPTED
    return search.outcome


def _as_a_whole(
    graph: TensorGraph, pricer: Pricer, rules: Rules, options: RewriteOptions, tell: Tell | None
) -> Outcome:
    """Price every graph that is followed by a search of its plans."""
    before = pricer.price(network_of_graph(graph))
    assert before is not None, "everything is worth more than nothing"
    outcome, names = Outcome(before, before, graph), node_names(graph)

    def note(queue: Queue) -> None:
        best = queue.best
        outcome.after, outcome.graph, outcome.seen = best.price, best.graph, queue.seen
        prices = [before, *(price for _, price in best.steps)]
        outcome.applied = tuple(
            Applied(step.rule, _nodes(names, step.places), one.value - other.value)
            for (step, _), (one, other) in zip(best.steps, pairwise(prices), strict=True)
        )
        if tell is not None:
            tell(outcome)

    queue = Queue(Reached(graph, before), pricer.price, rules, options, note)
    queue.follow()
    note(queue)
    return outcome


class _ByRegion:
    """A search region by region; equal regions are searched once, and rewritten alike.

    A region is priced with its neighbours at the slope of the whole network, quickly. Each of its rewrites is then
    priced in the whole; in the end, with more effort, the plans of the network before and after are searched further.
    """

    def __init__(self, cuts: Cuts, pricer: Pricer, rules: Rules, options: RewriteOptions, tell: Tell | None) -> None:
        self.cuts, self.pricer, self.tell = cuts, pricer, tell
        self.network = network_of_graph(cuts.graph)
        before = pricer.rough_price(self.network)
        self.outcome = Outcome(before, before, cuts.graph)
        self.graphs = [region.graph for region in cuts.regions]
        self.classes = classes_of(cuts.regions)
        self.outcome.regions = len(self.classes)
        self.study = RegionStudy(pricer.anew(), pricer.slope(before.costs), rules, options)

    def run(self) -> None:
        """Search. Raises KeyboardInterrupt after Ctrl-C."""
        regions, firsts = self.cuts.regions, [own.first for own in self.classes]
        pairs = ((regions[first].graph, self.cuts.neighbours(first)) for first in firsts)
        requests = [RegionRequest.of(number, *pair) for number, pair in enumerate(pairs)]
        workers = Workers(search_region, self.study, self.pricer.options.jobs)
        ends = list[str]()
        try:
            for result in workers.in_order(requests, 1, None):
                ends += [result.seen.ended] * bool(result.seen.ended)
                self._take(self.classes[result.number], result)
        finally:
            workers.close()
        if (self.pricer.options.limits.steps or QUICK + 1) > QUICK:
            self._search_further()
        self.outcome.seen.ended = _ended(ends)

    def _take(self, own: Alike, result: RegionResult) -> None:
        """Use the steps of a region as far as they make the whole network better."""
        outcome, best = self.outcome, 0
        outcome.seen.add(result.seen)
        states = [(outcome.after, outcome.graph, self.graphs)]
        for outputs in result.graphs:
            graphs = self._with(own, outputs)
            graph = self.cuts.put_together(graphs)
            try:
                price = self.pricer.rough_price(network_of_graph(graph))
            except UNPRICED as error:
                outcome.seen.unpriced[str(error)] += 1
                break
            states.append((price, graph, graphs))
            outcome.seen.priced += 1
            if price.value < states[best][0].value * (1 - ROUNDING):
                best = len(states) - 1
        if best:
            outcome.after, outcome.graph, self.graphs = states[best]
            prices = [price for price, _, _ in states[: best + 1]]
            outcome.applied += tuple(self._applied(own, result, prices))
        if self.tell is not None:
            self.tell(outcome)

    def _with(self, own: Alike, outputs: Sequence[Term]) -> list[TensorGraph]:
        """The graphs of all regions, those of a class with what the first of it makes now."""
        graphs = [*self.graphs]
        for number, rename in own.members:
            region = self.cuts.regions[number].graph
            graphs[number] = region.with_outputs(dict(zip(region.outputs, map(rename, outputs), strict=True)))
        return graphs

    def _applied(self, own: Alike, result: RegionResult, prices: Sequence[Price]) -> Iterator[Applied]:
        """Yield the steps between prices, with the nodes of all regions of a class."""
        names = [(rename, node_names(self.cuts.regions[number].graph)) for number, rename in own.members]
        for (rule, places), (one, other) in zip(result.steps, pairwise(prices), strict=False):
            nodes = [_nodes(known, [map(rename, place) for place in places]) for rename, known in names]
            yield Applied(rule, tuple(chain.from_iterable(nodes)), one.value - other.value)

    def _search_further(self) -> None:
        """Search the plans of both networks with all effort; where the rewritten one is no better then it is left."""
        outcome = self.outcome
        before = self.pricer.price(self.network)
        assert before is not None, "everything is worth more than nothing"
        after = self.pricer.price(network_of_graph(outcome.graph)) if outcome.applied else before
        assert after is not None, "everything is worth more than nothing"
        if after.value >= before.value * (1 - ROUNDING):
            outcome.graph, outcome.applied, after = self.cuts.graph, (), before
        outcome.before, outcome.after = before, after


def _nodes(names: Mapping[Term, str], places: Iterable[Iterable[Term]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(names.get(term, term.op) for term in place) for place in places)


def _ended(ends: list[str]) -> str:
    """Say why searches of regions ended."""
    different = dict.fromkeys(ends)
    every = (f"{end} in {ends.count(end)} of {len(ends)} regions" for end in different)
    return "; ".join(every) or "no region has a price of its own"
