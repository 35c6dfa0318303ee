"""Prices networks by their plans; what is known of a layer or a part serves all networks that have it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf

from ...arch import Architecture
from ...energy import EnergyTable
from ...workloads import Network, Workload
from ..bounds.sums import Envelope, LeastSum, Limits
from ..exploration import explore
from ..mapspace import Preset
from ..networks import Graph, PlanCosts
from ..plan_search import (
    MOST_STAGES,
    KnownLayer,
    Machine,
    PlanGoal,
    PlanOutcome,
    PlanSearch,
    Prices,
    one_by_one,
    search_plans,
    unsearched,
)
from ..problem import Charges
from ..report import Result
from ..report.plans import PARTLY_TRIED
from ..search.options import SearchOptions

SLOPES = (0.25, 0.5, 1.0, 2.0, 4.0)  # times that of the best plan: what is proven at these bounds the EDP


class NoMappingError(Exception):
    """A layer of a network has no mapping on the machine."""


@dataclass(frozen=True, eq=False)
class Price:
    """The best known plan of a network, its objective, and what no plan of it is below, of those that are tried."""

    costs: PlanCosts
    value: float
    lower_bound: float
    tried: tuple[str, ...] = ()  # what was tried of plans, where not all were: the bound is of these

    @property
    def edp(self) -> float:
        """Energy x cycles, pJ x cycles."""
        return self.costs.energy_pj * self.costs.cycles


@dataclass(eq=False)
class Pricer:
    """Prices networks on one machine."""

    arch: Architecture
    energies: EnergyTable
    charges: Charges
    mapspace: Preset
    options: SearchOptions
    keepers: Sequence[str]  # memories in which tensors may stay
    fused: bool = True  # whether layers may be fused
    in_turn: bool = True  # whether only parts in the order of the network are tried: there are far fewer states
    layers: dict[Workload, Result] = field(default_factory=dict)  # without names
    _slope: float | None = None  # of the best plan that was met last

    @cached_property
    def _prices(self) -> Mapping[str, Prices]:
        machines = [Machine(self.arch, self.energies, self.charges, keeper) for keeper in self.keepers]
        return {machine.keeper: Prices(machine) for machine in machines}

    @property
    def _goal(self) -> PlanGoal:
        return PlanGoal(self.options.goal.minimised[0])

    def price(self, network: Network, worth: float = inf) -> Price | None:
        """Return the price of a network; None where a bound says that its objective is `worth` or more.

        Raises NoMappingError, TooManyError, and KeyboardInterrupt after Ctrl-C.
        """
        graph = Graph.of(network)
        searches = [self._search(graph, keeper) for keeper in self.keepers]
        if min(self._bound(own) for own in searches) >= worth:
            return None
        for layer in self._new_layers(network):
            self._explore(layer)
        for search in searches:
            search.know({name: self._known(layer) for name, layer in _layers(graph) if name not in search.known})
        return self._best([self._outcome(own, worth) for own in searches], worth)

    def _best(self, outcomes: Sequence[PlanOutcome | None], worth: float) -> Price | None:
        known = [own for own in outcomes if own is not None]
        if not known:
            return None
        best = known[0].best
        for own in known[1:]:
            best = own.best if self._goal.better(own.best, best) else best
        self._slope = best.energy_pj / best.cycles if best.cycles else None
        value = self._goal.objective.value(best.energy_pj, float(best.cycles))
        bound = min([worth, *(own.lower_bound for own in known)])  # plans with other keepers are worth no less
        return Price(best, value, bound, tuple(dict.fromkeys(rule for own in known for rule in _tried(own))))

    def _outcome(self, search: PlanSearch, worth: float) -> PlanOutcome | None:
        """Search the plans with one keeper; None where none of them is worth it."""
        mapped = {name: own.mapped[0] for name, own in search.known.items()}
        alone = one_by_one(search.graph, search.machine, mapped)
        first = unsearched(search, alone, self._goal)
        if first.lower_bound >= worth:
            return None
        outcome = search_plans(search, alone, self._goal)
        if outcome.statistics.interrupted:
            raise KeyboardInterrupt
        return outcome

    def _search(self, graph: Graph, keeper: str) -> PlanSearch:
        """Begin a search of plans with all that is known."""
        known = {name: self._known(layer) for name, layer in _layers(graph) if nameless(layer) in self.layers}
        options = replace(self.options, effort=self.options.effort or "normal", front="")
        most = MOST_STAGES if self.fused else 1
        machine = self._prices[keeper].machine
        return PlanSearch(
            graph,
            machine,
            self.mapspace,
            known,
            most,
            options=options,
            in_turn=self.in_turn,
            shared=self._prices[keeper],
        )

    def _bound(self, search: PlanSearch) -> float:
        """Bound the objective of all plans by what is known before anything of this network is searched."""
        slopes = [] if self._slope is None else [self._slope * factor for factor in SLOPES]
        sums = tuple(LeastSum(slope, search.least(slope)) for slope in slopes)
        envelope = Envelope(search.least(0.0), search.least(None), sums)
        return envelope.least(self._goal.objective, Limits()).value

    def _new_layers(self, network: Network) -> list[Workload]:
        """Return the layers that were not met, each once."""
        every = dict.fromkeys(nameless(layer) for layer, _ in network.layers)
        return [layer for layer in every if layer not in self.layers]

    def _explore(self, layer: Workload) -> None:
        """Search the best mapping of a layer alone. Raises NoMappingError."""
        result = explore(self.arch, layer, self.mapspace, self.options, table=self.energies, costs=self.charges)
        assert isinstance(result, Result), "it is of one layer"
        if result.mapped is None:
            raise NoMappingError(f"{layer.title} has no mapping on {self.arch.name}: {result.hint}")
        if result.statistics.interrupted:
            raise KeyboardInterrupt
        self.layers[layer] = result

    def _known(self, layer: Workload) -> KnownLayer:
        """Return what is known of a layer alone."""
        result = self.layers[nameless(layer)]
        assert result.mapped is not None, "it has a mapping"
        return KnownLayer.of(result.needs(1), result.mapped.named(layer.name))


def _tried(outcome: PlanOutcome) -> Iterator[str]:
    """Yield what the plans that were tried have in common."""
    if outcome.most_held is not None:
        yield f"at most {outcome.most_held} tensors in the memory between parts"
    if outcome.in_turn:
        yield "parts in the order of the network"
    if outcome.groups:
        yield PARTLY_TRIED


def nameless(layer: Workload) -> Workload:
    """Return a layer without its name: equal ones are searched once."""
    return replace(layer, name="layer")


def _layers(graph: Graph) -> Iterator[tuple[str, Workload]]:
    for name, node in graph.nodes.items():
        if node.layer is not None:
            yield name, node.layer
