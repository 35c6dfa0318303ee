"""Prices networks by their plans; what is known of a layer or a part serves all networks that have it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, log

from ...arch import Architecture
from ...energy import EnergyTable
from ...workloads import InputError, Network, Workload
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
    Slope,
    TooManyError,
    bounded_plan,
    one_by_one,
    search_plans,
    unsearched,
)
from ..problem import Charges, WeightedSum
from ..report import Result
from ..report.plans import PARTLY_TRIED
from ..runtime import in_order
from ..search.options import SearchOptions

SLOPES = (0.25, 0.5, 1.0, 2.0, 4.0)  # times that of the best plan: what is proven at these bounds the EDP
STEP = 1.03  # slopes are powers of it, so that what is learnt at one serves networks whose best plans are about there
FEW = 4  # of fewer layers or networks processes take longer to begin than to search
MOST_SLOPES = 4  # at which a plan is sought before its slope is that of the search


class NoMappingError(Exception):
    """A layer of a network has no mapping on the machine."""


UNPRICED = (InputError, NoMappingError, TooManyError)  # why a network has no price


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

    def anew(self) -> "Pricer":
        """Return a pricer on one process that knows the same layers, and no other prices."""
        return replace(self, options=replace(self.options, jobs=1), layers=dict(self.layers), _slope=None)

    def price(self, network: Network, worth: float = inf) -> Price | None:
        """Return the price of a network; None where a bound says that its objective is `worth` or more.

        Raises NoMappingError, TooManyError, and KeyboardInterrupt after Ctrl-C.
        """
        searches = self._searches(network, worth, self._bound)
        return None if searches is None else self._best([self._outcome(own, worth) for own in searches], worth)

    def rough_price(self, network: Network) -> Price:
        """Return the price of a network by a quick search: plan and bound may be farther apart. Raises as `price`."""
        searches = self._searches(network, inf, self._bound)
        assert searches is not None, "everything is worth more than nothing"
        price = self._best([self._rough(own) for own in searches], inf)
        assert price is not None, "each memory has a plan"
        return price

    def price_at(self, slope: Slope, network: Network, worth: float = inf) -> Price | None:
        """Return the price of a network by energy + slope x cycles, not the objective, by a quick search.

        None where a bound says that this is `worth` or more. Raises as `price`.
        """
        searches = self._searches(network, worth, lambda search: search.least(slope))
        if searches is None:
            return None
        value = WeightedSum(slope).value
        prices = []
        for search in searches:
            costs, least = bounded_plan(search, slope)
            prices.append(Price(costs, value(costs.energy_pj, float(costs.cycles)), least))
        best = min(prices, key=lambda own: own.value)
        return replace(best, lower_bound=min(own.lower_bound for own in prices))

    def slope(self, costs: PlanCosts) -> Slope:
        """Return the slope at which what is least about a plan is least by the objective, too."""
        by_energy, by_cycles = self._goal.objective.powers
        if not by_cycles:
            return 0.0
        if not by_energy:
            return None
        own = costs.energy_pj / costs.cycles if costs.cycles else 0.0
        return STEP ** round(log(own, STEP)) if own else 0.0

    def value(self, costs: PlanCosts) -> float:
        """Return the objective of a plan."""
        return self._goal.objective.value(costs.energy_pj, float(costs.cycles))

    @property
    def _goal(self) -> PlanGoal:
        return PlanGoal(self.options.goal.minimised[0])

    def _searches(
        self, network: Network, worth: float, bound: Callable[[PlanSearch], float]
    ) -> list[PlanSearch] | None:
        """Begin a search of plans for each memory, all layers known; None where a bound says `worth` or more."""
        graph, new = Graph.of(network), self._new_layers(network)
        searches = [self._search(graph, keeper) for keeper in self.keepers]

        def ruled_out() -> bool:
            return worth < inf and min(bound(own) for own in searches) >= worth

        if ruled_out():
            return None
        self._explore(new)
        for search in searches:
            search.know({name: self._known(layer) for name, layer in _layers(graph) if name not in search.known})
        return None if new and ruled_out() else searches

    def _best(self, outcomes: Sequence[PlanOutcome | None], worth: float) -> Price | None:
        known = [own for own in outcomes if own is not None]
        if not known:
            return None
        best = known[0].best
        for own in known[1:]:
            best = own.best if self._goal.better(own.best, best) else best
        self._slope = best.energy_pj / best.cycles if best.cycles else None
        bound = min([worth, *(own.lower_bound for own in known)])  # plans with other keepers are worth no less
        return Price(best, self.value(best), bound, tuple(dict.fromkeys(rule for own in known for rule in _tried(own))))

    def _outcome(self, search: PlanSearch, worth: float) -> PlanOutcome | None:
        """Search the plans with one keeper; None where none of them is worth it."""
        alone = self._alone(search)
        if unsearched(search, alone, self._goal).lower_bound >= worth:
            return None
        outcome = search_plans(search, alone, self._goal)
        if outcome.statistics.interrupted:
            raise KeyboardInterrupt
        return outcome

    def _rough(self, search: PlanSearch) -> PlanOutcome:
        """Bound the plans with one keeper at about the slope of the best of them."""
        best, known = self._alone(search), list[Slope]()
        if self._slope is not None:  # little is new: processes would take longer to begin
            search.options = replace(search.options, jobs=1)
        while len(known) < MOST_SLOPES and (slope := self.slope(best)) not in known:
            costs, _ = bounded_plan(search, slope)
            best = costs if self._goal.better(costs, best) else best
            known.append(slope)
        return unsearched(search, best, self._goal)

    def _alone(self, search: PlanSearch) -> PlanCosts:
        """The plan of layers one by one."""
        return one_by_one(search.graph, search.machine, {name: own.mapped[0] for name, own in search.known.items()})

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

    def _explore(self, layers: Sequence[Workload]) -> None:
        """Search the best mappings of layers alone. Raises NoMappingError."""
        jobs = self.options.jobs if len(layers) >= FEW else 1
        for layer, result in zip(layers, in_order(_explored, self.anew(), layers, jobs, 1), strict=True):
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


def _explored(pricer: Pricer, layer: Workload) -> Result:
    """Search the best mapping of a layer alone."""
    result = explore(pricer.arch, layer, pricer.mapspace, pricer.options, table=pricer.energies, costs=pricer.charges)
    assert isinstance(result, Result), "it is of one layer"
    return result


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
